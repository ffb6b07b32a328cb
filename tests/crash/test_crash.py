"""A daemon that is killed two hundred times tells of every alert, of none twice, and of no end before its beginning."""

import secrets
from pathlib import Path

import pytest

from tests.crash.run import run

WORLDS, ROUNDS = 4, 50


@pytest.mark.timeout(700)
def test_no_kill_loses_an_alert_or_tells_one_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seed = secrets.randbelow(1_000_000)
    report = run(tmp_path, seed, WORLDS, ROUNDS, seconds=660)
    with capsys.disabled():
        print(f"\ncrash harness, seed {seed}, {WORLDS} worlds\n{report}")  # noqa: T201 - a run is told from others by it
    assert report.complaints == [], f"seed {seed}"
    tallies = report.tallies
    assert tallies["rounds"] == tallies["restarts"] - WORLDS == WORLDS * ROUNDS
    # Without these the run would prove nothing.
    assert tallies["alerts that fired"] > 5 * WORLDS
    assert tallies["messages by bot"] >= 4 * WORLDS
    assert tallies["replies by bot"] > WORLDS
    assert tallies["edits by bot"] > WORLDS
    assert tallies["looks"] > 0
    assert len([what for what in tallies if what.startswith("killed ")]) > 10
