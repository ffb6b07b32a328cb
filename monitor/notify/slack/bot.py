"""Keeps one message an incident true, by the Web API: what is to be said, and when; `deeds` does it."""

from collections.abc import Sequence

from monitor.dispatch.notification import Notification
from monitor.model.instant import Instant
from monitor.notify.interactive.nudge import nudged
from monitor.notify.slack.channel import Channel
from monitor.notify.slack.deeds import Deeds
from monitor.notify.slack.digest import Digests
from monitor.notify.slack.drafts import Drafts
from monitor.notify.slack.graph import BotGraphs
from monitor.notify.slack.incident import Incident, Policy, advance, owing
from monitor.notify.slack.incidents import RETENTION
from monitor.notify.slack.readiness import Readiness
from monitor.notify.slack.workspace import Workspace


class SlackBot:
    """The integration `name`: a channel, written to by a bot."""

    def __init__(
        self,
        name: str,
        channel: Channel,
        workspace: Workspace,
        policy: Policy | None = None,
        graphs: BotGraphs | None = None,
    ) -> None:
        self._name = name
        self._workspace = workspace
        self._incidents = workspace.incidents
        self._policy = policy or Policy()
        self._digests = Digests(name, workspace.incidents, self._policy)
        self._readiness = Readiness(name, channel.name, workspace, self._policy, self._digests)
        self._deeds = Deeds(channel, workspace, self._digests, Drafts(name, workspace, self._policy), graphs)

    def notify(self, notification: Notification) -> None:
        """Bring the message of the incident, and its thread, to what the notification says; raises NotifyError."""
        self.notify_among(notification, ())

    def notify_among(self, notification: Notification, waiting: Sequence[Notification]) -> bool:
        """
        The same; of many that wait, one message tells.

        Returns whether all is said; else there is more to say of it, when it is ready.
        """
        answered = nudged(notification)
        if answered is not None:
            self._deeds.settle((self._name, answered))
            return True
        if self._digests.needs_no_refresh(notification):
            return True
        key = (self._name, notification.group_key)
        together = self._digests.together(notification, [one for one in waiting if nudged(one) is None])
        if together:
            self._incidents.expire(notification.now - RETENTION)
            self._deeds.settle(self._digests.take(together))
        else:
            incident = self._incidents.change(key, lambda incident: self._heard(incident, notification))
            if incident.digest:
                self._deeds.settle((self._name, incident.digest))
            if not self._digests.tells_enough(incident, self._workspace.now()):
                self._deeds.settle(key)
        # One that failed may have lost the letter that would have tried again.
        for digest in self._digests.owing():
            if self._readiness.look_at(self._incidents.get(digest)) <= self._workspace.now():
                self._deeds.settle(digest)
        told = self._incidents.get(key)
        return told is None or not told.owed

    def has_told(self, notification: Notification) -> bool:
        """Say whether its message, or the digest in which it was told, stands."""
        incident = self._incidents.get((self._name, notification.group_key))
        if incident is None or incident.told.id != notification.id:
            return False
        digest = self._digests.of(incident)
        return incident.stands or (digest is not None and digest.stands and not digest.owed)

    def has_overtaken(self, notification: Notification) -> bool:
        """Say whether its incident was told something newer; one that is forgotten was."""
        if nudged(notification) is not None:
            return False
        incident = self._incidents.get((self._name, notification.group_key))
        return incident is None or incident.told.id != notification.id

    def ready_at(self, notification: Notification) -> Instant:
        """Return when Slack wants to hear of it: budgets allow it, and the message has not just been edited."""
        return self._readiness.ready_at(notification)

    def _heard(self, incident: Incident | None, told: Notification) -> Incident:
        if incident is not None and told.id and incident.told.id == told.id:
            return incident
        self._incidents.expire(told.now - RETENTION)
        return owing(*advance(self._name, incident, told, self._policy))
