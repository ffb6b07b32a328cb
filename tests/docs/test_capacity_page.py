"""docs/capacity.md: what it shows is what the command prints."""

import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from monitor.cli import cli

TEXT = (Path(__file__).parents[2] / "docs" / "capacity.md").read_text()


def test_the_first_plan_prints_what_the_page_shows() -> None:
    command = re.search(r"^vllm-monitor (plan .*)$", TEXT, re.MULTILINE)
    shown = re.search(r"```text\n(.*?)```", TEXT, re.DOTALL)
    assert command is not None
    assert shown is not None
    printed = CliRunner().invoke(cli, shlex.split(command[1])).stdout
    assert [line.rstrip() for line in printed.split("\n\n")[0].splitlines()] == shown[1].splitlines()
