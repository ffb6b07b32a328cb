"""Who is rung for at once: a mention in the message of what is critical, as long as nobody has taken it on."""

from dataclasses import replace

from monitor.notify.severity import Severity, severity_of, worst
from monitor.notify.slack.incident import Incident
from monitor.notify.slack.payload import Message


def rings_for(incident: Incident, mention: str) -> str:
    """Return the mention, written as Slack wants it, or "" where nobody is to be rung for."""
    # The digest in which it was told has rung already.
    if not incident.is_open or incident.acked_at is not None or incident.digest:
        return ""
    return mention if worst(severity_of(alert) for alert in incident.told.firing) is Severity.CRITICAL else ""


def with_mention(message: Message, mention: str) -> Message:
    """Return the message with the mention in its text, and below its header, where it rings."""
    if not mention:
        return message
    text = f"{message.text}\n{mention}"
    if not message.blocks:
        return replace(message, text=text)
    return replace(message, text=text, blocks=[*message.blocks, {"type": "section", "text": _marked(mention)}])


def _marked(mention: str) -> dict[str, str]:
    return {"type": "mrkdwn", "text": mention}
