"""When the bot may tell what it has to tell: budgets allow it, and a reader has had the time to read."""

from monitor.dispatch.notification import Notification, Reason
from monitor.model.instant import Instant
from monitor.notify.interactive.nudge import nudged
from monitor.notify.slack.digest import Digests
from monitor.notify.slack.incident import FLAPS, Incident, Policy, UpdateRoot, advance
from monitor.notify.slack.pace import EDITS_APART, LOOKS, POST, REFRESHES_APART, UPDATE
from monitor.notify.slack.workspace import Workspace


class Readiness:
    """Of the bot `name` in the channel `channel`."""

    def __init__(self, name: str, channel: str, workspace: Workspace, policy: Policy, digests: Digests) -> None:
        self._name = name
        self._channel = channel
        self._workspace = workspace
        self._policy = policy
        self._digests = digests

    def ready_at(self, notification: Notification) -> Instant:
        """Return when Slack wants to hear of it: budgets allow it, and the message has not just been edited."""
        incidents, pace = self._workspace.incidents, self._workspace.pace
        post_at = pace.free_at(POST, self._channel)
        answered = nudged(notification)
        if answered is not None:
            return max(post_at, pace.free_at(UPDATE), self.look_at(incidents.get((self._name, answered))))
        incident = incidents.get((self._name, notification.group_key))
        if incident is None or self._digests.is_new(notification):
            digest = self._digests.fresh(notification.now)
            return post_at if digest is None else max(post_at, self._edit_at(digest))
        return self._ready_at(incident, notification, post_at)

    def look_at(self, incident: Incident | None) -> Instant:
        """Return when it may be looked for what may have been posted."""
        if incident is None or not incident.doubtful:
            return 0
        return max(self._workspace.pace.free_at(method) for method in LOOKS)

    def _ready_at(self, incident: Incident, notification: Notification, post_at: Instant) -> Instant:
        digest = self._digests.of(incident)
        if digest is not None and (digest.owed or incident.told.id != notification.id):
            needless = self._digests.needs_no_refresh(notification)
            return 0 if needless else max(post_at, self._edit_at(digest))
        if digest is not None and not incident.owed:
            return 0
        if self._only_edits(incident, notification):
            post_at = 0
        ready_at = max(post_at, self._edit_at(incident), self._digests.told_alone_at(incident))
        if notification.is_resolved and incident.is_open and incident.episodes >= FLAPS:
            # It will fire again, as it did before; that it is over is said when it has been over for a while.
            ready_at = max(ready_at, notification.now + self._policy.flap_hold)
        if notification.reason is Reason.REFRESH and incident.edited_at is not None:
            return max(ready_at, incident.edited_at + REFRESHES_APART)
        return ready_at

    def _only_edits(self, incident: Incident, told: Notification) -> bool:
        """Say whether it takes no post to tell it, while nothing may be posted: an edit need not wait for that."""
        if not incident.stands or self._workspace.pace.held_until(POST) <= told.now:
            return False
        actions = [] if incident.told.id == told.id else advance(self._name, incident, told, self._policy)[1]
        return all(isinstance(action, UpdateRoot) for action in (*incident.owed, *actions))

    def _edit_at(self, incident: Incident) -> Instant:
        if not incident.stands:
            return self.look_at(incident)
        edit_at = max(self._workspace.pace.free_at(UPDATE), (incident.edited_at or -EDITS_APART) + EDITS_APART)
        return max(edit_at, self.look_at(incident))
