"""Hours of a simulated fleet leave memory, disk and slots as they were; `make soak` lives through a week."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from monitor.clock import SystemClock
from monitor.model.instant import SECOND, Duration, from_seconds
from monitor.schedule import SCRAPE, Schedule

ROOT = Path(__file__).parents[2]


# Half a minute on a machine of its own, and the suite has three workers on two processors.
@pytest.mark.timeout(600)
def test_hours_with_eight_servers_restarts_reloads_and_silences_leave_nothing_behind() -> None:
    command = [sys.executable, "-m", "tests.soak", "hours"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=560, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 2 restarts, 5 reloads, 6 silences, " in done.stdout


@pytest.mark.parametrize(("interval", "ticks"), [(100, 20_000), (5 * SECOND, 120_960), (15 * SECOND, 40_320)])
def test_slots_do_not_drift_in_a_week_of_ticks_that_are_all_late(interval: Duration, ticks: int) -> None:
    schedule = Schedule(SystemClock(), lambda _: None, lambda _, __: None)
    schedule.every(interval, SCRAPE, lambda _: None)
    (job,) = schedule._scheduler.get_jobs()
    at = begun = job.trigger.start_date
    for number in range(1, ticks + 1):
        late = timedelta(milliseconds=interval * (number % 97) / 100)
        at = job.trigger.get_next_fire_time(at, at + late)
        assert at == begun + timedelta(milliseconds=interval * number)
    assert from_seconds(begun.timestamp()) % interval == 0
