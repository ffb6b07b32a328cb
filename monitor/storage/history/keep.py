"""Which series are kept for weeks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from monitor.model.instant import DAY, Duration
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import Matcher, MatchType, equal

RETENTION: Duration = 35 * DAY


@dataclass(frozen=True)
class Keep:
    """Series that satisfy any of `selectors` are kept for `retention`; 0 is not at all."""

    selectors: tuple[tuple[Matcher, ...], ...] = ()
    retention: Duration = RETENTION

    def with_names(self, names: Iterable[str]) -> "Keep":
        """Return what keeps the series of these metric names as well."""
        return Keep(self.selectors + tuple((equal(METRIC_NAME, name),) for name in sorted(names)), self.retention)

    def keeps(self, labels: Labels) -> bool:
        if not self.retention:
            return False
        return any(all(matcher.accepts(labels) for matcher in matchers) for matchers in self.selectors)


def name_in(matchers: Sequence[Matcher]) -> str | None:
    """Return the metric name that matchers spell out."""
    return next((m.value for m in matchers if m.name == METRIC_NAME and m.type is MatchType.EQUAL), None)
