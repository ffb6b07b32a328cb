"""The command `vllm-monitor backtest`."""

from pathlib import Path
from typing import Annotated

import typer

from monitor.commands.usage import UsageError, fail

_RULES = typer.Option("--rules", help="Rule files in place of the shipped ones; may be given several times.")
_VALUES = typer.Option("--values", help="The shipped rules, with the thresholds of this file.")
_PROMETHEUS = typer.Option("--prometheus", help="Take the history from a Prometheus, or what speaks like one: its URL.")
_OPENMETRICS = typer.Option("--openmetrics", help="Take it from what promtool tsdb dump-openmetrics (or dump) wrote.")
_RECORDING = typer.Option("--recording", help="Take it from a recording (*.jsonl, *.jsonl.gz), or a folder of them.")
_FROM = typer.Option("--from", help="Where to begin: RFC 3339, or seconds since 1970.")
_TO = typer.Option("--to", help="Where to end; a Prometheus: now.")
_INTERVAL = typer.Option("--interval", "--step", help="How often rules are evaluated; as often as it was scraped.")
_COMPARE = typer.Option("--compare", help="Other rule files, side by side with the first; may be given several times.")
_CONFIG = typer.Option("--config", help="A configuration file, for its rules, routes, receivers and inhibition.")
_BEARER = typer.Option("--bearer-token-file", help="A file with the token that the Prometheus wants.")
_BASIC = typer.Option("--basic-auth-file", help="A file with user:password.")
_JSON = typer.Option("--json", help="Print everything as JSON.")


def backtest(  # noqa: PLR0913 - typer reads options off the signature
    *,
    rules: Annotated[list[Path] | None, _RULES] = None,
    values: Annotated[Path | None, _VALUES] = None,
    prometheus: Annotated[str | None, _PROMETHEUS] = None,
    openmetrics: Annotated[Path | None, _OPENMETRICS] = None,
    recording: Annotated[Path | None, _RECORDING] = None,
    from_: Annotated[str | None, _FROM] = None,
    to: Annotated[str | None, _TO] = None,
    interval: Annotated[str | None, _INTERVAL] = None,
    compare: Annotated[list[Path] | None, _COMPARE] = None,
    config: Annotated[Path | None, _CONFIG] = None,
    bearer_token_file: Annotated[Path | None, _BEARER] = None,
    basic_auth_file: Annotated[Path | None, _BASIC] = None,
    json: Annotated[bool, _JSON] = False,
) -> None:
    """Replay a history through the rules: which alerts would have fired, when, for how long, with how many messages."""
    from json import dumps

    from rich.console import Console

    from monitor.backtest.compare import compare as compared
    from monitor.backtest.prometheus import Credentials
    from monitor.backtest.source import SourceError
    from monitor.commands.backtest import Options, run
    from monitor.commands.backtest_report import as_json, print_comparison, print_outcome
    from monitor.commands.show import terminal
    from monitor.yamldoc.mistake import DocumentError

    options = Options(
        tuple(rules or ()),
        values,
        config,
        prometheus,
        openmetrics,
        recording,
        from_,
        to,
        interval,
        tuple(compare or ()),
        Credentials(bearer_token_file, basic_auth_file),
    )
    try:
        played = run(options, Console(stderr=True))
    except UsageError as err:
        raise typer.BadParameter(str(err)) from err
    except (DocumentError, SourceError) as err:
        fail(str(err))
    comparison = compared(played[0].outcome, played[1].outcome) if compare else None
    if json:
        typer.echo(dumps(as_json(played, comparison), ensure_ascii=False, indent=2))
        return
    console = terminal()
    for one, title in zip(played, ("", "the other rules: "), strict=False):
        print_outcome(one, console, title)
    if comparison is not None:
        print_comparison(comparison, played[0].outcome.end, console)
