"""What an expression became: its type, what it reads, and the nodes that evaluate it."""

from dataclasses import dataclass
from enum import StrEnum

from monitor.model.instant import Duration
from monitor.model.labels import METRIC_NAME
from monitor.model.matcher import Matcher, MatchType
from monitor.promql.node import Node


class ValueType(StrEnum):
    """The `resultType` of the HTTP API."""

    VECTOR = "vector"
    MATRIX = "matrix"
    SCALAR = "scalar"
    STRING = "string"


@dataclass(frozen=True, slots=True)
class Selector:
    """
    One selector of an expression.

    `reach` is how far before the time of evaluation it may read: its range or the lookback, plus its offset, plus what
    the subqueries around it add. It says nothing of a selector that `@` fixes to a time, for which `fixed` is set.
    """

    matchers: tuple[Matcher, ...]
    range: Duration | None
    offset: Duration
    reach: Duration
    fixed: bool = False

    @property
    def name(self) -> str | None:
        """The metric name, where the selector names just one."""
        names = [matcher for matcher in self.matchers if matcher.name == METRIC_NAME]
        return names[0].value if names and names[0].type is MatchType.EQUAL else None


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A parsed expression. It may be evaluated by any number of engines and threads, any number of times."""

    text: str
    result_type: ValueType
    selectors: tuple[Selector, ...]
    root: Node

    @property
    def reach(self) -> Duration:
        """How far before the time of evaluation the expression may read."""
        return max((selector.reach for selector in self.selectors), default=0)
