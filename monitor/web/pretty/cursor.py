"""The tokens of an expression, one after the other."""

from collections.abc import Callable, Sequence

from monitor.promql.durations import Computed, Reader
from monitor.promql.error import refused
from monitor.promql.lex import Token

_END = ""


class Cursor:
    """Stands before a token; `word` is its text in lower case, "" at the end."""

    def __init__(self, found: Sequence[Token]) -> None:
        self._found = found
        self._at = 0

    @property
    def word(self) -> str:
        return self.ahead(0)

    def ahead(self, count: int) -> str:
        """Return the text of the token `count` after this one, in lower case."""
        at = self._at + count
        return self._found[at].text.lower() if at < len(self._found) else _END

    def take(self, *words: str) -> Token:
        """
        Step over a token, which is one of `words` where some are given, and return it.

        Raises PromqlError; an expression that has been parsed gives no cause for it.
        """
        if self._at == len(self._found) or (words and self.word not in words):
            raise refused(f"cannot be formatted: {' or '.join(words)} expected")
        self._at += 1
        return self._found[self._at - 1]

    def duration(self) -> Computed:
        """Step over a range or a step, and return it."""
        return self._read(Reader.expression)

    def offset(self) -> Computed:
        """Step over what follows `offset`, and return it."""
        return self._read(Reader.offset)

    def _read(self, read: Callable[[Reader], Computed]) -> Computed:
        reader = Reader(self._found, self._at, "duration")
        tree = read(reader)
        self._at = reader.at
        return tree

    def passes(self, *words: str) -> bool:
        """Step over the token if it is one of `words`, and say so."""
        if self.word not in words:
            return False
        self._at += 1
        return True
