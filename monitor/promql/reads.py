"""Which stretch of time each selector of an expression reads, for a storage that must fetch it."""

from collections.abc import Iterator
from dataclasses import dataclass

from monitor.model.instant import Duration, Instant
from monitor.model.matcher import Matcher
from monitor.promql.node import Node
from monitor.promql.plan import Plan
from monitor.promql.range_selector import RangeSelector
from monitor.promql.run import LOOKBACK
from monitor.promql.selector import Anchor, InstantSelector, Shift
from monitor.promql.subquery import Subquery

Matchers = tuple[Matcher, ...]
_Span = tuple[Instant, Instant]


@dataclass(frozen=True, slots=True)
class Stretch:
    """
    What a selector reads: from `after`, which is not read any more, to `until`.

    With `at_steps` only the newest sample at each step of the query matters.
    """

    after: Instant
    until: Instant
    at_steps: bool

    def joined(self, other: "Stretch") -> "Stretch":
        return Stretch(
            min(self.after, other.after), max(self.until, other.until), at_steps=self.at_steps and other.at_steps
        )


def reads(plan: Plan, start: Instant, end: Instant, lookback: Duration = LOOKBACK) -> dict[Matchers, Stretch]:
    """Return for each selector what it reads of a query from `start` to `end`."""
    found: dict[Matchers, Stretch] = {}
    for matchers, stretch in _of(plan.root, (start, end), (start, end), lookback, at_steps=True):
        found[matchers] = stretch.joined(found.get(matchers, stretch))
    return found


def _of(
    node: Node, span: _Span, query: _Span, lookback: Duration, *, at_steps: bool
) -> Iterator[tuple[Matchers, Stretch]]:
    """Yield what is read below `node` when it is evaluated at times in `span`."""
    if isinstance(node, InstantSelector | RangeSelector):
        first, last = _shifted(node.shift, span, query)
        ranged = isinstance(node, RangeSelector)
        only_newest = at_steps and not ranged and node.shift == Shift()
        yield (
            node.selection.matchers,
            Stretch(first - (node.range if isinstance(node, RangeSelector) else lookback), last, at_steps=only_newest),
        )
        return
    if isinstance(node, Subquery):
        first, last = _shifted(node.shift, span, query)
        span, at_steps = (first - node.range, last), False
    for part in node.parts:
        yield from _of(part, span, query, lookback, at_steps=at_steps)


def _shifted(shift: Shift, span: _Span, query: _Span) -> _Span:
    if shift.at is None:
        return span[0] - shift.offset, span[1] - shift.offset
    at = shift.at if not isinstance(shift.at, Anchor) else query[0] if shift.at is Anchor.START else query[1]
    return at - shift.offset, at - shift.offset
