"""How a command ends that cannot do what it is told."""

from typing import NoReturn

import typer


class UsageError(Exception):
    """The options do not go together, or one cannot be read."""


def fail(message: str) -> NoReturn:
    """Print why, and end with 1."""
    typer.echo(message, err=True)
    raise typer.Exit(1)
