"""Under the load of a recording, the simulated server behaves as the recorded one did."""

from collections.abc import Sequence
from itertools import groupby

import pytest

from monitor.model.instant import MINUTE, SECOND
from monitor.simulator.script import Lengths, Phase, exactly
from tests.recorded import Recording
from tests.simulator.reading import Reading, play, readings

# The recorded overload, between its ramp and the end of its clients: seconds of vllm-0.32.0-overload-1s.
STEADY = range(122, 212)
WINDOW = 30
LOAD = Phase(at=0, duration=3 * MINUTE, clients=50, prompt=exactly(64), output=exactly(380), think=Lengths(0, 400))


def recorded() -> list[Reading]:
    pages = Recording.load("vllm-0.32.0-overload-1s").pages
    return [Reading.of(pages[second] or "") for second in STEADY]


def simulated(seed: int) -> list[Reading]:
    # The first ten seconds are the ramp.
    return list(readings(play(LOAD, seed=seed), 10 * SECOND + len(STEADY) * SECOND))[10:]


def share(rows: Sequence[Reading], level: float) -> float:
    return sum(row.kv >= level for row in rows) / len(rows)


def longest_run(rows: Sequence[Reading], level: float) -> int:
    runs = groupby(rows, key=lambda row: row.kv >= level)
    return max((len(list(run)) for high, run in runs if high), default=0)


def windows(values: Sequence[float]) -> list[Sequence[float]]:
    return [values[begin : begin + WINDOW] for begin in range(len(values) - WINDOW + 1)]


def per_second(rows: Sequence[Reading], name: str) -> float:
    first, last = getattr(rows[0], name), getattr(rows[-1], name)
    return float(last - first) / (len(rows) - 1)


@pytest.fixture(scope="module")
def real() -> list[Reading]:
    return recorded()


@pytest.fixture(scope="module", params=[1, 2, 3], ids=lambda seed: f"seed {seed}")
def ours(request: pytest.FixtureRequest) -> list[Reading]:
    return simulated(request.param)


def test_the_kv_gauge_is_high_about_as_often_as_in_the_recording(ours: list[Reading], real: list[Reading]) -> None:
    assert share(real, 0.95) == pytest.approx(0.57, abs=0.05)
    assert share(ours, 0.95) == pytest.approx(share(real, 0.95), abs=0.2)
    assert share(ours, 0.80) == pytest.approx(share(real, 0.80), abs=0.2)


def test_the_kv_gauge_never_stays_high_for_long(ours: list[Reading], real: list[Reading]) -> None:
    assert longest_run(real, 0.95) <= WINDOW
    assert longest_run(ours, 0.95) <= WINDOW


def test_the_kv_gauge_swings_from_below_three_quarters_to_full(ours: list[Reading], real: list[Reading]) -> None:
    for rows in (ours, real):
        assert min(row.kv for row in rows) < 0.75
        assert max(row.kv for row in rows) == 1.0


def test_every_half_minute_of_overload_sees_a_full_pool_and_a_long_queue(
    ours: list[Reading], real: list[Reading]
) -> None:
    for rows in (ours, real):
        # One block of 99 is what may be missing.
        assert min(max(window) for window in windows([row.kv for row in rows])) >= 98 / 99
        assert min(min(window) for window in windows([row.waiting for row in rows])) >= 10


def test_preemptions_and_tokens_come_at_the_recorded_pace(ours: list[Reading], real: list[Reading]) -> None:
    for name in ("preemptions", "generation_tokens", "prompt_tokens", "iterations"):
        assert per_second(ours, name) == pytest.approx(per_second(real, name), rel=0.5), name


def test_victims_go_back_to_the_queue_so_that_the_sum_stays(ours: list[Reading]) -> None:
    assert min(row.running for row in ours) <= 9
    assert max(row.running for row in ours) == 16
    assert {row.running + row.waiting for row in ours} <= set(range(40, 51))
