"""The window after a restart: what the history knows, in the blocks of those who wrote it."""

import sqlite3
from pathlib import Path

import pytest

from monitor.model.instant import HOUR, MINUTE, SECOND, Instant
from monitor.promql import Engine, Vector, parse
from monitor.storage.db import FILE_NAME
from monitor.storage.history.filling import Filler
from monitor.storage.window import Window
from tests.storage.history.keeping import ALL, NAME, START, Keeper, minutes, series


def asked(window: Window, query: str, at: Instant) -> dict[str, float]:
    value = Engine(window).instant(parse(query), at).value
    assert isinstance(value, Vector)
    return {labels.value("k"): sample for labels, sample in value.samples}


def filled(keeper: Keeper, now: Instant, **longer: int) -> Window:
    window = Window(2 * HOUR)
    window.longer = longer
    Filler(keeper.history.reader, window, {"rule", ("a", 1)}, now).rest()
    return window


def test_a_series_is_filled_as_far_back_as_the_window_keeps_it(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    for at in minutes(5 * 60):
        keeper.write(at, {"a": 1.0} if at % (2 * MINUTE) else {"a": 1.0, "b": 1.0})
        keeper.save(at)
    now = START + 299 * MINUTE
    assert asked(filled(keeper, now), f"count_over_time({NAME}[1d])", now) == {"a": 120, "b": 60}
    assert asked(filled(keeper, now, **{NAME: 4 * HOUR}), f"count_over_time({NAME}[1d])", now) == {"a": 240, "b": 120}
    # Where it was not, it is not: at the last minute there is no b.
    assert asked(filled(keeper, now), NAME, now) == ({"a": 1, "b": 1} if now % (2 * MINUTE) == 0 else {"a": 1})


def test_a_writer_goes_on_behind_what_was_filled(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    for at in minutes(60):
        keeper.write(at, {"a": 1.0, "gone": 1.0})
        keeper.save(at)
    window = Window()
    filler = Filler(keeper.history.reader, window, {"rule"}, START + HOUR)
    # What is in the snapshot is not filled.
    filler.before("rule", START + 50 * MINUTE)
    block = window.block("rule")
    for at in minutes(10, START + 50 * MINUTE):
        block.append(at, [block.column(series("a"))], [5.0])
    filler.rest()
    end = START + 59 * MINUTE
    assert asked(window, f"sum_over_time({NAME}[1h])", end) == {"a": 49 + 10 * 5, "gone": 49}
    assert asked(window, NAME, end) == {"a": 5}


def test_a_counter_is_a_counter_again_and_rows_are_those_of_the_minutes(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    block = keeper.window.block(("a", 1))
    column, other = block.column(series("a"), counter=True), block.column(series("b"))
    for place, at in enumerate(range(START, START + 30 * MINUTE + 1, 5 * SECOND)):
        # It restarts in the middle; the other comes and goes at odd times, which must not be rows of this one.
        there = [column, other] if place % 17 < 3 else [column]
        block.append(at, there, [float(place % 180), 1.0][: len(there)])
    keeper.save(START + 30 * MINUTE)
    now = START + 30 * MINUTE
    window = filled(keeper, now)
    assert asked(window, f'count_over_time({NAME}{{k="a"}}[30m])', now) == {"a": 30}
    assert asked(window, f'resets({NAME}{{k="a"}}[31m])', now) == {"a": 2}
    (found,) = window.select((*ALL, *parse('{k="a"}').selectors[0].matchers))
    assert found.counter
    assert len(found.resets) == 2


def test_who_is_not_at_work_any_more_is_not_filled_and_a_file_that_cannot_be_read_is_no_error(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    keeper.write(START, {"a": 1.0}, owner="retired")
    keeper.save(START)
    assert filled(keeper, START + MINUTE).size() == (0, 0)
    keeper.history.close()
    assert filled(keeper, START + MINUTE).size() == (0, 0)


@pytest.mark.parametrize("owner", ["", "[", '{"other": 1}', '{"labels": 1}', "17"])
def test_of_a_damaged_owner_nothing_is_filled_and_of_the_others_all(tmp_path: Path, owner: str) -> None:
    keeper = Keeper(tmp_path)
    keeper.write(START, {"a": 1.0, "b": 2.0})
    keeper.save(START)
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("UPDATE history_series SET owner = ? WHERE id = 1", (owner,))
    connection.commit()
    connection.close()
    assert filled(keeper, START + MINUTE).size() == (1, 1)
