"""
Series notation: `1 2+3x4 _x2 stale`.

reference: Prometheus' promtool 2.42 and 3.5.3, observed: what is taken and refused here was asked of both. Values are
separated by blanks, and there are none inside of one.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf, isinf, nan

from monitor.model.sample import STALE
from monitor.rules.unittest.errors import NotationError
from monitor.yamldoc.mistake import shown

_DIGITS = r"[0-9][0-9_]*"
_NUMBER = rf"(?:{_DIGITS}\.?[0-9_]*|\.{_DIGITS})(?:[eE][+-]?[0-9_]+)?"
_END = "(?![a-zA-Z0-9_:])"
_ITEM = re.compile(
    rf"_(?:x(?P<absent>[0-9]+))?"
    rf"|(?P<first>stale{_END}|[+-]?(?:{_NUMBER}|(?i:inf|nan){_END}))"
    rf"(?P<rest>(?P<step>[+-]{_NUMBER})?x(?P<times>[0-9]+))?"
)
_PIECES = re.compile(r"[^ \t\r\n]+")
_WORD_REPEATED = re.compile("(?i:(stale|[+-]?(?:nan|inf)))x[0-9]+")
_INTEGER = re.compile("[0-9]+(?:_[0-9]+)*")
_OCTAL = re.compile("0[0-7]+")
_LARGEST_INTEGER = 2**63 - 1
_MOST_TIMES = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Run:
    """`count` values of which each is `step` above the one before; `first` is None where there are no samples."""

    first: float | None
    step: float = 0.0
    count: int = 1


def parse_values(text: str) -> tuple[Run, ...]:
    """Return the values of a series, in runs. Raises NotationError."""
    return tuple(_run(found.group(), found.start()) for found in _PIECES.finditer(text))


def expanded(runs: Iterable[Run]) -> Iterator[float | None]:
    """Yield the values one by one. The step is added again and again, with the error that has, as promtool does."""
    for run in runs:
        value = run.first
        for _ in range(run.count):
            yield value
            if value is not None and run.step:
                value += run.step


def _run(piece: str, offset: int) -> Run:
    found = _ITEM.fullmatch(piece)
    if found is None:
        raise NotationError(_complaint(piece), offset + 1)
    try:
        if piece.startswith("_"):
            return Run(None, count=_times(found["absent"] or "1"))
        first = STALE if found["first"] == "stale" else _signed(found["first"])
        if not found["rest"]:
            return Run(first)
        step = _signed(found["step"]) if found["step"] else 0.0
        # The first value is not counted: 1x3 are four.
        return Run(first, step, _times(found["times"]) + 1)
    except ValueError as err:
        raise NotationError(str(err), offset + 1) from err


def _complaint(piece: str) -> str:
    if piece.startswith("{{"):
        return "native histograms ({{…}}) are not supported"
    word = _WORD_REPEATED.fullmatch(piece)
    if word is not None and word[1] == "stale":
        return f"{shown(piece)}: stale cannot be repeated with x, write it once"
    if word is not None:
        return f"{shown(piece)}: x cannot follow {word[1]}, write {word[1]}+0x…"
    return f"{shown(piece)} is no value (write 1, 1x3, 1+2x3, _, _x3 or stale)"


def _times(text: str) -> int:
    times = int(text)
    if times > _MOST_TIMES:
        raise ValueError(f"{text} is too large a number of repetitions")
    return times


def _signed(text: str) -> float:
    """Return a number that may have a sign; raises ValueError."""
    size = _unsigned(text.lstrip("+-"))
    return -size if text.startswith("-") else size


def _unsigned(text: str) -> float:
    """
    Return what Go makes of the number: an integer by its base first (010 is 8), and a float when it is none.

    Underscores separate the digits of integers only. Raises ValueError.
    """
    if text.lower() in ("inf", "nan"):
        return inf if text.lower() == "inf" else nan
    plain = text.replace("_", "")
    if _INTEGER.fullmatch(text):
        if _OCTAL.fullmatch(plain):
            return float(int(plain, 8))
        if (not plain.startswith("0") or plain == "0") and int(plain) <= _LARGEST_INTEGER:
            return float(int(plain))
    if plain != text:
        raise ValueError(f"{shown(text)} is no number")
    number = float(text)
    if isinf(number):
        raise ValueError(f"{shown(text)} is too large a number")
    return number
