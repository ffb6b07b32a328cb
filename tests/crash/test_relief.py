"""Two daemons over one folder: what was taken is told once, whichever of them is stopped or killed."""

import secrets
from pathlib import Path

from tests.crash.relief import play


def test_who_is_stopped_or_killed_is_relieved_and_nothing_is_lost_or_told_twice(tmp_path: Path) -> None:
    seed = secrets.randbelow(1_000_000)
    complaints, tallies = play(tmp_path, seed, rounds=2)
    assert complaints == [], f"seed {seed}"
    assert (tallies["stopped"], tallies["killed"]) == (1, 1)
    assert tallies["messages taken"] > 2
