"""Dropping the metric name from a set of series."""

from collections.abc import Sequence

from monitor.model.labels import METRIC_NAME, Labels
from monitor.promql.error import PromqlError
from monitor.promql.frame import Frame, Value, merged
from monitor.promql.memo import Memo
from monitor.promql.vector import Series


def unnamed(labels: Labels) -> Labels:
    """Return the labels without the metric name."""
    # Labels are sorted, and hardly anything sorts before the underscore: the name is first, or near it.
    for index, (name, _) in enumerate(labels):
        if name == METRIC_NAME:
            return Labels(labels[:index] + labels[index + 1 :])
    return labels


def without_names(series: Series) -> Series:
    """Return the series without their metric names. Raises PromqlError when two become the same."""
    dropped = tuple([unnamed(labels) for labels in series])
    check_distinct(dropped)
    return dropped


def check_distinct(series: Series) -> None:
    """Raise PromqlError when two of the label sets are the same."""
    if len(set(series)) != len(series):
        raise PromqlError("vector cannot contain metrics with the same labelset")


class Unnamed(Memo[Series, Series]):
    """`without_names`, remembered."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(without_names)

    def frame(self, series: Series, columns: Sequence[Sequence[Value]]) -> Frame:
        """Return the columns under their labels without names. Raises NotColumnar when two of them meet."""
        try:
            return Frame(self.of(series), columns)
        except PromqlError:
            return merged([unnamed(labels) for labels in series], columns)
