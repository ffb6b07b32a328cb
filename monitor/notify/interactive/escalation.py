"""What happens when nobody clicks. Pure: deciding here, doing elsewhere."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import IntEnum

from monitor.dispatch.silence import Silence
from monitor.model.instant import Duration, Instant
from monitor.model.matcher import Matcher
from monitor.notify.interactive.decide import unsilenced
from monitor.notify.moment import lasted
from monitor.notify.severity import severity_of, worst
from monitor.notify.slack.incident import PASSED_ON, Incident, Reply, UpdateRoot, owing

_MENTION = re.compile(r"(?P<user>[UW][A-Z0-9]{6,})|(?P<group>S[A-Z0-9]{6,})|(?P<all>here|channel)")


class Stage(IntEnum):
    """How far an incident has been escalated."""

    NOT = 0
    MENTIONED = 1
    PASSED_ON = PASSED_ON
    # The next receiver has been told that it is over.
    ENDED = 3


@dataclass(frozen=True, slots=True)
class Escalation:
    """
    Not acknowledged `after` it was told, an incident mentions somebody; after as long again `receiver` is told.

    Only incidents of which some alert matches all `matchers` are escalated. Either of the two may be "".
    """

    after: Duration
    mention: str = ""
    receiver: str = ""
    matchers: tuple[Matcher, ...] = ()

    def concerns(self, incident: Incident) -> bool:
        """Say whether an incident is escalated at all: there is nobody behind the next receiver."""
        if incident.told.receiver == self.receiver:
            return False
        alerts = incident.told.firing
        return any(all(matcher.accepts(alert.labels) for matcher in self.matchers) for alert in alerts)


@dataclass(frozen=True, slots=True)
class Step:
    """
    What is due: what the incident becomes, and whether the next receiver must hear how it stands.

    `escalates`: nobody answered in time; else it is the end of a silence, or of the incident. `rings`: somebody is to
    be mentioned, see `ringing`.
    """

    incident: Incident
    passes_on: bool = False
    escalates: bool = False
    rings: bool = False


def mention(written: str) -> str:
    """Return how Slack is told to ring for a user, a group, `here` or `channel`. Raises ValueError for all else."""
    found = _MENTION.fullmatch(written)
    if found is None:
        raise ValueError("not a user (U…, W…), a user group (S…), here or channel")
    if found["group"]:
        return f"<!subteam^{written}>"
    return f"<@{written}>" if found["user"] else f"<!{written}>"


def due(
    incident: Incident,
    silence: Silence | None,
    now: Instant,
    escalation: Escalation | None,
    is_quiet: Callable[[], bool] = lambda: False,
) -> Step | None:
    """
    Return what is due of an incident at `now`, or None. `silence` is its silence, if it is in force.

    When a silence ends, escalation begins anew. `is_quiet` is asked whether what fires is muted in another way than by
    a button: for as long the waiting begins anew, again and again.
    """
    if incident.silence_id and silence is None:
        over = unsilenced(incident, now)
        return Step(owing(over, (UpdateRoot(),) if incident.is_open else ()))
    if not incident.is_open:
        ended = replace(incident, escalated=Stage.ENDED)
        return Step(ended, passes_on=True) if incident.escalated == Stage.PASSED_ON else None
    if escalation is None or incident.acked_at is not None or silence is not None or not escalation.concerns(incident):
        return None
    step = _next(incident, now, escalation)
    if step is not None and is_quiet():
        return Step(replace(incident, alarmed_at=now, escalated=Stage.NOT))
    return step


def first_of(incidents: Iterable[Incident]) -> Incident:
    """Return the one of several incidents in whose thread somebody is mentioned for all: the worst, then the oldest."""
    return min(incidents, key=lambda one: (worst(map(severity_of, one.told.firing)).rank, one.alarmed_at, one.key))


def ringing(incident: Incident, others: int, now: Instant, escalation: Escalation) -> Incident:
    """Return the incident that owes a mention, for itself and for so many others of its channel."""
    text = f"{mention(escalation.mention)} not acknowledged for {lasted(now - incident.alarmed_at)}"
    if others:
        text += f", and {others} other incident{'s' if others > 1 else ''}"
    reply = Reply(f"{incident.id}/escalate/{incident.alarmed_at}", text, broadcast=True, calls=True)
    return owing(incident, (reply,))


def _next(incident: Incident, now: Instant, escalation: Escalation) -> Step | None:
    waited = now - incident.alarmed_at
    if incident.escalated == Stage.NOT and waited >= escalation.after:
        mentioned = replace(incident, escalated=Stage.MENTIONED)
        return Step(mentioned, escalates=True, rings=bool(escalation.mention))
    if incident.escalated == Stage.MENTIONED and waited >= 2 * escalation.after and escalation.receiver:
        passed_on = replace(incident, escalated=Stage.PASSED_ON, passed_to=escalation.receiver)
        return Step(passed_on, passes_on=True, escalates=True)
    return None
