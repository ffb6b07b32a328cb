"""The commands about receivers: `vllm-monitor outbox …` and `vllm-monitor test-slack`."""

import os
from pathlib import Path
from typing import Annotated

import typer

from monitor.commands.usage import asking, fail

outbox_cli = typer.Typer(help="What receivers have yet to be told, and what they would not take.", no_args_is_help=True)

UrlOption = Annotated[str | None, typer.Option(help="A daemon; http://127.0.0.1:9109.")]


@outbox_cli.command("list")
def outbox_list(
    *,
    url: UrlOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print the letters as the HTTP API gives them.")] = False,
) -> None:
    """Show what waits: attempts, next try, last error; and what was given up within seven days."""
    import json as encoder

    from monitor.clock import SystemClock
    from monitor.commands.outbox import Letters, print_letters
    from monitor.commands.show import terminal

    with asking():
        letters = Letters(url).all()
    if json:
        typer.echo(encoder.dumps(letters, ensure_ascii=False, indent=2))
    else:
        print_letters(letters, terminal(), SystemClock().now())


@outbox_cli.command("retry")
def outbox_retry(
    ids: Annotated[
        list[str] | None, typer.Argument(help="Ids, or their beginnings, as `outbox list` prints them.")
    ] = None,
    *,
    all_: Annotated[bool, typer.Option("--all", help="Everything that waits or was given up.")] = False,
    url: UrlOption = None,
) -> None:
    """Try letters again now; a receiver that asked for a pause gets it all the same."""
    from monitor.commands.outbox import Letters, whole_ids

    if bool(ids) == all_:
        raise typer.BadParameter("give ids, or --all")
    with asking():
        letters = Letters(url)
        known = [letter for kind in letters.all().values() for letter in kind]
        wanted = [str(letter["id"]) for letter in known] if all_ else whole_ids(ids or (), known)
        typer.echo(f"{letters.retry(wanted)} tried again: see `vllm-monitor outbox list`")


def try_slack(
    config: Annotated[Path | None, typer.Option("--config", help="A configuration file; without one, SLACK_…")] = None,
    *,
    slack_channel: Annotated[str | None, typer.Option(help="Channel for SLACK_BOT_TOKEN.")] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Also what Slack does not publish: sizes, counting, bursts. Once, by hand.")
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the messages of the test standing.")] = False,
) -> None:
    """Try every Slack receiver: token, scopes, channel, posting, editing, threads. Exit 1 when something is missing."""
    from monitor.clock import SystemClock
    from monitor.commands.settings import loader
    from monitor.commands.show import terminal
    from monitor.commands.test_slack import try_all
    from monitor.config.flags import Flags
    from monitor.yamldoc.mistake import DocumentError

    # The daemon has its targets; here any will do.
    flags = Flags(targets=() if config else ("127.0.0.1:1",), slack_channel=slack_channel or "")
    try:
        read = loader(config, flags, os.environ)()
    except DocumentError as err:
        fail(str(err))
    problem = try_all(read, terminal(), SystemClock().now(), full=full, keep=keep)
    if problem:
        fail(problem)
