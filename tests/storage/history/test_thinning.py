"""What is kept of a series: time lines, a letter a row; a row every 20 seconds, three of them a minute."""

import pytest

from monitor.model.instant import MINUTE, SECOND
from monitor.model.sample import is_stale
from monitor.storage.column import Block
from monitor.storage.history.thinning import Thinned
from tests.storage.history.keeping import series

STEP = 20 * SECOND


def kept(line: str, other: str = "", cut: int = 0) -> str:
    """Return the line with a dot for what is not kept and a | for a marker; x is there, - is not."""
    block = Block()
    column, beside = block.column(series("a")), block.column(series("b"))
    for row, letter in enumerate(line):
        there = [column] if letter == "x" else []
        if not other or other[row] == "x":
            there.append(beside)
        # The first row is at the beginning of a minute, twenty seconds after its end.
        block.append((row + 1) * STEP, there, [float(row)] * len(there))
    times, values = Thinned(block, cut * MINUTE, 10**9).samples(column)
    found = dict(zip(times, values, strict=True))
    shown = ((row + 1) * STEP for row in range(len(line)))
    return "".join("." if at not in found else "|" if is_stale(found[at]) else "x" for at in shown)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("xxxxxxxxx", "..x..x..x", id="the last of each minute"),
        pytest.param("xxxxx", "..x.x", id="a minute that is not over has its newest"),
        pytest.param("---xxxxxx", "...x.x..x", id="where it begins"),
        pytest.param("xxxx-----", "..xx|....", id="where it ends, and what it was before"),
        pytest.param("----x----", "....x|...", id="twenty seconds"),
        pytest.param("xx-x-xxxx", ".x|x|x..x", id="every coming and going"),
        pytest.param("-x-x-x-x-", ".x|x|x|x|", id="all of what flickers"),
        pytest.param("---------", ".........", id="nothing"),
    ],
)
def test_what_is_kept(line: str, expected: str) -> None:
    assert kept(line) == expected


def test_what_began_or_ended_right_behind_the_last_look_is_seen() -> None:
    assert kept("---xxx", cut=1) == "...x.x"
    assert kept("xxx---", cut=1) == "...|.."
    assert kept("xxxxxx", cut=1) == ".....x"


def test_other_series_of_the_same_writer_come_and_go_by_themselves() -> None:
    assert kept("xxxxxx", other="x-x-x-") == "..x..x"
