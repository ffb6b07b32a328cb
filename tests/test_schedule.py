"""Ticks on aligned slots, on a clock that steps."""

import threading
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Self

import pytest

from monitor.clock import SystemClock
from monitor.model.instant import DAY, HOUR, MINUTE, SECOND, Instant
from monitor.schedule import EVALUATE, NOTIFY, SCRAPE, Schedule, newest_time
from tests.waiting import until

INTERVAL = 100


@dataclass
class SteppingClock:
    """The machine's clock, shifted by as much as a test says."""

    shift: int = 0

    def now(self) -> Instant:
        return SystemClock().now() + self.shift


@dataclass
class Watched:
    """A schedule whose ticks are noted."""

    clock: SteppingClock = field(default_factory=SteppingClock)
    slots: list[Instant] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    missed: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.schedule = Schedule(self.clock, self.failed.append, lambda _, slots: self.missed.append(slots))

    def __enter__(self) -> Self:
        self.schedule.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.schedule.stop()


def test_ticks_come_with_the_multiples_of_their_interval_each_once() -> None:
    with Watched() as watched:
        watched.schedule.every(INTERVAL, SCRAPE, watched.slots.append)
        until(lambda: len(watched.slots) >= 4, within=5)
    assert all(slot % INTERVAL == 0 for slot in watched.slots)
    assert watched.slots == sorted(set(watched.slots))


def test_a_clock_that_is_set_back_repeats_no_slot() -> None:
    with Watched() as watched:
        watched.schedule.every(INTERVAL, SCRAPE, watched.slots.append)
        until(lambda: watched.slots, within=5)
        watched.clock.shift = -HOUR
        threading.Event().wait(0.3)
    assert watched.slots == sorted(set(watched.slots))


def test_a_clock_that_leaps_ahead_leaves_slots_out_and_counts_them() -> None:
    with Watched() as watched:
        watched.schedule.every(INTERVAL, SCRAPE, watched.slots.append)
        until(lambda: watched.slots, within=5)
        watched.clock.shift = HOUR
        # A busy machine may leave slots out before and after.
        until(lambda: max(watched.missed, default=0) >= HOUR // INTERVAL - 2, within=5)
        seen = len(watched.slots)
        until(lambda: len(watched.slots) > seen, within=5)
    assert max(after - before for before, after in pairwise(watched.slots)) >= HOUR - 2 * INTERVAL


def test_a_tick_that_raises_is_counted_and_the_next_one_comes() -> None:
    with Watched() as watched:

        def fail(slot: Instant) -> None:
            watched.slots.append(slot)
            raise KeyError(slot)

        watched.schedule.every(INTERVAL, EVALUATE, fail)
        until(lambda: len(watched.slots) >= 3, within=5)
    assert watched.failed[:2] == [EVALUATE, EVALUATE]


def test_a_slow_part_does_not_hold_up_another() -> None:
    release = threading.Event()
    with Watched() as watched:

        def hang(_: Instant) -> None:
            release.wait(120)

        watched.schedule.every(INTERVAL, SCRAPE, hang)
        watched.schedule.every(INTERVAL, EVALUATE, watched.slots.append)
        until(lambda: len(watched.slots) >= 3, within=5)
        release.set()


def test_a_single_job_that_is_named_again_takes_the_place_of_the_first() -> None:
    ran: list[str] = []
    with Watched() as watched:
        watched.schedule.once("flush", watched.clock.now() + HOUR, EVALUATE, lambda: ran.append("first"))
        watched.schedule.once("flush", watched.clock.now(), EVALUATE, lambda: ran.append("second"))
        until(lambda: ran, within=5)
    assert ran == ["second"]


def test_a_single_job_that_is_planned_while_the_last_of_its_name_runs_comes_after_it() -> None:
    ran: list[str] = []
    scheduled = threading.Event()
    with Watched() as watched:

        def first() -> None:
            watched.schedule.once("flush", watched.clock.now(), NOTIFY, lambda: ran.append("second"))
            # Until the scheduler has had its turn.
            scheduled.wait(0.2)
            ran.append("first")

        watched.schedule.once("flush", watched.clock.now(), NOTIFY, first)
        until(lambda: len(ran) == 2, within=5)
    assert ran == ["first", "second"]


def test_a_schedule_stops_while_a_tick_plans_another() -> None:
    begun, stopping = threading.Event(), threading.Event()
    with Watched() as watched:
        schedule = watched.schedule

        def tick() -> None:
            begun.set()
            assert stopping.wait(60)
            threading.Event().wait(0.1)
            schedule.once("next", watched.clock.now(), NOTIFY, stopping.clear)

        schedule.once("tick", watched.clock.now(), EVALUATE, tick)
        assert begun.wait(60)
        stopping.set()
        stopper = threading.Thread(target=schedule.stop, daemon=True)
        stopper.start()
        stopper.join(60)
        assert not stopper.is_alive()
    assert stopping.is_set(), "nothing begins after the stop"


# Monday, 2026-11-02, 08:00 UTC, which is 09:00 in Berlin.
NINE: Instant = 1_793_606_400_000


@pytest.mark.parametrize(
    ("expression", "zone", "after", "until_", "expected"),
    [
        ("0 9 * * mon", "Europe/Berlin", NINE - HOUR, NINE + HOUR, NINE),
        ("0 9 * * mon", "Europe/Berlin", NINE - HOUR, NINE, NINE),
        ("0 9 * * mon", "Europe/Berlin", NINE, NINE + DAY, None),
        ("0 9 * * mon", "Europe/Berlin", NINE + 1, NINE + DAY, None),
        ("0 9 * * mon", "Europe/Berlin", NINE - 1, NINE, NINE),
        ("0 9 * * mon", "UTC", NINE - HOUR, NINE, None),
        ("* * * * *", "UTC", NINE - DAY, NINE + 30 * SECOND, NINE),
        ("*/5 * * * *", "UTC", NINE + MINUTE, NINE + 14 * MINUTE, NINE + 10 * MINUTE),
    ],
)
def test_the_newest_time_of_cron_that_has_gone_is_found(
    expression: str, zone: str, after: Instant, until_: Instant, expected: Instant | None
) -> None:
    assert newest_time(expression, zone, after, until_) == expected
