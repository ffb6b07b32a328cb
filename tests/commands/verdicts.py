"""What two engines say of a file of unit tests: whether it is good, and which questions got another answer."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from monitor.commands.test import run_file
from monitor.model.instant import format_duration, parse_duration

# `alertname: A, time: 5m,` and `expr: "x", time: 5m,` and `rule: r, time: 2m0s, err: …`
_PROMTOOL = re.compile(r'^ {4}(alertname|expr|rule): (".*"|[^"\n]*?), time: (\w+),', re.MULTILINE)
_OURS = re.compile(r"(alert|expr|rule) (.*?) at (\w+)(?:: .*)?", re.DOTALL)
_KINDS = {"alertname": "alert"}


@dataclass(frozen=True)
class Verdict:
    """`failed` holds kind, name and time of each question that failed; it is empty when the file cannot be read."""

    good: bool
    failed: frozenset[tuple[str, str, str]]


def ours(path: Path) -> Verdict:
    outcome = run_file(path, lambda _: True)
    titles = [failure.title for _, failures in outcome.tests for failure in failures]
    found = [match.groups() for match in map(_OURS.fullmatch, titles) if match is not None]
    assert len(found) == len(titles), titles
    return Verdict(outcome.good, frozenset((kind, name, time) for kind, name, time in found))


def promtools(promtool: str, path: Path) -> Verdict:
    """Return what the real promtool says; its exit code is its verdict."""
    done = subprocess.run([promtool, "test", "rules", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    found = _PROMTOOL.findall(done.stdout + done.stderr)
    failed = frozenset((_KINDS.get(kind, kind), _unquoted(name), _time(time)) for kind, name, time in found)
    return Verdict(done.returncode == 0, failed)


def _unquoted(name: str) -> str:
    return str(json.loads(name)) if name.startswith('"') else name


def _time(text: str) -> str:
    return format_duration(parse_duration(text))
