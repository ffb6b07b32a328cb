"""`vllm-monitor dashboards preview` hands its arguments to the tool of a checkout."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from monitor.cli import cli
from monitor.commands.preview import HTTP_CONFIG, run_preview


def test_what_is_installed_without_the_tool_says_where_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as end:
        run_preview(tmp_path, [], {})
    assert end.value.exit_code == 1
    assert capsys.readouterr().err.endswith("it comes with https://github.com/vllm-monitor/vllm-monitor\n")


def test_options_are_those_of_the_tool_and_so_is_the_exit_code(tmp_path: Path) -> None:
    tool = tmp_path / "dashboards" / "preview"
    tool.mkdir(parents=True)
    (tool / "__main__.py").write_text(
        "import os, sys, pathlib\n"
        f"pathlib.Path({str(tmp_path / 'told')!r}).write_text(' '.join([*sys.argv[1:], os.environ[{HTTP_CONFIG!r}]]))\n"
        "sys.exit(3)\n"
    )
    assert run_preview(tmp_path, ["--width", "375", "a.json"], {HTTP_CONFIG: "b.yaml"}) == 3
    assert (tmp_path / "told").read_text() == "--width 375 a.json b.yaml"


def test_a_slip_in_the_options_is_told() -> None:
    assert CliRunner().invoke(cli, ["dashboards", "preview", "--var", "job"]).exit_code == 2
