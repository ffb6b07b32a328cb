"""Several worlds side by side, each in a process of its own, and what they came to."""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.world import ROOT


@dataclass
class Report:
    """The complaints of all worlds, each with the seed of its world, and the sums of their tallies."""

    complaints: list[str] = field(default_factory=list)
    tallies: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        lines = [f"{count:>8}  {what}" for what, count in sorted(self.tallies.items())]
        return "\n".join([*lines, *self.complaints])


def run(folder: Path, seed: int, worlds: int, rounds: int, seconds: float) -> Report:
    """Run so many worlds with so many rounds each, in folders below `folder`; their seeds are `seed` and the next."""
    started = [_start(folder / str(number), seed + number, rounds) for number in range(worlds)]
    report = Report()
    for number, process in enumerate(started):
        try:
            written, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            written, _ = process.communicate()
        last = written.splitlines()[-1] if written else ""
        if process.returncode or not last.startswith("{"):
            report.complaints.append(f"seed {seed + number}: the world came to no end: {written[-2000:]}")
            continue
        outcome = json.loads(last)
        report.complaints += [f"seed {seed + number}: {words}" for words in outcome["complaints"]]
        report.tallies.update(outcome["tallies"])
    return report


def _start(folder: Path, seed: int, rounds: int) -> "subprocess.Popen[str]":
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "tests.crash.world", str(folder), str(seed), str(rounds)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
