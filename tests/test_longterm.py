"""Window and history as one: every answer is that of one window that kept everything."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import pytest

from monitor.longterm import LongEngine, LongTerm, Stitched
from monitor.model.instant import HOUR, MINUTE, SECOND, Instant
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import equal
from monitor.promql import Engine, Matrix, PromqlError, Scalar, Vector, parse
from monitor.promql.reads import Stretch
from monitor.storage.history.keep import Keep
from monitor.storage.window import Window
from tests.storage.history.keeping import START, Keeper

KEEP = Keep(((equal(METRIC_NAME, "kept"),),))
END: Instant = START + 7 * HOUR
# Each reads what is in the window, what is in the history, or both.
QUERIES = (
    "kept",
    "kept offset 2h",
    'kept{k="a"}',
    "sum(kept)",
    "sum by (k) (kept) / on (k) sum by (k) (kept offset 90m)",
    "avg_over_time(kept[3h])",
    "max_over_time(kept[7h])",
    "sum_over_time(kept[61m])",
    "count_over_time(kept[30m])",
    "last_over_time(kept[5h])",
    "changes(kept[2h]) + count_over_time(kept[10m])",
    "quantile_over_time(0.9, kept[4h])",
    "max_over_time(sum(kept)[6h:7m])",
    "avg_over_time(kept[1h] offset 59m)",
    "kept @ start()",
    "kept @ end() - kept",
    f"kept @ {(START + 20 * MINUTE) // 1000}",
    "absent(kept)",
    'absent(kept{k="nobody"})',
    "count({k=~'.+'})",
    "scalar(sum(kept)) + vector(1)",
    "kept and lost",
    "lost",
)


@dataclass
class House:
    """A window that forgets and its history, beside one that does not."""

    keeper: Keeper
    everything: Window = field(default_factory=lambda: Window(10**15))
    since: Instant = -(2**62)

    def engine(self, now: Instant) -> LongEngine:
        long_term = LongTerm(self.keeper.window, self.keeper.history, self.since, self.since)
        return LongEngine(Engine(self.keeper.window), long_term, now)


def alive(name: str, minute: int) -> bool:
    """Series that are always there, that come, that go, and that come and go."""
    return {"a": True, "b": minute >= 200, "c": minute < 250, "d": minute % 90 < 40}[name]


@pytest.fixture(scope="module", params=[False, True], ids=["in one life", "with a restart"])
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    found = House(Keeper(tmp_path_factory.mktemp("long"), KEEP))
    dice = Random(1)  # noqa: S311 - a seeded test
    for minute in range(7 * 60 + 1):
        at = START + minute * MINUTE
        values = {name: dice.choice((1.0, 2.5, math.inf, dice.random())) for name in "abcd" if alive(name, minute)}
        if request.param and minute == 300:
            # What was written since is in the snapshot, which is not looked at here.
            found.keeper.save(at - MINUTE)
            found.keeper.restart()
            found.since = at
        for window in (found.keeper.window, found.everything):
            for name in ("kept", "lost"):
                block = window.block(name)
                columns = [block.column(Labels.of({METRIC_NAME: name, "k": k})) for k in values]
                if name == "kept" or at > END - HOUR:
                    block.append(at, columns, list(values.values()))
        found.keeper.save(at - MINUTE)
        found.keeper.window.prune(at)
    yield found
    found.keeper.history.close()


def plain(value: object) -> object:
    """Return an answer as what can be compared: NaN as a text, no order."""
    if isinstance(value, Vector):
        return sorted((labels, str(sample)) for labels, sample in value.samples)
    if isinstance(value, Matrix):
        return [(one.labels, list(one.times), list(map(str, one.values))) for one in value.series]
    assert isinstance(value, Scalar)
    return str(value.value)


@pytest.mark.parametrize("query", QUERIES)
def test_an_instant_query_sees_no_seam(house: House, query: str) -> None:
    plan, whole = parse(query), Engine(house.everything)
    for back in (0, MINUTE, 59 * MINUTE, 61 * MINUTE, 3 * HOUR, 6 * HOUR + 30 * SECOND):
        at = END - back
        assert plain(house.engine(END).instant(plan, at).value) == plain(whole.instant(plan, at).value), back


@pytest.mark.parametrize("query", QUERIES)
def test_a_range_query_sees_no_seam(house: House, query: str) -> None:
    plan, whole = parse(query), Engine(house.everything)
    for start, end, step in (
        (START, END, 7 * MINUTE),
        (END - 90 * MINUTE, END, 47 * SECOND),
        (START, START + HOUR, MINUTE),
    ):
        expected = plain(whole.range(plan, start, end, step).value)
        assert plain(house.engine(END).range(plan, start, end, step).value) == expected


def test_what_reaches_back_is_a_sample_a_minute_all_along_and_what_does_not_is_all_there_is(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    for at in range(START, START + 2 * HOUR + 1, 5 * SECOND):
        keeper.write(at, {"a": (at - START) / SECOND})
        if at % MINUTE == 0:
            keeper.save(at - MINUTE)
            keeper.window.prune(at)
    end = START + 2 * HOUR
    engine = LongEngine(Engine(keeper.window), LongTerm(keeper.window, keeper.history, START, START), end)

    def answer(query: str, at: Instant) -> list[float]:
        value = engine.instant(parse(query), at).value
        assert isinstance(value, Vector)
        return [sample for _, sample in value.samples]

    assert answer("count_over_time(kept[30m])", end) == [30 * 12]
    assert answer("count_over_time(kept[90m])", end) == [90]
    assert answer("avg_over_time(kept[90m])", end) == [7200 - 45 * 60 + 30]
    # The minute that is not over has its newest sample.
    assert answer("last_over_time(kept[90m])", end - 25 * SECOND) == [7175]
    keeper.history.close()


def test_where_nothing_older_was_kept_the_window_is_all_there_is_however_far_a_query_reaches(
    tmp_path: Path,
) -> None:
    keeper = Keeper(tmp_path)
    for at in range(START, START + 10 * MINUTE + 1, 5 * SECOND):
        keeper.write(at, {"a": 1.0})
        if at % MINUTE == 0:
            keeper.save(at - MINUTE)
    end = START + 10 * MINUTE
    engine = LongEngine(Engine(keeper.window), LongTerm(keeper.window, keeper.history, START - 1, START - 1), end)
    value = engine.instant(parse("count_over_time(kept[6h])"), end).value
    assert isinstance(value, Vector)
    assert [sample for _, sample in value.samples] == [10 * 12 + 1]
    keeper.history.close()


def test_more_than_there_is_room_for_is_an_error_before_it_is_read(house: House) -> None:
    long_term = LongTerm(house.keeper.window, house.keeper.history, house.since, house.since)
    matchers = parse("kept").selectors[0].matchers
    stitched = Stitched(long_term, {matchers: Stretch(START, END, at_steps=False)}, range(END, END + 1), END, most=500)
    with pytest.raises(PromqlError, match="too many samples from the history: more than 500"):
        stitched.select(matchers)


def test_of_a_selector_only_what_the_steps_see_is_held(house: House) -> None:
    long_term = LongTerm(house.keeper.window, house.keeper.history, house.since, house.since)
    matchers, steps = parse("kept").selectors[0].matchers, range(START, END - 2 * HOUR, HOUR)
    stretch = Stretch(START - 5 * MINUTE, steps[-1], at_steps=True)
    # Some thousand samples are read, and of four series at most one a step held.
    assert Stitched(long_term, {matchers: stretch}, steps, END, most=100).select(matchers)
    with pytest.raises(PromqlError, match="more than 100"):
        Stitched(long_term, {matchers: replace(stretch, at_steps=False)}, steps, END, most=100).select(matchers)


def test_series_that_are_gone_from_the_window_are_listed(house: House) -> None:
    long_term = LongTerm(house.keeper.window, house.keeper.history, house.since, house.since)
    found = long_term.labels((equal(METRIC_NAME, "kept"),), START, START + HOUR)
    assert sorted(labels.value("k") for labels in found) == ["a", "c", "d"]
