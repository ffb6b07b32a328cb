"""How a command ends that cannot do what it is told."""

import contextlib
from collections.abc import Iterator
from typing import NoReturn

import typer


class UsageError(Exception):
    """The options do not go together, or one cannot be read."""


def fail(message: str) -> NoReturn:
    """Print why, and end with 1."""
    typer.echo(message, err=True)
    raise typer.Exit(1)


@contextlib.contextmanager
def asking() -> Iterator[None]:
    """Ask a daemon; what goes wrong is told on one line."""
    from monitor.commands.alertmanager import AskError

    try:
        yield
    except UsageError as err:
        raise typer.BadParameter(str(err)) from err
    except AskError as err:
        fail(str(err))
