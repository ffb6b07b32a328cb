"""`vllm-monitor report`: asks a daemon or a Prometheus, and prints."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from monitor.charts.child import UNHURRIED, ChartError, Child, is_installed
from monitor.commands.ask import Exchange, request
from monitor.commands.query import Asked, QueryError, from_server, source
from monitor.commands.report_incidents import handlings
from monitor.commands.table import visible
from monitor.commands.usage import UsageError
from monitor.model.instant import Duration, Instant, from_seconds
from monitor.model.labels import Labels
from monitor.report.compare import lines, models_of
from monitor.report.gather import Ask, Gathered, Points, gather
from monitor.report.period import Period, PeriodError, instant_of, period_of, week_before, whole_minutes
from monitor.report.picture import sheet_of
from monitor.report.plain import as_plain
from monitor.report.report import Report
from monitor.report.texts import alert_row, heading, rows, title, unanswered

_PERIODS = ("A", "B")
_ALERT_COLUMNS = ("alert", "severity", "of", "fired", "in all", "longest", "to resolve", "acknowledged")


def zone_of(name: str) -> tzinfo:
    """Return a time zone by its name. Raises UsageError."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as err:
        raise UsageError(f"--timezone {name} is not known: write Europe/Berlin") from err


def period_asked(from_: str | None, to: str | None, *, week: bool, zone: tzinfo, now: Instant) -> Period:
    """Return the period that the options ask for: without any the last seven days. Raises UsageError."""
    if week and (from_ or to):
        raise UsageError("--week and --from exclude each other")
    if to and not from_:
        raise UsageError("--to goes with --from")
    try:
        if not from_:
            return week_before(now)
        return whole_minutes(instant_of(from_, zone), instant_of(to, zone) if to else now)
    except PeriodError as err:
        raise UsageError(str(err)) from err


def compared(
    both: tuple[str, str], server: str, zone: tzinfo, *, others: bool
) -> tuple[Callable[[], Gathered], Callable[[], Gathered]]:
    """
    Return what gathers either side of --compare, a period or a recording.

    `others`: are there options beside it? Raises UsageError.
    """
    if others:
        raise UsageError(
            "--compare has its own times and is only printed: leave --week, --from, --to, --png and --slack out"
        )
    first, second = (_side(one, server, zone) for one in both)
    return first, second


def _side(asked: str, server: str, zone: tzinfo) -> Callable[[], Gathered]:
    # Whoever reports by a schedule has no use for the player of recordings.
    from monitor.commands.report_recording import is_recording, of_recording

    if is_recording(asked):
        return lambda: of_recording(Path(asked))
    try:
        period = period_of(asked, zone)
    except PeriodError as err:
        raise UsageError(f"--compare: {err}") from err
    return lambda: known(server, period)


def server_asked(prometheus: str | None, url: str | None) -> str:
    """Return who is asked. Raises UsageError."""
    if prometheus and url:
        raise UsageError("--prometheus and --url exclude each other")
    return str(source(prometheus or url, None))


def known(server: str, period: Period, exchange: Exchange = request) -> Gathered:
    """
    Ask a server for all that is in a report, by `exchange`.

    Raises QueryError, also where it knows nothing of the time.
    """
    found = gather(asking(server, exchange), period)
    if not found.knows_anything:
        raise QueryError("nothing is recorded of this time: are the shipped rules evaluated there?")
    return replace(found, handlings=handlings(server, period, exchange))


def write_picture(path: Path, found: Gathered, report: Report, zone: tzinfo) -> None:
    """Draw the period into a file. Raises QueryError."""
    if not is_installed():
        raise QueryError("a picture needs matplotlib: install vllm-monitor[charts]")
    sheet = sheet_of(found, title(report, zone), str(zone))
    if sheet is None:
        raise QueryError("there is nothing to draw")
    try:
        path.write_bytes(Child(timeout=UNHURRIED).draw(sheet))
    except ChartError as err:
        raise QueryError(f"no picture: {err}") from err
    except OSError as err:
        raise QueryError(f"{path}: {err.strerror}") from err


def asking(server: str, exchange: Exchange = request) -> Ask:
    """Return what asks the Prometheus HTTP API of `server`."""

    def ask(expr: str, start: Instant, end: Instant, step: Duration, /) -> Sequence[Points]:
        answer = from_server(server, Asked(expr, end, end - start, step), exchange)
        return [_points(one, start, end) for one in answer["data"]["result"]]

    return ask


def _points(one: dict[str, Any], start: Instant, end: Instant) -> Points:
    """Return one series of an answer: numbers in the time that was asked for, no histograms."""
    found = [(from_seconds(at), float(text)) for at, text in one.get("values", ())]
    within = [(at, value) for at, value in found if start <= at <= end]
    return Points(Labels.of(one["metric"]), [at for at, _ in within], [value for _, value in within])


def print_json(value: object, console: Console) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2), file=console.file)


def print_report(report: Report, zone: tzinfo, console: Console) -> None:
    """Print a table for each model, and one of the alerts."""
    console.print(Text(title(report, zone), "bold"))
    for one in report.models:
        console.print(Text(f"\n{visible(heading(report, one))}", "bold cyan"))
        table = Table.grid(padding=(0, 2))
        for name, text in rows(one, zone):
            table.add_row(Text(name), Text(visible(text)))
        console.print(table)
    console.print()
    if not report.alerts:
        console.print("no alert fired")
        return
    table = Table(box=SIMPLE_HEAD, show_edge=False)
    for place, name in enumerate(_ALERT_COLUMNS):
        table.add_column(name, justify="left" if place < _ALERT_COLUMNS.index("fired") else "right")
    for fired in report.alerts:
        table.add_row(*[Text(visible(cell)) for cell in alert_row(fired)])
    console.print(table)
    if remark := unanswered(report):
        console.print(remark)


def print_comparison(first: Report, second: Report, zone: tzinfo, console: Console) -> None:
    """Print a table for each model: both periods, and by how much the second differs."""
    for name, report in zip(_PERIODS, (first, second), strict=True):
        console.print(Text(f"{name}: {title(report, zone)}", "bold"))
    for model, one, other in models_of(first, second):
        console.print(Text(f"\n{visible(model.name)} (job {visible(model.job)})", "bold cyan"))
        table = Table(box=SIMPLE_HEAD, show_edge=False)
        for place, column in enumerate(("", *_PERIODS, "change")):
            table.add_column(column, justify="right" if place else "left")
        for line in lines(one, other):
            table.add_row(line.name, line.first, line.second, line.change)
        console.print(table)


def print_as(report: Report, zone: tzinfo, console: Console, *, json: bool) -> None:
    if json:
        print_json(as_plain(report), console)
    else:
        print_report(report, zone, console)


def compared_as(first: Report, second: Report, zone: tzinfo, console: Console, *, json: bool) -> None:
    if json:
        print_json({"a": as_plain(first), "b": as_plain(second)}, console)
    else:
        print_comparison(first, second, zone, console)
