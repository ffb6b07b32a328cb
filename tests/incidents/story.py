"""A story: what happens to which servers, what people must be told of it, how soon, and what they must not hear."""

from dataclasses import dataclass
from enum import StrEnum

from monitor.model.instant import MINUTE, SECOND, Duration
from tests.incidents.hosts import Host


class Tell(StrEnum):
    """How loudly people must be told. A page is severity critical, a ticket warning, a note info."""

    PAGE = "page"
    TICKET = "ticket"
    NOTE = "note"
    NOTHING = "nothing"


class Column(StrEnum):
    """Who watches: the daemon with its probes, or the rule files alone in a Prometheus."""

    DAEMON = "daemon"
    RULES = "rules"


BOTH = frozenset(Column)
# What a probe or the daemon must see: the page does not show it.
DAEMON = frozenset({Column.DAEMON})


@dataclass(frozen=True, slots=True)
class Expect:
    """One of `alerts` fires within so long after the cause, on `instance` if it is named."""

    alerts: tuple[str, ...]
    within: Duration
    columns: frozenset[Column] = BOTH
    instance: str = ""


@dataclass(frozen=True, slots=True)
class Story:
    """
    `cause` counts from the start, and so does `over`, when it is mended; both are of the condition, not of an alert.

    `may` names what besides the expected alerts may fire from the cause on, because it is true as well. Everything
    else above info is a false alarm. `interval` is how often the daemon scrapes; days are sampled more coarsely.
    """

    name: str
    tell: Tell
    hosts: tuple[Host, ...]
    duration: Duration
    cause: Duration = 0
    over: Duration | None = None
    expects: tuple[Expect, ...] = ()
    may: frozenset[str] = frozenset()
    summary: str = ""
    interval: Duration = 5 * SECOND
    # When receivers stop answering, if they do.
    deaf_from: Duration | None = None
    # Rule files that run beside the shipped ones.
    rules: tuple[str, ...] = ()
    # Alerts that are off by default, and on here.
    switched_on: tuple[str, ...] = ()
    # How often the Prometheus evaluates.
    evaluation: Duration = 15 * SECOND
    bar: bool = False

    @property
    def end(self) -> Duration:
        return self.duration if self.over is None else self.over


def soon(*alerts: str, within: Duration = 150 * SECOND, instance: str = "") -> Expect:
    """Return what the page shows: both columns must find it."""
    return Expect(alerts, within, BOTH, instance)


def probed(*alerts: str, within: Duration = 150 * SECOND, instance: str = "") -> Expect:
    """Return what only a probe, or the daemon itself, can know."""
    return Expect(alerts, within, DAEMON, instance)


# How long after the condition an alert may begin late, or still stand: windows of five minutes must empty.
AFTERMATH: Duration = 10 * MINUTE
