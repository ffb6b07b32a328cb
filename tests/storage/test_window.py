"""The window against a plain model: a dictionary of samples for each series."""

import threading
import time
import weakref
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from monitor.model.instant import HOUR, MINUTE, SECOND
from monitor.model.labels import Labels
from monitor.model.matcher import Matcher, MatchType, equal
from monitor.model.sample import STALE, is_stale
from monitor.storage.column import Block, Column
from monitor.storage.window import Window

NAMES = ("a", "b", "c")
rows = st.lists(st.dictionaries(st.sampled_from(NAMES), st.floats(0, 100), max_size=3), min_size=1, max_size=30)


def series(name: str, **labels: str) -> Labels:
    return Labels.of(labels, __name__=name)


def write(window: Window, row: dict[str, float], at: int, owner: str = "target") -> bool:
    block = window.block(owner)
    columns = [block.column(series(name), counter=True) for name in row]
    return block.append(at, columns, list(row.values()))


def one(window: Window, name: str) -> Column | None:
    found = window.select((equal("__name__", name),))
    return found[0] if found else None


@given(rows=rows, span=st.tuples(st.integers(-1, 31), st.integers(-1, 31)), pruned=st.integers(0, 20))
def test_a_column_answers_like_a_plain_list_of_samples(
    rows: list[dict[str, float]], span: tuple[int, int], pruned: int
) -> None:
    window = Window(retention=0)
    for number, row in enumerate(rows):
        write(window, row, number * SECOND)
    window.prune(pruned * SECOND)
    after, until = min(span) * SECOND, max(span) * SECOND
    for name in NAMES:
        plain = [(n * SECOND, row[name]) for n, row in enumerate(rows) if name in row and n >= pruned]
        column = one(window, name)
        inside = [(at, value) for at, value in plain if after < at <= until]
        got = list(zip(*column.between(after, until), strict=True)) if column is not None else []
        assert got == inside
        newest = max((n for n in range(len(rows)) if after < n * SECOND <= until and n >= pruned), default=None)
        expected = None
        if newest is not None and name in rows[newest]:
            expected = (newest * SECOND, rows[newest][name])
        assert (column.newest(after, until) if column is not None else None) == expected


@given(rows=rows)
def test_the_noted_resets_are_those_that_a_scan_finds(rows: list[dict[str, float]]) -> None:
    window = Window()
    for number, row in enumerate(rows):
        write(window, row, number * SECOND)
    for name in NAMES:
        plain = [(number, row[name]) for number, row in enumerate(rows) if name in row]
        falls = [row for (_, before), (row, value) in pairwise(plain) if value < before]
        column = one(window, name)
        assert falls == ([] if column is None else column.resets)


def test_a_vanished_series_has_one_marker_and_costs_nothing_more() -> None:
    window = Window()
    for second in range(10):
        write(window, {"a": 1.0, "b": 2.0} if second < 3 else {"a": 1.0}, second * SECOND)
    column = one(window, "b")
    assert column is not None
    values = column.view[0]
    assert list(values[:3]) == [2.0, 2.0, 2.0]
    assert len(values) == 4
    assert is_stale(values[3])


def test_a_series_that_comes_back_after_it_was_pruned_is_found_again() -> None:
    window = Window(retention=MINUTE)
    block = window.block("target")
    column = block.column(series("a"))
    block.append(0, (column,), (1.0,))
    for at in range(1, 20):
        block.append(at * MINUTE, (), ())
        window.prune(at * MINUTE)
    assert window.select((equal("__name__", "a"),)) == ()
    block.append(20 * MINUTE, (column,), (7.0,))
    assert [found.newest(0, 20 * MINUTE) for found in window.select((equal("__name__", "a"),))] == [(20 * MINUTE, 7.0)]


