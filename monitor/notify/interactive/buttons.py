"""The buttons below a message: few, and only those that would do something now."""

from dataclasses import replace

from monitor.notify.interactive.click import Button
from monitor.notify.slack.incident import Incident
from monitor.notify.slack.payload import Block, Message

_LABELS = {
    # Short: all of them stand on one line of a phone. What they leave out is read aloud to those who cannot see it.
    Button.ACK: ("Ack", "Acknowledge"),
    Button.SILENCE_1H: ("Silence 1h", "Silence for one hour"),
    Button.SILENCE_4H: ("4h", "Silence for four hours"),
    Button.UNSILENCE: ("Unsilence", "End the silence"),
}
_BLOCK_ID = "vllm_monitor_buttons"


def buttons(incident_id: str, *, acked: bool, silenced: bool) -> Block:
    """Return the block. A click brings the incident's id back: no label, and nothing that must not be read."""
    shown = [] if acked else [Button.ACK]
    shown += [Button.UNSILENCE] if silenced else [Button.SILENCE_1H, Button.SILENCE_4H]
    return {"type": "actions", "block_id": _BLOCK_ID, "elements": [_button(one, incident_id) for one in shown]}


def buttons_of(incident: Incident) -> Block | None:
    """Return the buttons of an incident as it is now, or None: what is over needs none, unless it is silenced still."""
    silenced = bool(incident.silence_id)
    if not incident.is_open and not silenced:
        return None
    return buttons(incident.id, acked=incident.acked_at is not None or not incident.is_open, silenced=silenced)


def with_buttons(message: Message, block: Block | None) -> Message:
    """Return the message with the block at its end; one of text alone would no longer show its text."""
    if block is None or not message.blocks:
        return message
    if not message.attachments:
        return replace(message, blocks=[*message.blocks, block])
    *before, last = message.attachments
    return replace(message, attachments=[*before, {**last, "blocks": [*last["blocks"], block]}])


def _button(button: Button, incident_id: str) -> Block:
    label, aloud = _LABELS[button]
    text = {"type": "plain_text", "text": label, "emoji": False}
    element = {"type": "button", "text": text, "action_id": button.action_id, "value": incident_id}
    element["accessibility_label"] = aloud
    return element | ({"style": "primary"} if button is Button.ACK else {})
