"""The message of an incident as it is sent: drawn, with buttons and mention, and simpler where that is refused."""

import logging
from collections.abc import Callable
from typing import TypeVar

from monitor.dispatch.notification import NotifyError
from monitor.notify.interactive.buttons import buttons_of, with_buttons
from monitor.notify.slack.degrade import post
from monitor.notify.slack.digest import assembled, is_digest
from monitor.notify.slack.drawing import changed_before, drawn
from monitor.notify.slack.incident import Incident, Policy, Reply
from monitor.notify.slack.mention import rings_for, with_mention
from monitor.notify.slack.payload import Message
from monitor.notify.slack.workspace import Workspace

log = logging.getLogger(__name__)

T = TypeVar("T")


class Drafts:
    """Of the bot `name`."""

    def __init__(self, name: str, workspace: Workspace, policy: Policy) -> None:
        self._name = name
        self._workspace = workspace
        self._policy = policy
        self._has_simplified = False

    def send(self, incident: Incident, send: Callable[[Message], T]) -> T:
        """Return what `send` returned for the message; both raise NotifyError."""
        if is_digest(incident):
            incident = assembled(incident, self._workspace.incidents.members(self._name, incident.group_key))
        buttons = buttons_of(incident) if self._policy.has_buttons else None
        external_url = None if self._policy.has_buttons else self._policy.external_url
        summary, notes = drawn(incident, self._workspace.facts, external_url)
        if incident.is_open and not is_digest(incident):
            notes = (
                *notes,
                *filter(None, (changed_before(incident.told, incident.opened_at, self._workspace.changes),)),
            )
        mention = rings_for(incident, self._policy.mention)

        def whole(message: Message) -> Message:
            return with_buttons(with_mention(message, mention), buttons)

        return post(summary, notes, lambda message: send(whole(message)), self._simplified)

    def reply(self, incident: Incident, reply: Reply) -> Message:
        """Return what is said in the thread. An edit rings for nobody: what the channel must hear of rings here."""
        mention = rings_for(incident, self._policy.mention) if reply.broadcast else ""
        return with_mention(Message(reply.text, [], []), "" if mention in reply.text else mention)

    def _simplified(self, error: NotifyError) -> None:
        self._workspace.refused(self._name)
        # Once, not for every message: the counter has the rest.
        level = logging.DEBUG if self._has_simplified else logging.WARNING
        self._has_simplified = True
        log.log(level, "messages are simplified: %s", error, extra={"integration": self._name})
