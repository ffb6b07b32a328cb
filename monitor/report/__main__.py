"""
`python -m monitor.report`: makes a report as a child process.

Standard input says what is wanted, in JSON; standard output has a bulletin and its picture, or why there is none.
What is asked for a week would stay in the daemon's memory, and the time that it takes would be that of its rules.
"""

import json
import os
import sys
from base64 import b64encode
from dataclasses import asdict
from zoneinfo import ZoneInfo

from monitor.bulletins import bulletin_of
from monitor.charts.child import UNHURRIED, ChartError, Child, is_installed
from monitor.commands.ask import Way
from monitor.commands.query import QueryError
from monitor.commands.report import known
from monitor.report.figures import report_of
from monitor.report.gather import Gathered
from monitor.report.period import Period
from monitor.report.picture import sheet_of


def main() -> int:
    """Make one report; returns the exit code."""
    os.nice(10)
    wanted = json.load(sys.stdin)
    zone = ZoneInfo(wanted["zone"])
    try:
        way = Way(f"Bearer {wanted['token']}", inner=wanted["inner"])
        found = known(wanted["url"], Period(wanted["start"], wanted["end"]), way)
    except QueryError as err:
        json.dump({"reason": str(err)}, sys.stdout)
        return 0
    bulletin = bulletin_of(report_of(found, wanted["input_limit"]), zone)
    png = b64encode(_drawn(found, bulletin.title, wanted["zone"])).decode()
    json.dump({"bulletin": asdict(bulletin), "png": png}, sys.stdout)
    return 0


def _drawn(found: Gathered, title: str, zone: str) -> bytes:
    """Return the picture, nothing where there can be none: the text says the same."""
    sheet = sheet_of(found, title, zone) if is_installed() else None
    try:
        return b"" if sheet is None else Child(timeout=UNHURRIED).draw(sheet)
    except ChartError:
        return b""


if __name__ == "__main__":
    sys.exit(main())
