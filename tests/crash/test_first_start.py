"""A daemon that is killed while it makes its state file begins well the next time."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

from tests.crash.places import INSTANT, Plan
from tests.crash.world import ROOT

CONFIG = """\
global: {scrape_interval: 100ms}
scrape_configs: [{job_name: nobody, static_configs: [{targets: ["127.0.0.1:1"]}]}]
receivers: [{name: nobody, console_configs: [{}]}]
route: {receiver: nobody}
storage: {path: state}
web: {listen: 127.0.0.1:0}
"""
# Opening the file, the steps of the schema, what the start reads, and what it writes first.
STATEMENTS = range(1, 29)


def test_no_kill_during_the_first_start_spoils_the_state_file(tmp_path: Path) -> None:
    config = tmp_path / "monitor.yaml"
    config.write_text(CONFIG)
    launcher = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.launcher", str(config)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with launcher:
        assert launcher.stdin is not None
        assert launcher.stdout is not None
        for number in STATEMENTS:
            for plan in (Plan("statement", number, 60.0), Plan(INSTANT, 0, 0.2, signal.SIGTERM)):
                launcher.stdin.write(plan.text() + "\n")
                launcher.stdin.flush()
                launcher.stdout.readline()
                assert launcher.stdout.readline() == f"{int(plan.place != INSTANT)}\n", f"statement {number}"
            assert list((tmp_path / "state").glob("*.damaged-*")) == []
            shutil.rmtree(tmp_path / "state")
        launcher.stdin.close()
        assert "Traceback" not in (launcher.stderr.read() if launcher.stderr else "")
