"""absent and absent_over_time."""

from collections.abc import Sequence

from monitor.model.instant import Instant
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import Matcher, MatchType
from monitor.promql.frame import Frame, Steps, Value, framed
from monitor.promql.node import MatrixNode, Node, VectorNode
from monitor.promql.range_selector import RangeSelector
from monitor.promql.run import Run
from monitor.promql.selector import InstantSelector
from monitor.promql.vector import NOTHING, Vector


class Absent(VectorNode):
    """One element 1 when there is nothing, labelled by what was looked for."""

    __slots__ = ("_missing", "_of")

    def __init__(self, of: VectorNode | MatrixNode) -> None:
        super().__init__(of)
        self._of = of
        self._missing = Vector((sought(of),), (1.0,))

    def vector(self, run: Run, at: Instant) -> Vector:
        if isinstance(self._of, VectorNode):
            there = bool(self._of.vector(run, at).series)
        else:
            there = any(values for _, values in self._of.matrix(run, at).points)
        return NOTHING if there else self._missing

    def frame(self, run: Run, steps: Steps) -> Frame:
        if not isinstance(self._of, VectorNode):
            return super().frame(run, steps)
        columns = self._of.frame(run, steps).columns
        missing: list[Value] = [1.0] * len(steps.times)
        for column in columns:
            missing = [one if value is None else None for one, value in zip(missing, column, strict=True)]
        return framed(self._missing.series, [missing])


def sought(node: Node) -> Labels:
    """Return the labels that a selector requires to be equal to something; none of any other expression."""
    if not isinstance(node, InstantSelector | RangeSelector):
        return Labels()
    return required(node.selection.matchers)


def required(matchers: Sequence[Matcher]) -> Labels:
    """
    Return the labels of the equality matchers, without those that any other matcher names too.

    reference: Prometheus 3.5, promql/functions.go createLabelsForAbsentFunction.
    """
    found: dict[str, str] = {}
    named: set[str] = set()
    for matcher in matchers:
        if matcher.name == METRIC_NAME:
            continue
        if matcher.type is MatchType.EQUAL and matcher.name not in named:
            found[matcher.name] = matcher.value
        else:
            found.pop(matcher.name, None)
        named.add(matcher.name)
    return Labels.of(found)
