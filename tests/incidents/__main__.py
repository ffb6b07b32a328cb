"""
`python -m tests.incidents`: how the shipped rules, and any others, stand up to what is known to go wrong.

Ends with 1 when a story does not come out as it must.
"""

import argparse
import logging
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from monitor.clock import monotonic_seconds
from monitor.model.instant import SECOND
from tests.engines import find
from tests.incidents.run import Teller, Told, tell_all
from tests.incidents.stories import BAR, FAILURES, HEALTHY
from tests.incidents.story import Story
from tests.incidents.table import print_foreign, print_table

WIDTH = 120


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.incidents", description=__doc__)
    parser.add_argument("--rules", nargs="+", type=Path, default=[], metavar="FILE", help="other rule sets to compare")
    parser.add_argument("--only", default="", metavar="REGEX", help="stories whose name matches")
    parser.add_argument("--seldom", action="store_true", help="Prometheus also with a scrape every 15 s")
    parser.add_argument("--no-prometheus", action="store_true", help="only the daemon: a third of the time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes; default: %(default)s")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Tell the stories, print the tables. Returns the exit code."""
    options = _arguments(argv)
    # Scrapes that fail are part of the stories.
    logging.disable()
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    promtool = None if options.no_prometheus else find("promtool", "newer") or find("promtool")
    if promtool is None and not options.no_prometheus:
        console.print("No promtool: the column of the rules alone stays empty.", style="yellow")
    teller = Teller(promtool, seldom=options.seldom, foreign=options.rules)
    began, all_told = monotonic_seconds(), list[Told]()
    for title, stories in (("The bar", BAR), ("Failures", FAILURES), ("Healthy days", HEALTHY)):
        chosen: list[Story] = [story for story in stories if re.search(options.only, story.name)]
        told = [_heard(one) for one in tell_all(teller, chosen, options.jobs)]
        if told:
            print_table(console, title, told)
        all_told += told
    if options.rules:
        print_foreign(console, all_told)
    bad = [one.story.name for one in all_told if not _is_good(one)]
    console.print(
        f"{len(all_told)} stories in {monotonic_seconds() - began:.0f} s; {len(bad)} not as they must be: {bad}"
    )
    return bool(bad)


def _heard(told: Told) -> Told:
    """Show that it goes on: the whole takes minutes."""
    missed = [found.expect.alerts[0] for found in told.daemon.found if not found.in_time]
    wrong = [f"{firing.alert} at {firing.begin // SECOND} s" for firing in told.daemon.false_alarms]
    sys.stderr.write(f"{'ok ' if _is_good(told) else 'BAD'} {told.story.name} {missed or ''} {wrong or ''}\n")
    sys.stderr.flush()
    return told


def _is_good(told: Told) -> bool:
    return told.daemon.is_good and (told.rules is None or told.rules.is_good)


if __name__ == "__main__":
    sys.exit(main())
