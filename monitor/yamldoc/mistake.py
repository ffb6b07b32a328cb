"""What is wrong in a document, and where."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple


class Place(NamedTuple):
    """A line and a column, both counted from 1; line 0 stands for no place in particular."""

    line: int
    column: int


NOWHERE = Place(0, 0)


@dataclass(frozen=True, slots=True, order=True)
class Mistake:
    """
    One thing that is wrong.

    `path` is a file, or the flag or variable that was read; `where` the part of it that is meant (`route 2`), or "".
    A `warning` is worth telling but stops nobody.
    """

    path: str
    place: Place
    where: str
    what: str
    suggestion: str = ""
    warning: bool = False

    def __str__(self) -> str:
        """Return `file:line:column: where: what (did you mean "…"?)`."""
        at = f"{self.path}:{self.place.line}:{self.place.column}" if self.place.line else self.path
        hint = f' (did you mean "{self.suggestion}"?)' if self.suggestion else ""
        what = f"warning: {self.what}" if self.warning else self.what
        return ": ".join(part for part in (at, self.where, what) if part) + hint


class DocumentError(Exception):
    """A document cannot be used; `mistakes` are all its mistakes (and warnings), sorted by place."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(sorted(set(mistakes)))
        super().__init__("\n".join(map(str, self.mistakes)))


def suggestion(wrong: str, known: Iterable[str]) -> str:
    """Return the one of `known` that `wrong` was probably meant to be, or ""."""
    found = get_close_matches(wrong, list(known), n=1)
    return found[0] if found else ""


def shown(text: str, limit: int = 60) -> str:
    """Return `text` in double quotes on one line, cut where it is too long for a message."""
    line = text.replace("\n", "\\n").replace("\r", "\\r")
    return f'"{line[:limit]}…"' if len(line) > limit else f'"{line}"'
