"""docs/capacity.md: what it shows is what the command prints."""

import os
import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from monitor.cli import cli
from tests.capacity.startups import rows

PAGE = Path(__file__).parents[2] / "docs" / "capacity.md"
TEXT = PAGE.read_text()


def test_the_first_plan_prints_what_the_page_shows() -> None:
    command = re.search(r"^vllm-monitor (plan .*)$", TEXT, re.MULTILINE)
    shown = re.search(r"```text\n(.*?)```", TEXT, re.DOTALL)
    assert command is not None
    assert shown is not None
    printed = CliRunner().invoke(cli, shlex.split(command[1])).stdout
    assert [line.rstrip() for line in printed.split("\n\n")[0].splitlines()] == shown[1].splitlines()


def test_the_table_of_starts_is_what_is_planned() -> None:
    before, mark, rest = PAGE.read_text().partition("test_capacity_page.py -->\n")
    shown, end, after = rest.partition("<!-- end -->")
    table = "".join(f"{row}\n" for row in rows())
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(f"{before}{mark}{table}{end}{after}")
        shown = table
    assert shown == table
