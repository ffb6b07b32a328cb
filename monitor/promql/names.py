"""Dropping the metric name from a set of series."""

from monitor.model.labels import METRIC_NAME, Labels
from monitor.promql.error import PromqlError
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
