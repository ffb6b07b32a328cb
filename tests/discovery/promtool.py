"""
What promtool finds of a job.

It waits for its whole time to be sure that there is no more. So that is short, and longer where it was not enough,
because the machine is busy: whoever compares says what would be.
"""

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.engines import engine

Found = list[dict[str, Any]]
PATIENCE = ("300ms", "3s", "30s")


def command(file: Path, job: str, patience: str) -> list[str]:
    return [engine("promtool", "newer"), "check", "service-discovery", f"--timeout={patience}", str(file), job]


def read(output: bytes) -> Found:
    """Return the targets, each with its labels; it says null of none."""
    return json.loads(output or b"null") or []


def found(
    file: Path,
    job: str,
    is_enough: Callable[[Found], bool],
    patience: Sequence[str] = PATIENCE,
    gives_up: Callable[[str], bool] = lambda _: False,
) -> Found:
    """Return what promtool finds in the first time that is enough for it, or in the last; `gives_up` hears stderr."""
    targets: Found = []
    for one in patience:
        done = subprocess.run(command(file, job, one), capture_output=True, check=False)
        if gives_up(done.stderr.decode()):
            break
        assert done.stdout, done.stderr
        targets = read(done.stdout)
        if is_enough(targets):
            break
    return targets
