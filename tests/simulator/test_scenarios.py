"""The shipped scenarios tell the story that they promise."""

from collections.abc import Sequence
from itertools import groupby

import pytest

from monitor.model.instant import MINUTE, SECOND, Duration
from monitor.simulator.scenarios import HANG, HEALTHY_BURSTY, KILLED, OVERLOAD, SCENARIOS
from monitor.simulator.script import Scenario
from monitor.simulator.simulator import RefusedError, Simulator
from tests.simulator.reading import Reading

STEP = 5 * SECOND


def scrapes(scenario: Scenario) -> list[Reading | None]:
    """Return a reading every five seconds; None where the port was refused."""
    simulator = Simulator(scenario)
    seen: list[Reading | None] = []
    while simulator.now < simulator.end:
        simulator.advance(simulator.now + STEP)
        try:
            seen.append(Reading.of(simulator.page()))
        except RefusedError:
            seen.append(None)
    return seen


def longest(flags: Sequence[bool]) -> Duration:
    return max((len(list(run)) * STEP for flag, run in groupby(flags) if flag), default=0)


def after(seen: Sequence[Reading | None], offset: Duration) -> Reading:
    row = seen[offset // STEP - 1]
    assert row is not None
    return row


def test_every_scenario_has_its_name_and_a_summary() -> None:
    assert set(SCENARIOS) == {"overload", "healthy_bursty", "hang", "killed"}
    for name, scenario in SCENARIOS.items():
        assert scenario.name == name
        assert scenario.summary


def test_overload_is_calm_then_jammed_for_minutes_then_calm_then_down_then_back() -> None:
    seen = scrapes(OVERLOAD)
    assert all(row and row.waiting == 0 and row.kv < 0.6 for row in seen[: 2 * MINUTE // STEP])
    assert longest([bool(row and row.waiting > 10) for row in seen]) >= 7 * MINUTE
    jam = [after(seen, offset) for offset in range(5 * MINUTE, 12 * MINUTE, STEP)]
    assert min(row.kv for row in jam) < 0.8
    assert max(row.kv for row in jam) == 1.0
    # A rule that waits for the gauge to stay above 95 % waits in vain.
    assert longest([row.kv >= 0.95 for row in jam]) < MINUTE
    assert jam[-1].preemptions - jam[0].preemptions > 60
    calm = [after(seen, offset) for offset in range(13 * MINUTE, 15 * MINUTE, STEP)]
    assert all(row.waiting == 0 and row.kv < 0.6 for row in calm)
    assert calm[0].preemptions == calm[-1].preemptions
    assert longest([row is None for row in seen]) == pytest.approx(2 * MINUTE, abs=2 * STEP)
    assert sum(row is None for row in seen[: 15 * MINUTE // STEP]) == 0
    assert after(seen, 20 * MINUTE).generation_tokens < after(seen, 15 * MINUTE).generation_tokens


def test_healthy_bursts_queue_for_less_than_a_minute_and_never_for_blocks() -> None:
    seen = [row for row in scrapes(HEALTHY_BURSTY) if row]
    assert len(seen) == HEALTHY_BURSTY.duration // STEP
    high = [row.waiting > 10 for row in seen]
    assert sum(flag for flag, _ in groupby(high)) == 4
    assert longest(high) < MINUTE
    assert max(row.kv for row in seen) < 0.5
    assert seen[-1].preemptions == 0
    assert longest([row.running + row.waiting == 0 for row in seen]) >= MINUTE


def test_hang_has_six_minutes_without_a_token_and_all_gauges_still() -> None:
    seen = scrapes(HANG)
    stuck = [after(seen, offset) for offset in range(135 * SECOND, 490 * SECOND, STEP)]
    assert len(set(stuck)) == 1
    assert stuck[0].running > 0
    assert stuck[0].waiting == 0
    assert after(seen, 9 * MINUTE).generation_tokens > stuck[0].generation_tokens


def test_killed_is_down_for_four_minutes() -> None:
    seen = scrapes(KILLED)
    assert longest([row is None for row in seen]) == pytest.approx(4 * MINUTE, abs=2 * STEP)
    assert after(seen, 10 * MINUTE).running + after(seen, 9 * MINUTE).running > 0
