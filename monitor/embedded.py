"""The embedded engine as the rules see it: they ask here, and what they produce goes into the window."""

from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache

from monitor.model.instant import Duration, Instant
from monitor.model.labels import EMPTY, METRIC_NAME, Labels
from monitor.model.matcher import MatchType
from monitor.promql import Engine, PromqlError, Scalar, Vector, parse
from monitor.rules.errors import RuleError
from monitor.storage.column import Block, Column
from monitor.storage.window import Window

MOST_PARSED = 2_000


class EmbeddedQuery:
    """Answers the rules' queries from the window; an expression is parsed once, as long as there are not too many."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # Those of the rules are few; a template may put a value into its query, and so make a new one each time.
        self._parsed = lru_cache(MOST_PARSED)(parse)

    def __call__(self, expr: str, at: Instant) -> Sequence[tuple[Labels, float]]:
        """
        Return an instant vector; a scalar is one element without labels.

        reference: Prometheus 3, rules/manager.go (EngineQueryFunc). Raises RuleError.
        """
        try:
            value = self._engine.instant(self._parsed(expr), at).value
        except PromqlError as err:
            raise RuleError(str(err)) from err
        if isinstance(value, Vector):
            return value.samples
        if isinstance(value, Scalar):
            return [(EMPTY, value.value)]
        raise RuleError("rule result is not a vector or scalar")


class WindowAppender:
    """Writes what rules produce; each rule owns one block of the window."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._last: dict[Hashable, tuple[Block, list[Labels], Sequence[Column]]] = {}

    def append(self, owner: Hashable, at: Instant, samples: Sequence[tuple[Labels, float]]) -> None:
        labels = [labels for labels, _ in samples]
        block, before, columns = self._last.get(owner) or (self._window.block(owner), None, ())
        if labels != before:
            columns = tuple(block.column(series) for series in labels)
            self._last[owner] = (block, labels, columns)
        block.append(at, columns, [value for _, value in samples])

    def retire(self, owners: Iterable[Hashable], at: Instant) -> None:
        """The rules that wrote as `owners` are gone: their series end."""
        for owner in owners:
            self._last.pop(owner, None)
            self._window.end(owner, at)

    @property
    def owners(self) -> set[Hashable]:
        return set(self._last)


def wanted_names(expressions: Iterable[str]) -> frozenset[str] | None:
    """Return the metric names that `expressions` read, or None when one reads names that it does not spell out."""
    names: set[str] = set()
    for expr in expressions:
        for selector in parse(expr).selectors:
            name = next(
                (m.value for m in selector.matchers if m.name == METRIC_NAME and m.type is MatchType.EQUAL), None
            )
            if name is None:
                return None
            names.add(name)
    return frozenset(names)


def longest_reach(expressions: Iterable[str]) -> Duration:
    """Return how far before its evaluation any of `expressions` reads, in milliseconds."""
    return max((selector.reach for expr in expressions for selector in parse(expr).selectors), default=0)
