"""A text of the configuration that must not be shown, and what becomes of it."""

from pathlib import Path

from monitor.notify.secret import Secret


class Hidden:
    """A token, a password or a URL that holds one; only `reveal` gives it away, no message, log or repr does."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "<secret>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hidden) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


def revealed(secret: Hidden | None) -> str:
    """Return what is hidden, "" where nothing is."""
    return secret.reveal() if secret is not None else ""


def held(hidden: Hidden | None, file: Path | None) -> Secret:
    """Return what is sent as a secret: the text, or what stands in the file when it is sent."""
    return Secret(revealed(hidden), file)
