"""What a click comes to. Pure: the same click on the same incident is decided in the same way."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from monitor.dispatch.silence import Silence
from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, Instant
from monitor.notify.interactive.click import Button, Click
from monitor.notify.silencing import matchers_of, matchers_of_all
from monitor.notify.slack.escape import date, literal
from monitor.notify.slack.incident import PASSED_ON, Incident, Reply, UpdateRoot, owing

_COMMENT = "from Slack"
_NAME = 80
# What a silence must be made longer by: a second click on the same button comes later, and wants no other silence.
_AT_ONCE = MINUTE


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
    `members` are what those of a digest became.
    """

    outcome: Outcome
    tell: str = ""
    incident: Incident | None = None
    silence: Silence | None = None
    expires: str = ""
    members: tuple[Incident, ...] = ()


def decide(
    click: Click,
    incident: Incident | None,
    silence: Silence | None,
    now: Instant,
    allowed_users: Collection[str],
    members: Sequence[Incident] = (),
) -> Verdict:
    """
    Return what becomes of a click. `silence` is the incident's silence, if it is in force.

    Without `allowed_users` everybody in the channel may click. A digest is about its `members`.
    """
    if allowed_users and click.user_id not in allowed_users:
        return Verdict(Outcome.NOT_ALLOWED, "You are not among those who may use these buttons.")
    if incident is None:
        return Verdict(Outcome.GONE, "Nothing is known of this incident any more.")
    if click.button is Button.UNSILENCE:
        return _unsilence(click, incident, silence, now)
    if not incident.is_open:
        return Verdict(Outcome.OVER, "This incident is over already.")
    if click.button is Button.ACK:
        return _ack(click, incident, now)
    alerts = [alert for member in members for alert in member.told.firing]
    return _silence(click, incident, silence, _new(click, incident, alerts, now))


def followed(member: Incident, digest: Incident, verdict: Verdict) -> Incident:
    """
    Return what a member of a digest becomes when its digest became `digest` by this verdict.

    A silence of its own that lasts longer is in force all the same, and stays what its message shows.
    """
    outcome, after = verdict.outcome, member
    if outcome is Outcome.ACKED and member.is_open and member.acked_at is None:
        after = replace(member, acked_by=digest.acked_by, acked_at=digest.acked_at)
    elif outcome is Outcome.SILENCED and member.is_open and _ends_sooner(member, digest):
        after = replace(
            member,
            silenced_by=digest.silenced_by,
            silenced_until=digest.silenced_until,
            silence_id=digest.silence_id,
        )
    elif outcome is Outcome.UNSILENCED and member.silence_id == verdict.expires:
        after = unsilenced(member, digest.alarmed_at)
    return owing(after, (UpdateRoot(),)) if after is not member and member.stands else after


def _ends_sooner(member: Incident, digest: Incident) -> bool:
    return (member.silenced_until or 0) < (digest.silenced_until or 0)


def _ack(click: Click, incident: Incident, now: Instant) -> Verdict:
    if incident.acked_at is not None:
        when = date(incident.acked_at)
        return Verdict(Outcome.ALREADY_ACKED, f"Already acknowledged by {literal(incident.acked_by, _NAME)}, {when}.")
    acked = replace(incident, acked_by=click.user_name, acked_at=now)
    text = f"👀 *Acknowledged* by {_who(click)}, {date(now)}"
    return Verdict(Outcome.ACKED, incident=_owing(acked, click, text))


def _new(click: Click, incident: Incident, alerts: Sequence[Alert], now: Instant) -> Silence:
    """Return the silence that a click wants: of an incident, or of the `alerts` of a digest."""
    matchers = matchers_of_all(alerts) if alerts else matchers_of(incident.told)
    return Silence("", matchers, now, now + click.button.silences_for, f"{click.user_name} ({click.user_id})", _COMMENT)


def _silence(click: Click, incident: Incident, silence: Silence | None, new: Silence) -> Verdict:
    until = new.ends_at
    if not new.matchers:
        return Verdict(Outcome.REFUSED, "These alerts have nothing in common that a silence could match.")
    if silence is not None and silence.ends_at + _AT_ONCE >= until:
        by, when = literal(incident.silenced_by, _NAME), date(silence.ends_at)
        return Verdict(Outcome.ALREADY_SILENCED, f"Already silenced by {by} until {when}.")
    silenced = replace(incident, silenced_by=click.user_name, silenced_until=until)
    text = f"🔕 *Silenced* by {_who(click)} until {date(until)}"
    ends = silence.id if silence is not None else ""
    return Verdict(Outcome.SILENCED, incident=_owing(silenced, click, text), silence=new, expires=ends)


def _unsilence(click: Click, incident: Incident, silence: Silence | None, now: Instant) -> Verdict:
    if silence is None:
        return Verdict(Outcome.NOT_SILENCED, "This incident is not silenced.")
    text = f"🔔 *No longer silenced*, says {_who(click)}"
    return Verdict(Outcome.UNSILENCED, incident=_owing(unsilenced(incident, now), click, text), expires=silence.id)


def unsilenced(incident: Incident, now: Instant) -> Incident:
    """Return the incident without its silence. Whoever silenced it has seen it: escalation begins anew now."""
    escalated = incident.escalated if incident.escalated >= PASSED_ON else 0
    return replace(incident, silenced_by="", silenced_until=None, silence_id="", alarmed_at=now, escalated=escalated)


def _owing(incident: Incident, click: Click, text: str) -> Incident:
    """Return the incident that owes its message, and its thread `text`."""
    return owing(incident, (UpdateRoot(), Reply(f"{incident.id}/{click.button}/{click.action_ts}", text)))


def _who(click: Click) -> str:
    return literal(click.user_name, _NAME)
