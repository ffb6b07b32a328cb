"""Evaluate on arrival."""

import threading

from monitor.arrival import Arrivals
from monitor.clock import SystemClock
from monitor.model.instant import HOUR, SECOND

NOW = SystemClock().now
SLOT = 100 * SECOND
FIVE, FIFTEEN = 5 * SECOND, 15 * SECOND


def arrivals(*targets: str) -> Arrivals:
    found = Arrivals(NOW)
    found.expect(SLOT, FIVE, targets)
    return found


def test_the_rules_of_a_slot_run_once_its_last_target_has_landed() -> None:
    found = arrivals("a", "b")
    found.landed(SLOT, "a")
    assert not found.wait(SLOT, [FIVE], until=NOW() + 10)
    threading.Timer(0.05, found.landed, (SLOT, "b")).start()
    assert found.wait(SLOT, [FIVE], until=NOW() + HOUR)


def test_they_do_not_run_before_the_scrapes_have_begun() -> None:
    found = Arrivals(NOW)
    assert not found.wait(SLOT, [FIVE], until=NOW() + 10)
    threading.Timer(0.05, found.expect, (SLOT, FIVE, ())).start()
    assert found.wait(SLOT, [FIVE], until=NOW() + HOUR)


def test_a_job_that_is_not_due_is_not_waited_for() -> None:
    assert SLOT % FIFTEEN != 0
    assert arrivals().wait(SLOT, [FIVE, FIFTEEN], until=NOW() + HOUR)


def test_an_answer_that_comes_late_does_not_disturb_the_next_slot() -> None:
    found = arrivals("a")
    assert not found.wait(SLOT, [FIVE], until=NOW() - 1)
    found.expect(SLOT + FIVE, FIVE, ["a"])
    found.landed(SLOT, "a")
    assert not found.wait(SLOT + FIVE, [FIVE], until=NOW() + 10)
    found.landed(SLOT + FIVE, "a")
    assert found.wait(SLOT + FIVE, [FIVE], until=NOW() + HOUR)
