"""What a click comes to. Pure: the same click on the same incident is decided in the same way."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum

from monitor.dispatch.silence import Silence
from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.model.matcher import Matcher, equal
from monitor.notify.interactive.click import Button, Click
from monitor.notify.slack.escape import date, line
from monitor.notify.slack.incident import Incident, Reply, UpdateRoot, owing

# Besides the labels of the group, what a silence is narrowed to where all alerts of the message share it.
_NARROWING = ("alertname", "model_name", "instance")
_COMMENT = "from Slack"
_NAME = 80


class Outcome(StrEnum):
    """What became of a click: a closed set, for the log and for a metric."""

    ACKED = "acked"
    ALREADY_ACKED = "already acked"
    SILENCED = "silenced"
    ALREADY_SILENCED = "already silenced"
    UNSILENCED = "unsilenced"
    NOT_SILENCED = "not silenced"
    NOT_ALLOWED = "not allowed"
    OVER = "over"
    GONE = "gone"
    REFUSED = "refused"
    REPEATED = "repeated"
    FOREIGN = "foreign"

    @property
    def changes(self) -> bool:
        return self in (Outcome.ACKED, Outcome.SILENCED, Outcome.UNSILENCED)


@dataclass(frozen=True, slots=True)
class Verdict:
    """
    The outcome, and what the one who clicked alone is told of it ("" when everybody sees it).

    `incident` is what the incident becomes. `silence` is to be set, the silence of the id `expires` to be ended.
    """

    outcome: Outcome
    tell: str = ""
    incident: Incident | None = None
    silence: Silence | None = None
    expires: str = ""


def decide(
    click: Click, incident: Incident | None, silence: Silence | None, now: Instant, allowed_users: Collection[str]
) -> Verdict:
    """
    Return what becomes of a click. `silence` is the incident's silence, if it is in force.

    Without `allowed_users` everybody in the channel may click.
    """
    if allowed_users and click.user_id not in allowed_users:
        return Verdict(Outcome.NOT_ALLOWED, "You are not among those who may use these buttons.")
    if incident is None:
        return Verdict(Outcome.GONE, "Nothing is known of this incident any more.")
    if click.button is Button.UNSILENCE:
        return _unsilence(click, incident, silence)
    if not incident.is_open:
        return Verdict(Outcome.OVER, "This incident is over already.")
    if click.button is Button.ACK:
        return _ack(click, incident, now)
    return _silence(click, incident, silence, now)


def matchers_of(incident: Incident) -> tuple[Matcher, ...]:
    """Return what a silence of the incident matches: its group, and what all its alerts share."""
    common = incident.told.common_labels
    narrowing = {name: value for name in _NARROWING if (value := common.value(name))}
    labels = Labels.of({**narrowing, **incident.told.group_labels.as_dict()})
    return tuple(equal(name, value) for name, value in labels)


def _ack(click: Click, incident: Incident, now: Instant) -> Verdict:
    if incident.acked_at is not None:
        when = date(incident.acked_at)
        return Verdict(Outcome.ALREADY_ACKED, f"Already acknowledged by {line(incident.acked_by, _NAME)}, {when}.")
    acked = replace(incident, acked_by=click.user_name, acked_at=now)
    text = f"👀 *Acknowledged* by {_who(click)}, {date(now)}"
    return Verdict(Outcome.ACKED, incident=_owing(acked, click, text))


def _silence(click: Click, incident: Incident, silence: Silence | None, now: Instant) -> Verdict:
    until = now + click.button.silences_for
    if silence is not None and silence.ends_at >= until:
        by, when = line(incident.silenced_by, _NAME), date(silence.ends_at)
        return Verdict(Outcome.ALREADY_SILENCED, f"Already silenced by {by} until {when}.")
    new = Silence("", matchers_of(incident), now, until, f"{click.user_name} ({click.user_id})", _COMMENT)
    silenced = replace(incident, silenced_by=click.user_name, silenced_until=until)
    text = f"🔕 *Silenced* by {_who(click)} until {date(until)}"
    ends = silence.id if silence is not None else ""
    return Verdict(Outcome.SILENCED, incident=_owing(silenced, click, text), silence=new, expires=ends)


def _unsilence(click: Click, incident: Incident, silence: Silence | None) -> Verdict:
    if silence is None:
        return Verdict(Outcome.NOT_SILENCED, "This incident is not silenced.")
    text = f"🔔 *No longer silenced*, says {_who(click)}"
    return Verdict(Outcome.UNSILENCED, incident=_owing(unsilenced(incident), click, text), expires=silence.id)


def unsilenced(incident: Incident) -> Incident:
    """Return the incident without its silence."""
    return replace(incident, silenced_by="", silenced_until=None, silence_id="")


def _owing(incident: Incident, click: Click, text: str) -> Incident:
    """Return the incident that owes its message, and its thread `text`."""
    return owing(incident, (UpdateRoot(), Reply(f"{incident.id}/{click.button}/{click.action_ts}", text)))


def _who(click: Click) -> str:
    return line(click.user_name, _NAME)
