"""`vllm-monitor dashboards preview`: the dashboards drawn without Grafana, by a development tool beside them."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import typer

from monitor.commands.usage import fail

# How the tool is told what stood before the command.
HTTP_CONFIG = "VLLM_MONITOR_HTTP_CONFIG_FILE"
CHECKOUT = Path(__file__).parents[2]
_SOURCE = "https://github.com/vllm-monitor/vllm-monitor"

dashboards_cli = typer.Typer(help="The shipped Grafana dashboards.", no_args_is_help=True)


# Its options are those of the tool, which also says what they are.
@dashboards_cli.command(
    "preview",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)
def preview(context: typer.Context) -> None:
    """Draw the dashboards into PNG files, without Grafana: a development tool; takes a checkout, npm and Chromium."""
    given = context.find_root().params.get("http_config_file")
    code = run_preview(CHECKOUT, context.args, {HTTP_CONFIG: str(given)} if given else {})
    if code:
        raise typer.Exit(code)


def run_preview(checkout: Path, arguments: list[str], environment: Mapping[str, str]) -> int:
    """Run the tool of a checkout and return its exit code; where there is none, say where to get it."""
    if not (checkout / "dashboards" / "preview").is_dir():
        fail(f"the preview is a development tool and is not installed with the program: it comes with {_SOURCE}")
    # -P: not what is called so in the folder that somebody is in.
    path = os.pathsep.join(filter(None, (str(checkout), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-P", "-m", "dashboards.preview", *arguments]
    return subprocess.run(command, env={**os.environ, **environment, "PYTHONPATH": path}, check=False).returncode  # noqa: S603 - ours
