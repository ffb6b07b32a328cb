"""What fired, and when: read off the ALERTS series, which Prometheus and the daemon write alike."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import equal
from monitor.storage.window import Window

# What wakes somebody, in the words of common rule sets.
PAGES = frozenset({"critical", "page", "emergency", "fatal", "disaster", "error"})
QUIET = frozenset({"info", "none", "debug", "informational", "notice"})


@dataclass(frozen=True, slots=True, order=True)
class Firing:
    """An alert that fired from `begin` to `end`, both counted from the start of the story."""

    begin: Duration
    end: Duration
    alert: str
    severity: str = ""
    instance: str = ""
    engine: str = ""

    @property
    def pages(self) -> bool:
        return self.severity.lower() in PAGES

    @property
    def is_quiet(self) -> bool:
        return self.severity.lower() in QUIET


def firings(window: Window, start: Instant, step: Duration) -> Sequence[Firing]:
    """Return what fired according to the ALERTS series of `window`."""
    series = window.select((equal(METRIC_NAME, "ALERTS"), equal("alertstate", "firing")))
    times = ((column.labels, column.between(start - 1, start + 10**15)[0]) for column in series)
    return merged(((labels, [at - start for at in instants]) for labels, instants in times), step)


def merged(fired: Iterable[tuple[Labels, Sequence[Duration]]], step: Duration) -> Sequence[Firing]:
    """Return one firing for each unbroken run of evaluations `step` apart, whatever else their labels are."""
    times: dict[tuple[str, ...], set[Duration]] = {}
    for labels, instants in fired:
        key = tuple(labels.value(name) for name in ("alertname", "severity", "instance", "engine"))
        times.setdefault(key, set()).update(instants)
    # A group may have an interval of its own, of a minute.
    longest = max(4 * step, 2 * MINUTE)
    found = []
    for (alert, severity, instance, engine), instants_of in times.items():
        ordered = sorted(instants_of)
        begins = [ordered[0], *(later for earlier, later in pairwise(ordered) if later - earlier > longest)]
        for begin, following in zip(begins, [*begins[1:], None], strict=True):
            end = max(at for at in ordered if following is None or at < following)
            found.append(Firing(begin, end, alert, severity, instance, engine))
    return sorted(found)
