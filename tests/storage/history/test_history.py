"""What the history has taken in stands in it until its time is over, bit for bit."""

import math
import sqlite3
import struct
import tempfile
from array import array
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.model.instant import DAY, HOUR, MINUTE, Instant
from monitor.model.sample import STALE
from monitor.storage.db import FILE_NAME, DamagedStateError
from monitor.storage.history.keep import Keep
from tests.storage.history.keeping import ALL, START, Keeper, bits, minutes, series

# Ordinary NaN, one with a payload of its own, both infinities and both zeros.
ODD = (math.nan, struct.unpack("<d", struct.pack("<Q", 0x7FF8_0000_0000_0BAD))[0], math.inf, -math.inf, -0.0, 0.0)
VALUES = st.one_of(st.none(), st.sampled_from(ODD), st.floats(allow_nan=False), st.integers(0, 9).map(float))
# A row of two series, how long it is until the next one, and whether the daemon is killed in between.
ROWS = st.lists(
    st.tuples(VALUES, VALUES, st.sampled_from((MINUTE, MINUTE, MINUTE, 7 * MINUTE, HOUR, DAY)), st.booleans()),
    min_size=1,
    max_size=30,
)
Row = tuple[float | None, float | None, int, bool]


@settings(max_examples=30, deadline=None)
@given(ROWS)
def test_what_was_appended_is_read_back_bit_for_bit_over_folding_and_restarts(rows: list[Row]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        keeper = Keeper(Path(folder))
        expected: dict[str, list[tuple[Instant, bytes]]] = {"a": [], "b": []}
        there: set[str] = set()
        at = START
        for a, b, step, killed in rows:
            values = {name: value for name, value in (("a", a), ("b", b)) if value is not None}
            keeper.write(at, values)
            for name in expected:
                if name in values or name in there:
                    expected[name] += bits([at], [values.get(name, STALE)])
            there = set(values)
            keeper.save(at)
            if killed:
                keeper.restart()
                # Of a window that begins anew nobody knows what was there before.
                there = set()
            at += step
        for _ in range(3):
            keeper.save(at + DAY)
        assert keeper.read() == {name: samples for name, samples in expected.items() if samples}
        assert keeper.counted.failures == keeper.counted.damages == 0
        keeper.history.close()


def test_hours_become_days_and_the_head_is_emptied(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    for at in minutes(26 * 60):
        keeper.write(at, {"a": at / MINUTE, "b": 1.0})
        keeper.save(at)
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    chunks = connection.execute("SELECT span, COUNT(*), SUM(samples) FROM history_chunk GROUP BY span").fetchall()
    ((head,),) = connection.execute("SELECT COUNT(*) FROM history_head").fetchall()
    connection.close()
    # An hour and a half of the first day, all of the second; what began since is not folded yet.
    assert chunks == [(DAY, 4, 2 * (91 + 1440))]
    assert head == 26 * 60 - 91 - 1440
    assert [at for at, _ in keeper.read()["a"]] == list(minutes(26 * 60))


def test_what_is_older_than_the_retention_is_deleted_a_day_at_a_time_and_its_series_with_it(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, Keep((ALL,), 3 * DAY))
    for at in minutes(6 * 24, step=HOUR):
        keeper.write(at, {"gone": 1.0} if at < START + DAY else {"here": 1.0})
        keeper.save(at)
    found = keeper.read()
    assert list(found) == ["here"]
    oldest = found["here"][0][0]
    assert START + 2 * DAY <= oldest <= START + 3 * DAY
    assert keeper.history.size()[1] == 1


def test_what_was_kept_is_forgotten_when_nothing_is_kept_any_more(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    for at in minutes(30):
        keeper.write(at, {"a": 1.0})
        keeper.save(at)
    keeper.restart()
    keeper.history.keep = Keep((ALL,), 0)
    began = START + 3 * DAY
    for at in minutes(50, began):
        keeper.write(at, {"a": 2.0})
        keeper.save(at)
    assert len(keeper.read()["a"]) == 30, "within the hour a slip of the pen can be taken back"
    for at in minutes(80, began + 50 * MINUTE):
        keeper.write(at, {"a": 2.0})
        keeper.save(at)
    assert keeper.read() == {}
    assert keeper.history.size()[1:] == (0, 0)
    keeper.history.keep = Keep((ALL,))
    last = began + 130 * MINUTE
    keeper.write(last, {"a": 3.0})
    keeper.save(last)
    assert keeper.read()["a"] == bits([last], [3.0])


def test_a_clock_that_is_a_year_ahead_at_the_start_costs_nothing_if_it_is_set_within_the_hour(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    for at in minutes(120):
        keeper.write(at, {"a": 1.0})
        keeper.save(at)
    keeper.restart()
    wrong = START + 120 * MINUTE + 365 * DAY
    for at in minutes(30, wrong):
        keeper.write(at, {"a": 2.0})
        keeper.save(at)
    keeper.window.shift(-365 * DAY)
    keeper.history.shift(-365 * DAY)
    for at in minutes(90, START + 150 * MINUTE):
        keeper.write(at, {"a": 3.0})
        keeper.save(at)
    assert [at for at, _ in keeper.read()["a"]] == list(minutes(240))


def test_a_time_that_comes_a_second_time_keeps_what_was_there_first(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    for at in minutes(90):
        keeper.write(at, {"a": 1.0})
        keeper.save(at)
    # The daemon was down while somebody set the clock back by half an hour.
    keeper.restart()
    for at in minutes(90, START + 60 * MINUTE):
        keeper.write(at, {"a": 2.0})
        keeper.save(at)
    found = [struct.unpack("<d", value)[0] for _, value in keeper.read()["a"]]
    assert found == [1.0] * 90 + [2.0] * 60


def test_a_damaged_chunk_is_set_aside_and_counted_and_the_others_are_read(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    for at in minutes(130):
        keeper.write(at, {"a": 1.0, "b": 2.0})
        keeper.save(at)
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("UPDATE history_chunk SET body = X'00' WHERE series = 1")
    connection.execute("UPDATE history_head SET body = X'789C00' WHERE number = (SELECT MIN(number) FROM history_head)")
    connection.commit()
    found = keeper.read()
    assert (len(found["a"]), len(found["b"])) == (130 - 91 - 1, 129)
    assert keeper.counted.damages == 2
    assert connection.execute("SELECT COUNT(*) FROM history_damaged").fetchone() == (2,)
    connection.close()
    keeper.read()
    assert keeper.counted.damages == 2


@pytest.mark.parametrize("labels", ["", "[", "17", '[["__name__"]]', "[1, 2]", b'[["__name__", "kept"], ["k", "\xff'])
def test_a_series_whose_labels_are_damaged_is_left_out_and_counted_once(tmp_path: Path, labels: str | bytes) -> None:
    keeper = Keeper(tmp_path)
    for at in minutes(3):
        keeper.write(at, {"a": 1.0, "b": 2.0})
        keeper.save(at)
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("UPDATE history_series SET labels = CAST(? AS TEXT) WHERE id = 1", (labels,))
    connection.commit()
    connection.close()
    keeper.restart()
    for _ in range(2):
        assert list(keeper.read()) == ["b"]
        assert keeper.history.reader.labels(ALL, START - 1, START + HOUR) == [series("b")]
    assert keeper.counted.damages == 1
    keeper.write(START + 3 * MINUTE, {"a": 3.0, "b": 3.0})
    keeper.save(START + 3 * MINUTE)
    assert keeper.read()["a"] == bits([START + 3 * MINUTE], [3.0])
    assert keeper.counted.failures == 0


def test_damaged_tables_cost_the_history_and_nothing_else(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    keeper.write(START, {"a": 1.0})
    keeper.save(START)
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'history_head'").fetchone()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    keeper.history.close()
    with (tmp_path / FILE_NAME).open("r+b") as file:
        file.seek((page - 1) * 1024)
        file.write(b"\xff" * 1024)
    again = Keeper(tmp_path)
    assert again.counted.damages == 1
    for at in minutes(2, START + 10 * MINUTE):
        again.write(at, {"a": 1.0})
        again.save(at)
    assert [at for at, _ in again.read()["a"]] == list(minutes(2, START + 10 * MINUTE))


@pytest.mark.parametrize(
    ("table", "left"),
    [("history_chunk", 3_000), ("sqlite_autoindex_history_chunk_1", 75 * 60), ("history_series", 3_000)],
)
def test_of_a_table_with_a_damaged_page_the_rest_is_saved_when_somebody_meets_it(
    tmp_path: Path, table: str, left: int
) -> None:
    keeper = Keeper(tmp_path)
    names = [str(number) for number in range(75)]
    for at in minutes(60, START + 30 * MINUTE):
        keeper.write(at, {name: math.sin(at + int(name)) for name in names})
        keeper.save(at)
    last = START + 90 * MINUTE
    keeper.save(last)
    keeper.history.close()
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        # The root of a tree has the numbers of its leaves.
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file = tmp_path / FILE_NAME
    leaf = int.from_bytes(file.read_bytes()[(page - 1) * 1024 + 8 :][:4], "big")
    with file.open("r+b") as written:
        written.seek((leaf - 1) * 1024)
        written.write(b"\xff" * 1024)
    again = Keeper(tmp_path)
    # Some of it is met when the file is opened, some by a query.
    with suppress(DamagedStateError):
        again.read()
    again.write(last + MINUTE, {"new": 1.0})
    again.save(last + MINUTE)
    again.save(last + MINUTE)
    found = again.read()
    assert found.pop("new") == bits([last + MINUTE], [1.0])
    assert left <= sum(map(len, found.values())) <= 75 * 60
    assert (again.counted.damages, again.counted.failures) == (1, 0)


def test_a_full_disk_loses_nothing_that_the_window_still_has(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    keeper.write(START, {"a": 1.0})
    keeper.save(START)
    keeper.history._file._connection.execute("PRAGMA max_page_count=1")
    body = {str(number): float(number) for number in range(300)}
    for at in minutes(20, START + MINUTE):
        keeper.write(at, body)
        keeper.save(at)
    assert keeper.counted.failures == 20
    keeper.history._file._connection.execute("PRAGMA max_page_count=1000000")
    keeper.save(START + 20 * MINUTE)
    assert len(keeper.read()["7"]) == 20


def test_series_beyond_the_limit_are_left_out_and_counted(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, most_series=3)
    for at in minutes(5):
        keeper.write(at, {str(at): 1.0, "always": 1.0})
        keeper.save(at)
    assert len(keeper.read()) == 3
    assert len(keeper.read()["always"]) == 5
    # Three that came later, and of two of them the end.
    assert keeper.counted.left_out == 5


def test_a_file_that_cannot_be_read_at_the_start_is_gone_on_with_when_it_can(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    keeper.write(START, {"a": 1.0, "b": 2.0})
    keeper.save(START)
    keeper.history.close()
    connection = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    connection.execute("ALTER TABLE history_head RENAME TO elsewhere")
    again = Keeper(tmp_path)
    again.write(START + MINUTE, {"new": 3.0})
    again.save(START + MINUTE)
    assert again.counted.failures == 2
    connection.execute("ALTER TABLE elsewhere RENAME TO history_head")
    connection.close()
    again.write(START + 2 * MINUTE, {"a": 4.0})
    again.save(START + 2 * MINUTE)
    assert again.read() == {
        "a": bits([START, START + 2 * MINUTE], [1.0, 4.0]),
        "b": bits([START], [2.0]),
        "new": bits([START + MINUTE, START + 2 * MINUTE], [3.0, STALE]),
    }


def test_a_series_that_comes_back_when_all_that_was_known_of_it_is_deleted_is_kept(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    for at in minutes(120):
        keeper.write(at, {"a": 1.0, "always": 1.0})
        keeper.save(at)
    back = START + 40 * DAY + 5 * MINUTE
    for at in minutes(90, back):
        keeper.write(at, {"a": 2.0})
        keeper.save(at)
    assert [at for at, _ in keeper.read(after=back - 1)["a"]] == list(minutes(90, back))


def test_an_hour_of_more_series_than_are_opened_at_once_is_folded_whole(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    names = [str(number) for number in range(1_100)]
    for at in minutes(4, START + 28 * MINUTE):
        keeper.write(at, {name: float(name) for name in names})
        keeper.save(at)
    found = keeper.read()
    assert found == {name: bits(minutes(4, START + 28 * MINUTE), [float(name)] * 4) for name in names}
    assert keeper.history.size()[1:] == (1_100, 1_100)


def test_two_writers_of_a_series_are_one_series(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    keeper.write(START, {"a": 1.0}, owner="one")
    keeper.write(START + MINUTE, {"a": 2.0}, owner="other")
    keeper.save(START + MINUTE)
    assert keeper.read()["a"] == bits(array("q", [START, START + MINUTE]), [1.0, 2.0])
