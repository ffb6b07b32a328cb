"""Whoever writes the history is killed at any instant, in the middle of folding too: nothing committed is lost."""

import subprocess
import sys
from pathlib import Path

from monitor.model.instant import DAY
from tests.crash.world import ROOT

LIVES = 15


def test_no_kill_loses_a_sample_that_was_committed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.crash.keeping", str(tmp_path), "1", str(LIVES)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert str(DAY) in done.stdout, "days were folded meanwhile"
