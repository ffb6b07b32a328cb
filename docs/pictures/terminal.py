"""The first minutes of `vllm-monitor demo`, as its terminal shows them."""

import io
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from monitor.commands.demo import play_scenario
from monitor.model.instant import MINUTE
from monitor.simulator.scenarios import OVERLOAD

WIDTH = 108
# Up to and including the page that somebody would get.
SHOWN = 6 * MINUTE


def draw_terminal(path: Path) -> None:
    """Write the demo's terminal to `path`, as SVG."""
    console = Console(record=True, width=WIDTH, force_terminal=True, color_system="truecolor", file=io.StringIO())
    play_scenario(replace(OVERLOAD, duration=SHOWN), 0, {}, console)
    svg = console.export_svg(title="vllm-monitor demo")
    path.write_text(svg)
