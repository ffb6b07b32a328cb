"""A text that must not be shown."""


class Secret:
    """A token, a password or a URL that holds one; only `reveal` gives it away, no message, log or repr does."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "<secret>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


def revealed(secret: Secret | None) -> str:
    """Return what is hidden, "" where nothing is."""
    return secret.reveal() if secret is not None else ""
