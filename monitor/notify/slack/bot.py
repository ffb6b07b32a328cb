"""Keeps one message an incident true, by the Web API: does what `incident` decides, and remembers how far it came."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from monitor.dispatch.notification import Notification, NotifyError, Reason
from monitor.model.instant import Instant
from monitor.notify.interactive.buttons import buttons_of, with_buttons
from monitor.notify.interactive.nudge import nudged
from monitor.notify.slack.channel import Channel, Place
from monitor.notify.slack.classify import RefusedError
from monitor.notify.slack.degrade import post
from monitor.notify.slack.digest import Digests, assembled, is_digest
from monitor.notify.slack.drawing import changed_before, drawn, whole_list
from monitor.notify.slack.graph import BotGraphs
from monitor.notify.slack.incident import (
    Action,
    Incident,
    Key,
    Policy,
    PostRoot,
    Reply,
    UpdateRoot,
    advance,
    owing,
)
from monitor.notify.slack.incidents import RETENTION
from monitor.notify.slack.mention import rings_for, with_mention
from monitor.notify.slack.pace import EDITS_APART, FLAPS, HOLD_DOWN, LOOK_AFTER, LOOKS, POST, REFRESHES_APART, UPDATE
from monitor.notify.slack.payload import Message
from monitor.notify.slack.workspace import Workspace

log = logging.getLogger(__name__)

T = TypeVar("T")

# The message is gone, or may not be edited any more: another one takes its place.
_UNEDITABLE = frozenset(
    ("message_not_found", "cant_update_message", "edit_window_closed", "is_inactive", "block_mismatch")
)
_GONE = "message_not_found"
# There is no thread to reply in: the next edit finds out why.
_UNREPLIABLE = frozenset(("thread_not_found", "cannot_reply_to_message", "restricted_action_thread_locked"))


class SlackBot:
    """
    The integration `name`: a channel, written to by a bot.

    What is begun is noted before each post, what is done after it, so that a kill between any two steps neither doubles
    a message nor loses one.
    """

    def __init__(
        self,
        name: str,
        channel: Channel,
        workspace: Workspace,
        policy: Policy | None = None,
        graphs: BotGraphs | None = None,
    ) -> None:
        self._name = name
        self._channel = channel
        self._workspace = workspace
        self._incidents = workspace.incidents
        self._policy = policy or Policy()
        self._graphs = graphs
        self._digests = Digests(name, workspace.incidents, self._policy)
        self._has_simplified = False

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
            self._settle((self._name, answered))
            return True
        if self._digests.needs_no_refresh(notification):
            return True
        key = (self._name, notification.group_key)
        together = self._digests.together(notification, [one for one in waiting if nudged(one) is None])
        if together:
            self._incidents.expire(notification.now - RETENTION)
            self._settle(self._digests.take(together))
        else:
            incident = self._incidents.change(key, lambda incident: self._heard(incident, notification))
            if incident.digest:
                self._settle((self._name, incident.digest))
            if not self._digests.tells_enough(incident, self._workspace.now()):
                self._settle(key)
        # One that failed may have lost the letter that would have tried again.
        for digest in self._digests.owing():
            if self._look_at(self._incidents.get(digest)) <= self._workspace.now():
                self._settle(digest)
        told = self._incidents.get(key)
        return told is None or not told.owed

    def has_told(self, notification: Notification) -> bool:
        """Say whether its message, or the digest in which it was told, stands."""
        incident = self._incidents.get((self._name, notification.group_key))
        if incident is None or incident.told.id != notification.id:
            return False
        digest = self._digests.of(incident)
        return incident.stands or (digest is not None and digest.stands and not digest.owed)

    def ready_at(self, notification: Notification) -> Instant:
        """Return when Slack wants to hear of it: budgets allow it, and the message has not just been edited."""
        incident = self._incidents.get((self._name, notification.group_key))
        pace = self._workspace.pace
        post_at = pace.free_at(POST, self._channel.name)
        if nudged(notification) is not None:
            return max(post_at, pace.free_at(UPDATE))
        if incident is None or self._digests.is_new(notification):
            digest = self._digests.fresh(notification.now)
            return post_at if digest is None else max(post_at, self._edit_at(digest))
        return self._ready_at(incident, notification, post_at)

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
            ready_at = max(ready_at, notification.now + HOLD_DOWN)
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
            return self._look_at(incident)
        edit_at = max(self._workspace.pace.free_at(UPDATE), (incident.edited_at or -EDITS_APART) + EDITS_APART)
        return max(edit_at, self._look_at(incident))

    def _look_at(self, incident: Incident | None) -> Instant:
        """Return when it may be looked for what may have been posted."""
        if incident is None or not incident.doubtful:
            return 0
        return max(self._workspace.pace.free_at(method) for method in LOOKS)

    def _heard(self, incident: Incident | None, told: Notification) -> Incident:
        if incident is not None and told.id and incident.told.id == told.id:
            return incident
        self._incidents.expire(told.now - RETENTION)
        return owing(*advance(self._name, incident, told, self._policy))

    def _settle(self, key: Key) -> None:
        """Do what the incident owes, one after the other."""
        while (incident := self._incidents.get(key)) is not None and incident.owed:
            action = incident.owed[0]
            if isinstance(action, PostRoot):
                self._post_root(incident)
                self._graph(key)
            elif isinstance(action, UpdateRoot):
                self._update_root(incident)
            else:
                self._reply(incident, action)

    def _graph(self, key: Key) -> None:
        incident = self._incidents.get(key)
        if self._graphs is not None and incident is not None and incident.stands:
            self._graphs.opened(incident)

    def _post_root(self, incident: Incident) -> None:
        thread = self._thread(incident)
        found = self._look(thread, incident.stamp) if incident.doubtful else None
        rest = _rest_of(incident)
        if found is not None:
            # It says what was true when it was posted; what came to be owed since has not been heard.
            self._change(
                incident, lambda one: replace(_at(one, found), owed=(*_owing_first(UpdateRoot(), one.owed), *rest))
            )
            return
        thread_ts = thread.ts if thread is not None else ""
        post_it = partial(self._channel.post, stamp=incident.stamp, thread_ts=thread_ts)
        place = self._try(incident, lambda: self._draw(incident, post_it))
        now = self._workspace.now()
        # What is owed since has yet to be said, by whoever owes it; a digest shows the worst alone.
        said = [PostRoot()] if is_digest(incident) else incident.owed
        self._change(
            incident, lambda one: replace(_at(one, place), edited_at=now, owed=(*_without(said, one.owed), *rest))
        )

    def _look(self, thread: Place | None, stamp: str) -> Place | None:
        return self._channel.find(stamp) if thread is None else self._channel.find_reply(thread, stamp)

    def _thread(self, incident: Incident) -> Place | None:
        """Return the message in whose thread the incident's own stands: that of a digest."""
        digest = self._digests.of(incident)
        return _place(digest) if digest is not None and digest.stands else None

    def _update_root(self, incident: Incident) -> None:
        try:
            self._edit(incident)
        except RefusedError as err:
            if err.code not in _UNEDITABLE:
                raise
            log.warning("a message cannot be edited any more, another one takes its place", extra={"reason": err.code})
            earlier = "" if err.code == _GONE else self._channel.permalink(_place(incident))
            gone = Place(incident.channel, "")
            self._change(
                incident,
                lambda one: replace(
                    _at(one, gone), roots=one.roots + 1, earlier=earlier, owed=_owing_first(PostRoot(), one.owed)
                ),
            )

    def _edit(self, incident: Incident) -> None:
        """Draw the message, and again when somebody else, who draws it as well, has changed the incident meanwhile."""
        before: Incident | None = None
        while before is None or not _look_alike(before, incident):
            before = incident
            self._draw(incident, partial(self._channel.update, _place(incident)))
            incident = self._change(incident, partial(_edited, now=self._workspace.now()))

    def _reply(self, incident: Incident, reply: Reply) -> None:
        root = self._thread(incident) or _place(incident)
        try:
            if not incident.doubtful or self._channel.find_reply(root, reply.id) is None:
                # An edit rings for nobody: what the channel must hear of rings here.
                mention = rings_for(incident, self._policy.mention) if reply.broadcast else ""
                mention = "" if mention in reply.text else mention
                message = with_mention(Message(reply.text, [], []), mention)
                self._try(
                    incident,
                    lambda: self._channel.post(message, reply.id, thread_ts=root.ts, broadcast=reply.broadcast),
                )
        except NotifyError as err:
            lost = isinstance(err, RefusedError) and err.code in _UNREPLIABLE
            if not lost and not err.hopeless:
                raise
            log.warning("a reply is left out", extra={"reason": str(err)})
        self._change(incident, lambda one: replace(one, owed=_without([reply], one.owed), doubtful=False))

    def _draw(self, incident: Incident, send: Callable[[Message], T]) -> T:
        if is_digest(incident):
            incident = assembled(incident, self._incidents.members(self._name, incident.group_key))
        buttons = buttons_of(incident) if self._policy.has_buttons else None
        external_url = None if self._policy.has_buttons else self._policy.external_url
        summary, notes = drawn(incident, self._workspace.facts, external_url)
        if incident.is_open and not is_digest(incident):
            notes = (*notes, *filter(None, (changed_before(incident, self._workspace.changes),)))
        mention = rings_for(incident, self._policy.mention)

        def whole(message: Message) -> Message:
            return with_buttons(with_mention(message, mention), buttons)

        return post(summary, notes, lambda message: send(whole(message)), self._simplified)

    def _simplified(self, error: NotifyError) -> None:
        self._workspace.refused(self._name)
        # Once, not for every message: the counter has the rest.
        level = logging.DEBUG if self._has_simplified else logging.WARNING
        self._has_simplified = True
        log.log(level, "messages are simplified: %s", error, extra={"integration": self._name})

    def _try(self, incident: Incident, send: Callable[[], Place]) -> Place:
        """Note that a post begins, and unless it may have come about, that it came to nothing."""
        self._note(incident, doubtful=True)
        try:
            return send()
        except NotifyError as err:
            if not err.doubtful:
                self._note(incident, doubtful=False)
            else:
                for method in LOOKS:
                    self._workspace.pace.hold(method, self._workspace.now() + LOOK_AFTER)
            raise

    def _note(self, incident: Incident, **progress: Any) -> Incident:
        """Keep how far it came."""
        return self._change(incident, lambda one: replace(one, **progress))

    def _change(self, incident: Incident, how: Callable[[Incident], Incident]) -> Incident:
        # Whatever somebody else changed of it meanwhile stays.
        return self._incidents.change(incident.key, lambda one: how(one or incident))


def _rest_of(incident: Incident) -> tuple[Reply, ...]:
    """Return what the first message of an incident has no room for, for its thread."""
    text = whole_list(incident) if not incident.roots and not is_digest(incident) else ""
    return (Reply(f"{incident.id}/list", text),) if text else ()


def _place(incident: Incident) -> Place:
    return Place(incident.channel, incident.ts)


def _at(incident: Incident, place: Place) -> Incident:
    return replace(incident, channel=place.channel, ts=place.ts, doubtful=False)


def _without(done: Sequence[Action], owed: Sequence[Action]) -> tuple[Action, ...]:
    return tuple(action for action in owed if action not in done)


def _owing_first(root: Action, owed: Sequence[Action]) -> tuple[Action, ...]:
    return (root, *(action for action in owed if isinstance(action, Reply)))


def _edited(incident: Incident, now: Instant) -> Incident:
    return replace(incident, edited_at=now, owed=_without([UpdateRoot()], incident.owed))


def _look_alike(one: Incident, other: Incident) -> bool:
    """Say whether both are drawn in the same way."""
    return replace(one, edited_at=None, owed=(), doubtful=False) == replace(
        other, edited_at=None, owed=(), doubtful=False
    )
