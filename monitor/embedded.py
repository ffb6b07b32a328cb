"""The embedded engine as the rules see it: they ask here, and what they produce goes into the window."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from math import isnan

from monitor.model.instant import Duration, Instant
from monitor.model.labels import EMPTY, METRIC_NAME, Labels
from monitor.model.matcher import MatchType
from monitor.model.sample import format_value
from monitor.promql import Engine, PromqlError, Scalar, Selector, Vector, parse
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
    """
    Writes what rules produce; each rule owns one block of the window.

    Two that write one series are found out when their series change, so that a round costs nothing more as long as
    there are none.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._last: dict[Hashable, tuple[Block, list[Labels], Sequence[Column]]] = {}
        self._writers: Counter[Labels] = Counter()
        self._shared: set[Labels] = set()

    def append(self, owner: Hashable, at: Instant, samples: Sequence[tuple[Labels, float]]) -> None:
        """
        Write the samples of `owner`.

        Raises RuleError when another one has written another value of one of the series at `at`: that one stands, as
        in Prometheus, and everything else is written.
        """
        labels = [labels for labels, _ in samples]
        block, before, columns = self._last.get(owner) or (self._window.block(owner), [], ())
        if labels != before or owner not in self._last:
            columns = tuple(block.column(series) for series in labels)
            self._last[owner] = (block, labels, columns)
            self._recount(before, labels)
        block.append(at, columns, [value for _, value in samples])
        if self._shared:
            self._check(owner, at, samples)

    def retire(self, owners: Iterable[Hashable], at: Instant) -> None:
        """The rules that wrote as `owners` are gone: their series end."""
        for owner in owners:
            _, before, _ = self._last.pop(owner, (None, (), None))
            self._recount(before, ())
            self._window.end(owner, at)

    @property
    def owners(self) -> set[Hashable]:
        return set(self._last)

    def _recount(self, before: Iterable[Labels], after: Iterable[Labels]) -> None:
        old, new = set(before), set(after)
        for labels in new - old:
            self._writers[labels] += 1
            if self._writers[labels] > 1:
                self._shared.add(labels)
        for labels in old - new:
            self._writers[labels] -= 1
            if self._writers[labels] <= 1:
                self._shared.discard(labels)
            if not self._writers[labels]:
                del self._writers[labels]

    def _check(self, owner: Hashable, at: Instant, samples: Iterable[tuple[Labels, float]]) -> None:
        others = [block for other, (block, _, _) in self._last.items() if other != owner]
        for labels, value in samples:
            for block in others if labels in self._shared else ():
                column = block.columns.get(labels)
                there = column.newest(at - 1, at) if column is not None else None
                if there is not None and there[1] != value and not (isnan(there[1]) and isnan(value)):
                    found = f"there is {format_value(there[1])} already, and now {format_value(value)}"
                    raise RuleError(f"duplicate sample of {labels}: {found}")


def wanted_names(expressions: Iterable[str]) -> frozenset[str] | None:
    """Return the metric names that `expressions` read, or None when one reads names that it does not spell out."""
    names: set[str] = set()
    for expr in expressions:
        for selector in parse(expr).selectors:
            name = _name_of(selector)
            if name is None:
                return None
            names.add(name)
    return frozenset(names)


def spelled_names(expr: str) -> frozenset[str]:
    """Return the metric names that an expression reads, as far as it spells them out."""
    names = (_name_of(selector) for selector in parse(expr).selectors)
    return frozenset(name for name in names if name is not None)


def reaches(expressions: Iterable[str]) -> dict[str, Duration]:
    """
    Return how far before its evaluation any of `expressions` reads each metric name, in milliseconds.

    Under "" stands what is read by names that are not spelled out.
    """
    found: dict[str, Duration] = {}
    for expr in expressions:
        for selector in parse(expr).selectors:
            name = _name_of(selector) or ""
            found[name] = max(found.get(name, 0), selector.reach)
    return found


def keep(window: Window, expressions: Iterable[str], retention: Duration) -> None:
    """From here on `window` keeps everything for `retention`, in milliseconds, and what is read back further longer."""
    found = reaches(expressions)
    window.retention = max(retention, found.pop("", 0))
    window.longer = {name: reach for name, reach in found.items() if reach > window.retention}


def read_further_back(expressions: Iterable[str], than: Duration) -> frozenset[str]:
    """Return the metric names that any of `expressions` reads more than so many milliseconds before its evaluation."""
    return frozenset(name for name, reach in reaches(expressions).items() if name and reach > than)


def _name_of(selector: Selector) -> str | None:
    """Return the metric name that a selector spells out."""
    return next((m.value for m in selector.matchers if m.name == METRIC_NAME and m.type is MatchType.EQUAL), None)
