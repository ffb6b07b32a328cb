"""The newest minutes of the window, through a file."""

from collections.abc import Hashable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model.instant import SECOND
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import equal
from monitor.storage.db import StateError
from monitor.storage.snapshot import FILE_NAME, load, save
from monitor.storage.window import Window

OWNERS: tuple[Hashable, ...] = (("vllm", "http://a/metrics", Labels.of(job="vllm")), ("f", "g", 0))
NAMES = ("a", "b")
rows = st.lists(st.dictionaries(st.sampled_from(NAMES), st.floats(0, 100), max_size=2), min_size=1, max_size=20)


def filled(rows: list[dict[str, float]]) -> Window:
    window = Window()
    for number, row in enumerate(rows):
        for owner in OWNERS:
            write(window, owner, row, number)
    return window


def write(window: Window, owner: Hashable, row: dict[str, float], number: int) -> None:
    block = window.block(owner)
    place = str(OWNERS.index(owner))
    columns = [block.column(Labels.of({METRIC_NAME: name, "place": place}), counter=True) for name in row]
    block.append(number * SECOND, columns, list(row.values()))


def samples(window: Window, after: int) -> dict[str, list[tuple[int, float]]]:
    return {
        str(column.labels): list(zip(*column.between(after, 1000 * SECOND), strict=True))
        for name in NAMES
        for column in window.select((equal(METRIC_NAME, name),))
        if column.between(after, 1000 * SECOND)[0]
    }


@given(rows=rows, cut=st.integers(0, 20))
def test_what_comes_back_is_what_was_there_and_goes_on_as_it_would_have(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, float]], cut: int
) -> None:
    path = tmp_path_factory.mktemp("snapshot") / FILE_NAME
    before, after = filled(rows), Window()
    save(before, cut * SECOND, path)
    newest = load(after, cut * SECOND, path, OWNERS)
    assert newest == ((len(rows) - 1) * SECOND if cut < len(rows) else None)
    for window in (before, after):
        for owner in OWNERS:
            write(window, owner, {"b": 1.0}, len(rows))
    assert samples(after, cut * SECOND - 1) == samples(before, cut * SECOND - 1)
    for name in NAMES:
        matchers = (equal(METRIC_NAME, name), equal("place", "0"))
        now = {column.newest(0, len(rows) * SECOND) for column in after.select(matchers)} - {None}
        assert now == {column.newest(0, len(rows) * SECOND) for column in before.select(matchers)} - {None}


def test_a_block_whose_owner_is_not_at_work_any_more_stays_away(tmp_path: Path) -> None:
    save(filled([{"a": 1.0}]), 0, tmp_path / FILE_NAME)
    after = Window()
    assert load(after, 0, tmp_path / FILE_NAME, OWNERS[:1]) == 0
    assert after.owners() == OWNERS[:1]


def test_no_snapshot_is_no_error(tmp_path: Path) -> None:
    assert load(Window(), 0, tmp_path / FILE_NAME, OWNERS) is None


@given(noise=st.binary(max_size=200), at=st.integers(0, 400))
def test_a_damaged_snapshot_is_an_error_that_names_it(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int
) -> None:
    path = tmp_path_factory.mktemp("snapshot") / FILE_NAME
    save(filled([{"a": 1.0, "b": 2.0}] * 5), 0, path)
    whole = path.read_bytes()
    damaged = whole[:at] + noise
    path.write_bytes(damaged)
    if damaged.startswith(whole):
        return
    with pytest.raises(StateError, match=FILE_NAME):
        load(Window(), 0, path, OWNERS)


def test_a_snapshot_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME / "in the way").mkdir(parents=True)
    with pytest.raises(StateError, match=FILE_NAME):
        save(filled([{"a": 1.0}]), 0, tmp_path / FILE_NAME)
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]
