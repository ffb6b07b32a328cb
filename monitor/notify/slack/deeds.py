"""
Does what an incident owes its channel, one thing after the other, and notes how far it came.

What is begun is noted before each post, what is done after it, so that a kill between any two steps neither doubles a
message nor loses one.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from monitor.dispatch.notification import NotifyError
from monitor.model.instant import Instant
from monitor.notify.slack.channel import Channel, Place
from monitor.notify.slack.classify import RefusedError
from monitor.notify.slack.digest import Digests, is_digest
from monitor.notify.slack.drafts import Drafts
from monitor.notify.slack.drawing import whole_list
from monitor.notify.slack.graph import BotGraphs
from monitor.notify.slack.incident import Action, Incident, Key, PostRoot, Reply, UpdateRoot
from monitor.notify.slack.workspace import Workspace

log = logging.getLogger(__name__)

# The message is gone, or may not be edited any more: another one takes its place.
_UNEDITABLE = frozenset(
    ("message_not_found", "cant_update_message", "edit_window_closed", "is_inactive", "block_mismatch")
)
_GONE = "message_not_found"
# There is no thread to reply in: the next edit finds out why.
_UNREPLIABLE = frozenset(("thread_not_found", "cannot_reply_to_message", "restricted_action_thread_locked"))


class Deeds:
    """Of one bot, in `channel`."""

    def __init__(
        self, channel: Channel, workspace: Workspace, digests: Digests, drafts: Drafts, graphs: BotGraphs | None
    ) -> None:
        self._channel = channel
        self._workspace = workspace
        self._incidents = workspace.incidents
        self._digests = digests
        self._drafts = drafts
        self._graphs = graphs

    def settle(self, key: Key) -> None:
        """Do what the incident owes; raises NotifyError, and what is not done by then is still owed."""
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
        place = self._try(incident, lambda: self._drafts.send(incident, post_it))
        now = self._workspace.now()
        # What is owed since has yet to be said, by whoever owes it; a digest shows the worst alone.
        said = [PostRoot()] if is_digest(incident) else _without(incident.calls, incident.owed)
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
            self._drafts.send(incident, partial(self._channel.update, _place(incident)))
            incident = self._change(incident, partial(_edited, now=self._workspace.now()))

    def _reply(self, incident: Incident, reply: Reply) -> None:
        root = self._thread(incident) or _place(incident)
        try:
            if not incident.doubtful or self._channel.find_reply(root, reply.id) is None:
                message = self._drafts.reply(incident, reply)
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

    def _try(self, incident: Incident, send: Callable[[], Place]) -> Place:
        """Note that a post begins, and unless it may have come about, that it came to nothing."""
        self._note(incident, doubtful=True)
        try:
            return send()
        except NotifyError as err:
            if not err.doubtful:
                self._note(incident, doubtful=False)
            else:
                self._workspace.pace.doubt(self._workspace.now())
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

    def shown(incident: Incident) -> Incident:
        # The peak is shown in its words; its number may be NaN, which from Python 3.13 on makes nothing alike.
        return replace(incident, edited_at=None, owed=(), doubtful=False, peak_value=0.0)

    return shown(one) == shown(other)