def test_what_is_read_further_back_is_kept_longer_and_nothing_else_is() -> None:
    window = Window(retention=MINUTE)
    window.longer = {"recorded": HOUR}
    for minute in range(120):
        write(window, {"raw": 1.0}, minute * MINUTE, owner="target")
        write(window, {"recorded": 1.0}, minute * MINUTE, owner="rule")
        window.prune(minute * MINUTE)
    raw, recorded = one(window, "raw"), one(window, "recorded")
    assert raw is not None
    assert recorded is not None
    assert len(raw.view[0]) == 2
    # An eighth more is let come together before it is cut off.
    assert 60 < len(recorded.view[0]) < 69


def test_time_never_runs_backwards_in_storage() -> None:
    window = Window()
    assert write(window, {"a": 1.0}, 10 * SECOND)
    assert not write(window, {"a": 2.0}, 10 * SECOND)
    assert not write(window, {"a": 3.0}, 9 * SECOND)
    column = one(window, "a")
    assert column is not None
    assert list(column.view[0]) == [1.0]


def test_the_end_of_an_owner_marks_all_its_series_stale() -> None:
    window = Window()
    write(window, {"a": 1.0}, SECOND, owner="gone")
    window.end("gone", 2 * SECOND)
    column = one(window, "a")
    assert column is not None
    assert column.newest(0, 2 * SECOND) is None
    assert column.newest(0, SECOND) == (SECOND, 1.0)


def test_an_owner_ends_even_when_its_samples_lie_ahead() -> None:
    window = Window(retention=0)
    write(window, {"a": 1.0}, 400 * SECOND)
    window.end("target", SECOND)
    column = one(window, "a")
    assert column is not None
    assert column.newest(0, 400 * SECOND) == (400 * SECOND, 1.0)
    assert column.newest(0, HOUR) is None
    window.prune(HOUR)
    assert (window.size(), window.owners()) == ((0, 0), ())


def test_an_ended_owner_is_forgotten_with_its_last_sample_and_one_that_goes_on_is_not() -> None:
    window = Window(retention=MINUTE)
    write(window, {"a": 1.0}, 0, owner="gone")
    write(window, {"b": 1.0}, 0, owner="stays")
    window.end("gone", SECOND)
    window.block("stays").append(SECOND, (), ())
    window.prune(HOUR)
    assert window.owners() == ("stays",)


def test_two_writers_of_the_same_series_are_read_as_one() -> None:
    window = Window()
    write(window, {"a": 1.0}, SECOND, owner="old")
    window.end("old", 2 * SECOND)
    write(window, {"a": 5.0}, 3 * SECOND, owner="new")
    (column,) = window.select((equal("__name__", "a"),))
    assert list(zip(*column.between(0, HOUR), strict=True)) == [(SECOND, 1.0), (3 * SECOND, 5.0)]
    assert column.newest(0, 2 * SECOND) is None


def test_a_writer_whose_series_is_missing_for_long_takes_nothing_of_anothers() -> None:
    window = Window()
    for at in (1, 2, 3, 4, 5):
        write(window, {"a": 1.0} if at in (1, 5) else {}, at, owner="comes and goes")
        write(window, {"a": 2.0}, at, owner="stays")
    (column,) = window.select((equal("__name__", "a"),))
    # At 2 the first writer says that the series has ended, and after that nothing until it is back.
    assert list(zip(*column.between(0, HOUR), strict=True)) == [(1, 1.0), (3, 2.0), (4, 2.0), (5, 1.0)]


def test_select_remembers_until_the_set_of_series_changes() -> None:
    window = Window()
    write(window, {"a": 1.0}, SECOND)
    matchers = (Matcher("__name__", MatchType.REGEX, "a|b"),)
    first = window.select(matchers)
    write(window, {"a": 2.0}, 2 * SECOND)
    assert window.select(matchers) is first
    write(window, {"a": 2.0, "b": 1.0}, 3 * SECOND)
    assert [column.labels.name for column in window.select(matchers)] == ["a", "b"]


