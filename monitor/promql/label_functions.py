"""label_replace and label_join."""

from collections.abc import Callable, Sequence
from typing import Any

from monitor.model.expansion import expand_template, expanded
from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.promql.error import PromqlError
from monitor.promql.frame import Frame, NotColumnar, Steps
from monitor.promql.memo import Memo
from monitor.promql.names import check_distinct
from monitor.promql.node import VectorNode
from monitor.promql.run import Run
from monitor.promql.vector import Series, Vector


class Relabel(VectorNode):
    """A vector whose label sets are changed one by one."""

    __slots__ = ("_of", "_series")

    def __init__(self, change: Callable[[Labels], Labels], of: VectorNode) -> None:
        super().__init__(of)
        self._of = of

        def changed(series: Series) -> Series:
            found = tuple([change(labels) for labels in series])
            check_distinct(found)
            return found

        self._series = Memo(changed)

    def vector(self, run: Run, at: Instant) -> Vector:
        vector = self._of.vector(run, at)
        return Vector(self._series.of(vector.series), vector.values)

    def frame(self, run: Run, steps: Steps) -> Frame:
        of = self._of.frame(run, steps)
        try:
            return Frame(self._series.of(of.series), of.columns)
        except PromqlError as err:
            raise NotColumnar from err


def replace(to: str, template: str, source: str, pattern: Any) -> Callable[[Labels], Labels]:
    """Return what `label_replace(v, to, template, source, regex)` does; `pattern` is compiled and anchored."""
    parts = expand_template(template, dict(pattern.groupindex), pattern.groups)

    def change(labels: Labels) -> Labels:
        found = pattern.fullmatch(labels.value(source))
        if found is None:
            return labels
        return labels.with_({to: expanded(parts, found)})

    return change


def join(to: str, separator: str, sources: Sequence[str]) -> Callable[[Labels], Labels]:
    """Return what `label_join(v, to, separator, sources...)` does."""

    def change(labels: Labels) -> Labels:
        return labels.with_({to: separator.join([labels.value(source) for source in sources])})

    return change
