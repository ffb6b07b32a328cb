"""Draws docs/demo.svg: the first minutes of `vllm-monitor demo`, as its terminal shows them (`make pictures`)."""

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


def main() -> None:
    console = Console(record=True, width=WIDTH, force_terminal=True, color_system="truecolor", file=io.StringIO())
    play_scenario(replace(OVERLOAD, duration=SHOWN), 0, {}, console)
    svg = console.export_svg(title="vllm-monitor demo")
    (Path(__file__).parent / "demo.svg").write_text(svg)


if __name__ == "__main__":
    main()
