"""`make bench`: every budget with what was measured. Nothing here fails: figures are read by people."""

import sys
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from tests.bench import backtest, daemon, dashboards, history, memory, pages, probes, promql, rounds

# Each part of the program that has a budget adds its rows here.
PARTS: dict[str, Callable[[], list[tuple[str, str, str]]]] = {
    "pages": pages.rows,
    "promql": promql.rows,
    "rules": rounds.rows,
    "memory": memory.rows,
    "probes": probes.rows,
    "history": history.rows,
    "dashboards": dashboards.rows,
    "daemon": daemon.rows,
    "backtest": backtest.rows,
}


def main(wanted: list[str]) -> None:
    table = Table("what", "measured", "budget")
    for name in wanted or list(PARTS):
        for row in PARTS[name]():
            table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main(sys.argv[1:])
