"""
A click on one of our buttons, read from what Slack sends.

Over the socket and over HTTP the payload is the same. It comes from outside: whatever is not exactly a click of ours is
none, and nothing of it but what is checked here goes any further.
reference: Slack, interaction payloads, block_actions.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from monitor.model.instant import HOUR, Duration
from monitor.notify.cleanse import one_line

# Before the name of the button in `action_id`, so that buttons of other apps' messages are not taken for ours.
PREFIX = "vllm_monitor_"
_USER = re.compile(r"[UW][A-Z0-9]{2,30}")
_CHANNEL = re.compile(r"[CGD][A-Z0-9]{2,30}")
_STAMP = re.compile(r"[0-9]{1,15}\.[0-9]{1,9}")
_INCIDENT = re.compile(r"[0-9A-Za-z._-]{1,100}")
_LONGEST_NAME = 80


class Button(StrEnum):
    """What there is to click; `action_id` is how Slack sends it back."""

    ACK = "ack"
    SILENCE_1H = "silence_1h"
    SILENCE_4H = "silence_4h"
    UNSILENCE = "unsilence"

    @property
    def action_id(self) -> str:
        return PREFIX + self.value

    @property
    def silences_for(self) -> Duration:
        """How long it silences, 0 when it does not."""
        return _SILENCES.get(self, 0)


_SILENCES = {Button.SILENCE_1H: HOUR, Button.SILENCE_4H: 4 * HOUR}
_BUTTONS = {button.action_id: button for button in Button}


@dataclass(frozen=True, slots=True)
class Click:
    """
    Who clicked on what. `incident` is the value of the button; `action_ts` is Slack's name for this one click.

    `envelope_id` is what brought it; a second delivery of the same click may come in another envelope.
    """

    button: Button
    incident: str
    user_id: str
    user_name: str
    channel: str
    message_ts: str
    action_ts: str
    envelope_id: str = ""

    @property
    def identity(self) -> tuple[str, ...]:
        """The same for every delivery of the same click, and for no other click."""
        return (self.channel, self.message_ts, self.button, self.user_id, self.action_ts)


def read(payload: Any, envelope_id: str = "") -> Click | None:
    """Return the click that `payload` (decoded JSON) is, or None when it is none of ours."""
    action = _first(payload.get("actions")) if _part(payload, "type") == "block_actions" else {}
    button = _BUTTONS.get(str(action.get("action_id")))
    user = payload.get("user") if button is not None else None
    if button is None or not isinstance(user, dict):
        return None
    click = Click(
        button,
        incident=_part(action, "value"),
        user_id=_part(user, "id"),
        user_name=_name(user),
        channel=_part(payload.get("channel"), "id") or _part(payload.get("container"), "channel_id"),
        message_ts=_part(payload.get("message"), "ts") or _part(payload.get("container"), "message_ts"),
        action_ts=_part(action, "action_ts"),
        envelope_id=envelope_id,
    )
    return click if _is_whole(click) else None


def is_user(written: str) -> bool:
    """Say whether this may be the ID of a user."""
    return _USER.fullmatch(written) is not None


def _is_whole(click: Click) -> bool:
    checks = (
        (_INCIDENT, click.incident),
        (_USER, click.user_id),
        (_CHANNEL, click.channel),
        (_STAMP, click.message_ts),
        (_STAMP, click.action_ts),
    )
    return all(pattern.fullmatch(text) for pattern, text in checks)


def _first(actions: Any) -> dict[str, Any]:
    """Return the action of a click: a button comes alone."""
    return actions[0] if isinstance(actions, list) and len(actions) == 1 and isinstance(actions[0], dict) else {}


def _name(user: dict[str, Any]) -> str:
    name = one_line(_part(user, "username") or _part(user, "name"))[:_LONGEST_NAME]
    return name or _part(user, "id")


def _part(table: Any, name: str) -> str:
    value = table.get(name) if isinstance(table, dict) else None
    return value if isinstance(value, str) else ""
