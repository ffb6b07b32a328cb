"""Many rows at once are what they would have become one by one."""

import math
from array import array
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from monitor.model.labels import Labels
from monitor.model.sample import STALE, is_stale
from monitor.storage.column import Block

_VALUES = st.sampled_from((STALE, STALE, math.nan, math.inf, -math.inf, 0.0, 1.0, 2.0, 3.0))
_ROWS = st.lists(st.tuples(_VALUES, _VALUES, _VALUES), min_size=1, max_size=12)
_LABELS = [Labels.of(__name__="x", k=str(k)) for k in range(3)]


def _one_by_one(block: Block, rows: Sequence[Sequence[float]], start: int) -> None:
    for at, row in enumerate(rows, start):
        there = [k for k, value in enumerate(row) if not is_stale(value)]
        columns = [block.column(_LABELS[k], counter=k > 0) for k in there]
        block.append(at, columns, [row[k] for k in there])


def _at_once(block: Block, rows: Sequence[Sequence[float]], start: int) -> None:
    written = {}
    for k, values in enumerate(zip(*rows, strict=True)):
        if not all(is_stale(value) for value in values):
            written[block.column(_LABELS[k], counter=k > 0)] = array("d", values)
    block.extend(range(start, start + len(rows)), written)


def _state(block: Block) -> dict[Labels, str]:
    return {
        labels: repr((list(column.view[0]), column.view[1], column.gaps, column.resets, column.live))
        for labels, column in block.columns.items()
    }


@given(st.lists(st.tuples(_ROWS, st.booleans()), min_size=1, max_size=4))
def test_rows_that_are_written_at_once_are_those_that_are_written_one_by_one(
    parts: list[tuple[list[tuple[float, ...]], bool]],
) -> None:
    plain, mixed = Block(), Block()
    start = 0
    for rows, at_once in parts:
        _one_by_one(plain, rows, start)
        (_at_once if at_once else _one_by_one)(mixed, rows, start)
        start += len(rows)
    assert plain.view == mixed.view
    assert _state(plain) == _state(mixed)
