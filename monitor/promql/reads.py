"""Which stretch of time each selector of an expression reads, for a storage that must fetch it."""

from collections.abc import Iterator

from monitor.model.instant import Duration, Instant
from monitor.model.matcher import Matcher
from monitor.promql.node import Node
from monitor.promql.plan import Plan
from monitor.promql.range_selector import RangeSelector
from monitor.promql.run import LOOKBACK
from monitor.promql.selector import Anchor, InstantSelector, Shift
from monitor.promql.subquery import Subquery

Matchers = tuple[Matcher, ...]
# From the first, which is not read any more, to the last, which is.
Stretch = tuple[Instant, Instant]


def reads(plan: Plan, start: Instant, end: Instant, lookback: Duration = LOOKBACK) -> dict[Matchers, Stretch]:
    """Return for each selector the `(after, until]` that it reads of a query from `start` to `end`."""
    found: dict[Matchers, Stretch] = {}
    for matchers, (after, until) in _of(plan.root, start, end, (start, end), lookback):
        known = found.get(matchers, (after, until))
        found[matchers] = (min(known[0], after), max(known[1], until))
    return found


def _of(
    node: Node, first: Instant, last: Instant, query: Stretch, lookback: Duration
) -> Iterator[tuple[Matchers, Stretch]]:
    """Yield what is read below `node` when it is evaluated at times from `first` to `last`."""
    if isinstance(node, InstantSelector | RangeSelector):
        first, last = _shifted(node.shift, first, last, query)
        yield node.selection.matchers, (first - (node.range if isinstance(node, RangeSelector) else lookback), last)
        return
    if isinstance(node, Subquery):
        first, last = _shifted(node.shift, first, last, query)
        first -= node.range
    for part in node.parts:
        yield from _of(part, first, last, query, lookback)


def _shifted(shift: Shift, first: Instant, last: Instant, query: Stretch) -> Stretch:
    if shift.at is None:
        return first - shift.offset, last - shift.offset
    at = shift.at if not isinstance(shift.at, Anchor) else query[0] if shift.at is Anchor.START else query[1]
    return at - shift.offset, at - shift.offset
