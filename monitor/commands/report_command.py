"""The command `vllm-monitor report`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.commands.usage import UsageError, fail

if TYPE_CHECKING:
    from monitor.commands.report_slack import Slack

_WEEK = typer.Option("--week", help="The last seven days; so it is without --from.")
_FROM = typer.Option("--from", help="Where to begin: 2026-11-01T10:00, or seconds since 1970.")
_TO = typer.Option("--to", help="Where to end; now.")
_ZONE = typer.Option("--timezone", help="The zone of times that are given without one, and of those printed.")
_PROMETHEUS = typer.Option("--prometheus", help="Ask a Prometheus that evaluates the shipped rules: its URL.")
_URL = typer.Option("--url", help="Ask another daemon than http://127.0.0.1:9109.")
_LIMIT = typer.Option("--input-limit", min=1, help="The longest prompt that is wanted, in tokens.")
_COMPARE = typer.Option(
    "--compare",
    metavar="A B",
    help="Two periods side by side, 2026-11-01T10:00/11:00 2026-11-02T10:00/11:00, or recordings: a.jsonl.gz.",
)
_PNG = typer.Option("--png", help="Also draw it into this file; takes the extra `charts`.")
_SLACK = typer.Option("--slack", help="Also post it to Slack, with a picture in the thread.")
_CONFIG = typer.Option("--config", help="For --slack: a configuration file; without one, SLACK_BOT_TOKEN and the like.")
_RECEIVER = typer.Option("--receiver", help="For --slack: a receiver of that file; the one of its root route.")
_JSON = typer.Option("--json", help="Print plain values.")


def report_command(  # noqa: PLR0913 - typer reads options off the signature
    *,
    week: Annotated[bool, _WEEK] = False,
    from_: Annotated[str | None, _FROM] = None,
    to: Annotated[str | None, _TO] = None,
    timezone: Annotated[str, _ZONE] = "UTC",
    prometheus: Annotated[str | None, _PROMETHEUS] = None,
    url: Annotated[str | None, _URL] = None,
    input_limit: Annotated[int, _LIMIT] = 15_000,
    compare: Annotated[tuple[str, str] | None, _COMPARE] = None,
    png: Annotated[Path | None, _PNG] = None,
    slack: Annotated[bool, _SLACK] = False,
    config: Annotated[Path | None, _CONFIG] = None,
    receiver: Annotated[str | None, _RECEIVER] = None,
    json: Annotated[bool, _JSON] = False,
) -> None:
    """Tell how a week was: KV peak, queue, latency, throughput, errors, alerts, headroom and growth of each model."""
    from monitor.clock import SystemClock
    from monitor.commands.query import QueryError
    from monitor.commands.report import (
        compared,
        compared_as,
        known,
        period_asked,
        print_as,
        server_asked,
        write_picture,
        zone_of,
    )
    from monitor.commands.show import terminal
    from monitor.report.figures import report_of

    try:
        zone = zone_of(timezone)
        server = server_asked(prometheus, url)
        if compare:
            sides = compared(compare, server, zone, others=week or slack or bool(from_ or to or png))
            first, second = (report_of(gathered(), input_limit) for gathered in sides)
            compared_as(first, second, zone, terminal(), json=json)
            return
        period = period_asked(from_, to, week=week, zone=zone, now=SystemClock().now())
        board = _to_slack(config, receiver) if slack else None
        found = known(server, period)
        report = report_of(found, input_limit)
        print_as(report, zone, terminal(), json=json)
        if png is not None:
            write_picture(png, found, report, zone)
        if board is not None:
            typer.echo(f"posted: {', '.join(board.post(found, report, zone))}", err=True)
    except UsageError as err:
        raise typer.BadParameter(str(err)) from err
    except QueryError as err:
        fail(str(err))


def _to_slack(config: Path | None, receiver: str | None) -> "Slack":
    import os

    from monitor.commands.report_slack import Slack, receiver_asked
    from monitor.commands.settings import loader
    from monitor.config.flags import Flags
    from monitor.yamldoc.mistake import DocumentError

    # The daemon has its targets; here any will do.
    flags = Flags(targets=() if config else ("127.0.0.1:1",))
    try:
        read = loader(config, flags, os.environ)()
    except DocumentError as err:
        fail(str(err))
    return Slack(read, receiver_asked(read, receiver))
