"""The commands about alerts and silences: `vllm-monitor alerts`, `vllm-monitor silence …`."""

from typing import Annotated

import typer

from monitor.commands.usage import asking

silence_cli = typer.Typer(help="Silences: what not to be told of for a while.", no_args_is_help=True)

UrlOption = Annotated[str | None, typer.Option(help="A daemon, or an Alertmanager; http://127.0.0.1:9109.")]
MatchersArgument = Annotated[
    list[str] | None, typer.Argument(help="severity=warning, instance=~10.0.0.+, or the name of an alert.")
]


def alerts(
    matchers: MatchersArgument = None,
    *,
    url: UrlOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print the alerts as the HTTP API gives them.")] = False,
) -> None:
    """Show the alerts that fire, and which of them nobody is told of, and why."""
    from monitor.clock import SystemClock
    from monitor.commands.alertmanager import Alertmanager, matchers_of
    from monitor.commands.alerts import alert_table, matching
    from monitor.commands.show import terminal

    with asking():
        wanted = matchers_of(matchers or ())
        known = Alertmanager(url).alerts()
    shown = matching(known, wanted)
    if json:
        _print_json(shown)
    elif shown:
        terminal().print(alert_table(shown, known, SystemClock().now()))
    else:
        typer.echo("no alerts")


@silence_cli.command("add")
def silence_add(
    matchers: MatchersArgument = None,
    *,
    duration: Annotated[str, typer.Option(help="How long, from now on: 30m, 2h, 1d12h.")] = "1h",
    comment: Annotated[str, typer.Option(help="Why; must be given.")] = "",
    author: Annotated[str | None, typer.Option(help="Who; the user.")] = None,
    url: UrlOption = None,
) -> None:
    """Silence the alerts that all matchers accept; prints the id of the silence."""
    from monitor.clock import SystemClock
    from monitor.commands.alertmanager import Alertmanager, matchers_of
    from monitor.commands.silence import body, duration_of, effect, user

    with asking():
        wanted, daemon = matchers_of(matchers or ()), Alertmanager(url)
        added = daemon.add(body(wanted, duration_of(duration), SystemClock().now(), comment, author or user()))
        typer.echo(added)
        typer.echo(effect(daemon.alerts(), wanted), err=True)


@silence_cli.command("list")
def silence_list(
    *,
    expired: Annotated[bool, typer.Option("--expired", help="Show those that are over as well.")] = False,
    url: UrlOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print the silences as the HTTP API gives them.")] = False,
) -> None:
    """Show the silences that are active or will be."""
    from monitor.clock import SystemClock
    from monitor.commands.alertmanager import Alertmanager
    from monitor.commands.show import terminal
    from monitor.commands.silence import silence_table

    with asking():
        silences = [one for one in Alertmanager(url).silences() if expired or one["status"]["state"] != "expired"]
    if json:
        _print_json(silences)
    elif silences:
        terminal().print(silence_table(silences, SystemClock().now()))
    else:
        typer.echo("no silences")


@silence_cli.command("expire")
def silence_expire(
    ids: Annotated[list[str], typer.Argument(help="Ids, as `silence add` and `silence list` print them.")],
    *,
    url: UrlOption = None,
) -> None:
    """End silences now; exit 1 when there is none of an id."""
    from monitor.commands.alertmanager import Alertmanager, AskError

    with asking():
        daemon, wrong = Alertmanager(url), False
        for silence in ids:
            try:
                daemon.expire(silence)
            except AskError as err:
                wrong = True
                typer.echo(f"{silence}: {err}", err=True)
    if wrong:
        raise typer.Exit(1)


def _print_json(value: object) -> None:
    import json

    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))
