"""The commands about the rules that ship: `vllm-monitor rules …`."""

from pathlib import Path
from typing import Annotated

import typer

from monitor.commands.usage import UsageError, fail

rules_cli = typer.Typer(
    help="Rules: build those that ship with your own thresholds, and look over any.", no_args_is_help=True
)


@rules_cli.command("build")
def rules_build(  # noqa: PLR0913 - typer reads options off the signature
    *,
    values: Annotated[Path | None, typer.Option(help="A file of values; what it leaves out is as it ships.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="One value, alerts.VLLMRequestsWaiting.waiting=20; may be repeated."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder that the files are written to.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 when a file is not current.")] = False,
    everything: Annotated[bool, typer.Option("--everything", help="With the alerts that are switched off.")] = False,
    only_records: Annotated[
        bool,
        typer.Option("--records", help="Without the alerts: for a Prometheus that is asked for them. Needs --out."),
    ] = False,
    prometheus_rule: Annotated[
        Path | None, typer.Option(help="Write them to this file instead, as objects of the Prometheus Operator.")
    ] = None,
) -> None:
    """Write the rule files, with the thresholds of a file of values."""
    from monitor.commands.rules import built, drift, put, put_objects, records
    from monitor.yamldoc.mistake import DocumentError

    if only_records and out is None and prometheus_rule is None:
        raise typer.BadParameter("--records needs --out: the rules that ship have alerts")
    try:
        files = built(values, set_ or (), everything=everything)
        files = records(files) if only_records else files
        if prometheus_rule is not None:
            typer.echo(put_objects(files, prometheus_rule))
            return
        difference = drift(files, out) if check else ""
        told = "" if check else put(files, out)
    except UsageError as err:
        raise typer.BadParameter(str(err)) from err
    except (DocumentError, OSError) as err:
        fail(str(err))
    if difference:
        typer.echo(difference, nl=False)
        fail("the rule files are not current: run `vllm-monitor rules build`")
    typer.echo(told or "the rule files are current")


@rules_cli.command("lint")
def rules_lint(
    files: Annotated[list[Path], typer.Argument(help="Rule files, in Prometheus' format.")],
    *,
    strict: Annotated[bool, typer.Option("--strict", help="What an alert lacks counts as well.")] = False,
) -> None:
    """Say what is wrong with rules though Prometheus accepts them; exit 1 when a rule cannot work."""
    from monitor.commands.rules import linted

    found = linted(files)
    for mistake in found:
        typer.echo(mistake)
    if any(strict or not mistake.warning for mistake in found):
        raise typer.Exit(1)
