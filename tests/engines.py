"""
Where the real Prometheus, promtool, Alertmanager and amtool are.

A program of the system is found on the PATH; the newer ones in `.engines/usr/bin` of the repository, or where
`VLLM_MONITOR_ENGINES` points. In CI (`CI` is set) a missing engine is a failure; elsewhere a skip that says what to do.
"""

import os
import shutil
from pathlib import Path

import pytest

NEWER = Path(os.environ.get("VLLM_MONITOR_ENGINES", Path(__file__).parent.parent / ".engines"))
HOW = {
    "": "apt-get install prometheus prometheus-alertmanager faketime",
    "newer": "run .ci/newer-engines .engines (Prometheus 3, Alertmanager 0.33, …), or set VLLM_MONITOR_ENGINES",
}


def find(program: str, suite: str = "") -> str | None:
    """Return the path of `program` ("promtool", …) of the system, or with suite "newer" of the newer engines."""
    return shutil.which(program, path=str(NEWER / "usr" / "bin") if suite else None)


def engine(program: str, suite: str = "") -> str:
    """Return the path of `program`; skip the test, or fail in CI, when it is not there."""
    found = find(program, suite)
    if found is not None:
        return found
    message = f"{suite} {program} is missing: {HOW[suite]}".strip()
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


def set_clock(offset: Path, text: str) -> None:
    """Say in one piece by how much the clock is off: whoever reads half a file would see a clock that jumps about."""
    written = offset.with_suffix(".new")
    written.write_text(text)
    written.replace(offset)


def faketime(offset: Path) -> dict[str, str]:
    """Return the environment in which a process has its wall clock off by what the file `offset` says, at any time."""
    libraries = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not libraries:
        return {"LD_PRELOAD": engine("faketime")}
    return {
        "LD_PRELOAD": str(libraries[0]),
        "FAKETIME_TIMESTAMP_FILE": str(offset),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
