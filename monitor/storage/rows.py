"""
The rows of the state file, and what one step changes of them.

What the texts in them mean is the business of those who write them.
"""

from dataclasses import dataclass

from monitor.model.instant import Instant


@dataclass(frozen=True, slots=True)
class AlertRow:
    """An alert of a rule; `labels` and `body` are texts of the writer."""

    group: str
    rule: str
    labels: str
    body: str

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.group, self.rule, self.labels)


@dataclass(frozen=True, slots=True)
class LogRow:
    """An entry of the notification log."""

    group_key: str
    integration: str
    at: Instant
    body: str


@dataclass(frozen=True, slots=True)
class LetterRow:
    """A notification that waits to be delivered; `attempts` were begun, with `diverted` others have it too."""

    id: str
    integration: str
    body: str
    attempts: int = 0
    diverted: bool = False


@dataclass(frozen=True, slots=True)
class DeadRow:
    """A notification that was given up at `at`, and why."""

    id: str
    integration: str
    body: str
    attempts: int
    error: str
    at: Instant


@dataclass(frozen=True, slots=True)
class AstrayRow:
    """
    A notification of a group that was meant for an integration went to others as well.

    `over`: it says that the group is over, so that the others need to hear no more.
    """

    letter: str
    integration: str
    group_key: str
    at: Instant
    over: bool


@dataclass(frozen=True, slots=True)
class IncidentRow:
    """What became of a group of alerts in a channel."""

    integration: str
    group_key: str
    body: str


@dataclass(frozen=True, slots=True)
class HandledRow:
    """
    An alert of an incident, and when somebody acknowledged it; `ends_at` None while it fires.

    `episode` counts how often the incident began, `told_at` is when this one did.
    """

    integration: str
    incident: str
    episode: int
    labels: str
    starts_at: Instant
    ends_at: Instant | None
    told_at: Instant
    acked_at: Instant | None
    acked_by: str

    @property
    def key(self) -> tuple[str, str, int, str]:
        return (self.integration, self.incident, self.episode, self.labels)


@dataclass(frozen=True, slots=True)
class Over:
    """An incident is over: what is not known to have ended of its alerts ended with it."""

    integration: str
    incident: str
    at: Instant


@dataclass(frozen=True, slots=True)
class ReceivedRow:
    """A group of an Alertmanager that was heard of, for a receiver; `over`: nothing of it is kept any more."""

    receiver: str
    group_key: str
    body: str
    over: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """
    What one step has changed. `evaluated` is the time of one of the pipeline, 0 when nothing was evaluated.

    `silences` are pairs of an id and a body, `forgotten` ids of silences; `closed` are integrations and group keys of
    incidents that are forgotten; `dead` wait no longer, `raised` are ids of dead ones that wait again. Of what was
    `handled` some is forgotten that was told before `handled_since`.
    """

    alerts: tuple[AlertRow, ...] = ()
    gone: tuple[tuple[str, str, str], ...] = ()
    log: tuple[LogRow, ...] = ()
    letters: tuple[LetterRow, ...] = ()
    settled: tuple[str, ...] = ()
    silences: tuple[tuple[str, str], ...] = ()
    forgotten: tuple[str, ...] = ()
    incidents: tuple[IncidentRow, ...] = ()
    closed: tuple[tuple[str, str], ...] = ()
    astray: tuple[AstrayRow, ...] = ()
    dead: tuple[DeadRow, ...] = ()
    raised: tuple[str, ...] = ()
    received: tuple[ReceivedRow, ...] = ()
    handled: tuple[HandledRow, ...] = ()
    over: tuple[Over, ...] = ()
    handled_since: Instant = 0
    evaluated: Instant = 0

    @property
    def matter(self) -> bool:
        """Whether there is more to it than the time."""
        told = (self.log, self.letters, self.settled, self.incidents, self.closed, self.astray, self.dead, self.raised)
        handled = (self.handled, self.over)
        return any((self.alerts, self.gone, *told, self.silences, self.forgotten, *handled, self.received))