def test_matchers_take_a_missing_label_for_an_empty_one() -> None:
    window = Window()
    block = window.block("target")
    present: Sequence[Column] = (block.column(series("a", x="1")), block.column(series("a")))
    block.append(SECOND, present, (1.0, 2.0))
    by_x = {
        value: [c.newest(0, SECOND) for c in window.select((equal("__name__", "a"), equal("x", value)))]
        for value in ("", "1")
    }
    assert by_x == {"": [(SECOND, 2.0)], "1": [(SECOND, 1.0)]}


def test_a_marker_is_not_an_ordinary_nan() -> None:
    assert is_stale(STALE)
    assert not is_stale(float("nan"))


def test_what_is_remembered_of_selectors_is_bounded() -> None:
    window = Window()
    write(window, {"a": 1.0}, SECOND)
    first = window.select((equal("__name__", "a"),))
    assert window.select((equal("__name__", "a"),)) is first
    for number in range(2_000):
        window.select((equal("__name__", "a"), Matcher("x", MatchType.NOT_EQUAL, str(number))))
    assert len(window._found) <= 1_000
    assert window.select((equal("__name__", "a"),)) == first


def test_a_writer_whose_series_come_back_and_a_reader_that_prunes_do_not_wait_for_each_other() -> None:
    window = Window(retention=0)
    block = window.block("target")
    back = [block.column(series("a", number=str(number))) for number in range(3000)]
    stays = [block.column(series("b"))]
    for round_ in range(10, 100, 10):
        block.append(round_, back + stays, [1.0] * 3001)
        for at in range(1, 5):
            block.append(round_ + at, stays, [1.0])
        window.prune(round_ + 4)  # the series of `back` are gone, the writer holds them still
        threads = [
            threading.Thread(target=block.append, args=(round_ + 5, back + stays, [2.0] * 3001), daemon=True),
            threading.Thread(target=window.prune, args=(round_ + 5,), daemon=True),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        assert len(window.select((equal("__name__", "a"),))) == 3000


class Text(str):
    """A label's value of which one can ask whether anybody still has it."""

    __slots__ = ("__weakref__",)


def test_labels_that_never_come_again_are_forgotten_with_their_series() -> None:
    window = Window(retention=0)
    block = window.block("target")
    values: list[weakref.ref[Text]] = []
    for at in range(100):
        texts = [Text(f"{at}-{number}") for number in range(100)]
        values += map(weakref.ref, texts)
        block.append(at, [block.column(series("a", request=text)) for text in texts], [1.0] * 100)
        window.prune(at)
    del texts
    assert sum(value() is not None for value in values) < 3000


def test_of_two_rows_of_the_same_time_that_are_written_at_once_one_is_refused() -> None:
    inside, outcome = threading.Event(), list[bool]()

    def adopt(_: Column) -> None:
        if waiting.is_set():
            inside.set()
            time.sleep(0.1)

    waiting, block = threading.Event(), Block(adopt)
    column = block.column(series("a"))
    block.prune(0)
    waiting.set()
    first = threading.Thread(target=lambda: outcome.append(block.append(SECOND, (column,), (1.0,))))
    first.start()
    assert inside.wait(60)
    outcome.append(block.append(SECOND, (column,), (2.0,)))
    first.join()
    assert sorted(outcome) == [False, True]
    assert list(block.view[0]) == [SECOND]


def test_series_of_which_no_row_is_left_are_forgotten_and_may_come_back() -> None:
    window = Window(retention=MINUTE)
    block = window.block("target")
    columns = [block.column(series("a"), counter=True)]
    block.append(SECOND, columns, [5.0])
    window.prune(HOUR)
    assert window.size() == (0, 0)
    block.append(HOUR, columns, [3.0])
    block.append(HOUR + SECOND, columns, [4.0])
    column = one(window, "a")
    assert column is not None
    assert (list(column.view[0]), column.gaps, column.resets) == ([3.0, 4.0], [], [])
