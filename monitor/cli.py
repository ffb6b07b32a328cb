"""The commands."""

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from monitor import __version__
from monitor.commands.alerting import alerts, silence_cli
from monitor.commands.backtest_command import backtest
from monitor.commands.capacity import doctor_command, gate_command, plan_command
from monitor.commands.checking import check
from monitor.commands.preview import dashboards_cli
from monitor.commands.report_command import report_command
from monitor.commands.ruling import rules_cli
from monitor.commands.telling import outbox_cli, try_slack
from monitor.commands.usage import fail

cli = typer.Typer(
    name="vllm-monitor",
    help="Tells the on-call engineer in Slack that a vLLM server is in trouble, why, and what to do.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="A configuration file; without one, flags and variables are all.")
]
TargetOption = Annotated[
    list[str] | None,
    typer.Option("--target", help="URL of a vLLM server, http://127.0.0.1:8000; may be given several times."),
]


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def _version(wanted: bool) -> None:
    if wanted:
        print(f"vllm-monitor {__version__}")
        raise typer.Exit


@cli.callback()
def top(
    *,
    http_config_file: Annotated[
        Path | None,
        typer.Option(
            "--http.config.file",
            envvar="VLLM_MONITOR_HTTP_CONFIG_FILE",
            help="What a server is shown, and whom TLS trusts: basic_auth, authorization, tls_config.",
        ),
    ] = None,
    _wanted: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Take what stands before the command."""
    if http_config_file is not None:
        from monitor.commands.ask import use, way_of
        from monitor.commands.usage import UsageError

        try:
            use(way_of(http_config_file))
        except UsageError as err:
            raise typer.BadParameter(str(err)) from err


@cli.command()
def run(
    *,
    config: ConfigOption = None,
    target: TargetOption = None,
    slack_channel: Annotated[str | None, typer.Option(help="Channel for SLACK_BOT_TOKEN.")] = None,
    storage: Annotated[str | None, typer.Option(help="Folder that state is kept in.")] = None,
    listen: Annotated[str | None, typer.Option(help="Address of the HTTP side; 127.0.0.1:9109.")] = None,
    web_config_file: Annotated[
        str | None, typer.Option("--web.config.file", help="Who may ask, and TLS: a web configuration file.")
    ] = None,
    ha_lease: Annotated[
        str | None,
        typer.Option(
            help="Share the storage folder with another daemon, and relieve it when it hangs for so long: 15s."
        ),
    ] = None,
    prometheus: Annotated[
        str | None,
        typer.Option(help="Ask this Prometheus for what fires (mode: prometheus); no target is needed then."),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="A value of the shipped rules: alerts.VLLMTargetDown.for=2m; may be repeated."),
    ] = None,
    log_level: Annotated[LogLevel, typer.Option(help="From which level on the log has a line.")] = LogLevel.INFO,
) -> None:
    """Watch vLLM servers and tell Slack."""
    from monitor.app import StartError
    from monitor.clock import SystemClock
    from monitor.commands.settings import loader
    from monitor.commands.signals import caught, means_reload
    from monitor.commands.startlimits import begin, settle
    from monitor.config.flags import Flags
    from monitor.duty import Duty
    from monitor.logs import configure
    from monitor.supervisor import Supervisor

    begin()
    given = (slack_channel, storage, listen, web_config_file, ha_lease, prometheus)
    flags = Flags(tuple(target or ()), tuple(setting or ()), *(one or "" for one in given))
    configure(log_level)
    signals = caught()
    supervisor = Supervisor.taken_from(os.environ)
    app = Duty(loader(config, flags, os.environ), SystemClock(), supervisor)
    try:
        app.start()
    except StartError as err:
        fail(str(err))
    settle()
    supervisor.ready()
    while means_reload(signals):
        supervisor.reloading()
        app.reload()
        settle()
        supervisor.ready()
    supervisor.stopping()
    app.stop()


@cli.command("test")
def unit_test(
    files: Annotated[list[Path], typer.Argument(help="Files of unit tests, in promtool's format.")],
    run: Annotated[
        list[str] | None, typer.Option(help="Only tests whose names match the regular expression; may be repeated.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write the outcome to this file, as JUnit's XML.")] = None,
    # Taken so that promtool's command lines work.
    diff: Annotated[bool, typer.Option("--diff", help="The difference is always shown.")] = False,  # noqa: ARG001
) -> None:
    """Run promtool's unit tests of rules with the daemon's own engine; exit 1 when one fails."""
    from rich.console import Console

    from monitor.commands.test import RunPatternError, run_files, wanted

    try:
        good = run_files(files, wanted(run or ()), junit, Console(), Console(stderr=True))
    except (RunPatternError, OSError) as err:
        fail(str(err))
    if not good:
        raise typer.Exit(1)


@cli.command()
def demo(
    scenario: Annotated[str, typer.Option(help="What the simulated vLLM lives through.")] = "overload",
    seconds: Annotated[float, typer.Option(help="About how long it may take; 0: as fast as it goes.")] = 20.0,
) -> None:
    """Let a simulated vLLM live through an incident, and print what Slack would be told (or tell Slack)."""
    from monitor.commands.demo import play

    problem = play(scenario, seconds, os.environ)
    if problem:
        fail(problem)


@cli.command()
def healthcheck(
    config: ConfigOption = None,
    listen: Annotated[str | None, typer.Option(help="Address of the HTTP side; 127.0.0.1:9109.")] = None,
) -> None:
    """Ask the daemon with these settings whether it is healthy; exit 1 when it is not."""
    from monitor.commands.healthcheck import problem
    from monitor.commands.settings import loader
    from monitor.config.flags import Flags
    from monitor.yamldoc.mistake import DocumentError

    # The daemon has its targets; here any will do.
    flags = Flags(targets=() if config else ("127.0.0.1:1",), listen=listen or "")
    try:
        found = problem(loader(config, flags, os.environ)())
    except DocumentError as err:
        found = str(err)
    if found:
        fail(found)
    print("healthy")


@cli.command()
def query(
    expr: Annotated[str, typer.Argument(help="A PromQL expression.")],
    *,
    time: Annotated[str | None, typer.Option(help="When: RFC 3339, or seconds since 1970; now.")] = None,
    range_: Annotated[str | None, typer.Option("--range", help="Ask for all of the last 1h, say.")] = None,
    step: Annotated[str | None, typer.Option(help="How far apart the points of a range are; a 250th of it.")] = None,
    end: Annotated[str | None, typer.Option(help="When the range ends; now.")] = None,
    url: Annotated[str | None, typer.Option(help="A daemon, or a Prometheus; http://127.0.0.1:9109.")] = None,
    openmetrics: Annotated[
        Path | None, typer.Option(help="Ask a page in a file (- is standard input) instead of a server.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the answer as the HTTP API gives it.")] = False,
    plot: Annotated[bool, typer.Option("--plot", help="Draw the series of a range.")] = False,
) -> None:
    """Evaluate an expression: in a daemon, in a Prometheus, or over a page in a file."""
    from monitor.commands.query import QueryError, answered, asked, source
    from monitor.commands.show import form_of, remarks, show, terminal
    from monitor.commands.usage import UsageError

    try:
        question, form = asked(expr, time, range_, step, end), form_of(json=json, plot=plot, is_range=bool(range_))
        where = source(url, openmetrics)
    except UsageError as err:
        raise typer.BadParameter(str(err)) from err
    try:
        answer = answered(question, where)
    except QueryError as err:
        fail(str(err))
    show(answer, form, question.step, terminal())
    for line in remarks(answer):
        print(line, file=sys.stderr)


cli.command()(check)
cli.command()(backtest)
cli.command()(alerts)
cli.add_typer(silence_cli, name="silence")
cli.add_typer(outbox_cli, name="outbox")
cli.add_typer(rules_cli, name="rules")
cli.add_typer(dashboards_cli, name="dashboards")
cli.command("plan")(plan_command)
cli.command("doctor")(doctor_command)
cli.command("gate")(gate_command)
cli.command("report")(report_command)
cli.command("test-slack")(try_slack)


def main() -> None:
    """Run the command that the arguments name."""
    cli()
