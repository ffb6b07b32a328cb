"""
The parts of an expression, and how each is written: on one line, and on several.

reference: Prometheus 3, promql/parser/printer.go and prettier.go.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

LONGEST_LINE = 100
_INDENT = "  "


class Part(Protocol):
    def line(self) -> str:
        """Return the part on one line."""
        ...

    def pretty(self, level: int) -> str:
        """Return the part indented, on several lines where one would be too long."""
        ...


@dataclass(frozen=True, slots=True)
class Leaf:
    """What is never split: a number, a string, a selector."""

    text: str

    def line(self) -> str:
        return self.text

    def pretty(self, level: int) -> str:
        return _INDENT * level + self.text


@dataclass(frozen=True, slots=True)
class Number:
    """A number or a duration; a sign before it belongs to it."""

    text: str

    def line(self) -> str:
        return self.text

    def pretty(self, level: int) -> str:
        return _INDENT * level + self.text

    def negated(self) -> "Number":
        unsigned = self.text.removeprefix("-").removeprefix("+")
        if unsigned == "NaN":
            return self
        return Number(("+Inf" if unsigned == "Inf" else unsigned) if self.text.startswith("-") else "-" + unsigned)


@dataclass(frozen=True, slots=True)
class Call:
    """A function, or an aggregation with its grouping: `head` is all before the parenthesis."""

    head: str
    arguments: Sequence[Part]

    def line(self) -> str:
        return f"{self.head}({', '.join([part.line() for part in self.arguments])})"

    def pretty(self, level: int) -> str:
        line = self.line()
        if not _is_long(line):
            return _INDENT * level + line
        inside = ",\n".join([part.pretty(level + 1) for part in self.arguments])
        return f"{_INDENT * level}{self.head}(\n{inside}\n{_INDENT * level})"


@dataclass(frozen=True, slots=True)
class Parentheses:
    inside: Part

    def line(self) -> str:
        return f"({self.inside.line()})"

    def pretty(self, level: int) -> str:
        line = self.line()
        if not _is_long(line):
            return _INDENT * level + line
        return f"{_INDENT * level}(\n{self.inside.pretty(level + 1)}\n{_INDENT * level})"


@dataclass(frozen=True, slots=True)
class Unary:
    sign: str
    operand: Part

    def line(self) -> str:
        return self.sign + self.operand.line()

    def pretty(self, level: int) -> str:
        return _INDENT * level + self.sign + self.operand.pretty(level).strip()


@dataclass(frozen=True, slots=True)
class Binary:
    """`operator` has its modifiers with it."""

    left: Part
    operator: str
    right: Part

    def line(self) -> str:
        return f"{self.left.line()} {self.operator} {self.right.line()}"

    def pretty(self, level: int) -> str:
        line = self.line()
        if not _is_long(line):
            return _INDENT * level + line
        sides = self.left.pretty(level + 1), self.right.pretty(level + 1)
        return f"{sides[0]}\n{_INDENT * level}{self.operator}\n{sides[1]}"


@dataclass(frozen=True, slots=True)
class Subquery:
    """`suffix` is the range in brackets, with `@` and `offset`."""

    of: Part
    suffix: str

    def line(self) -> str:
        return self.of.line() + self.suffix

    def pretty(self, level: int) -> str:
        return self.of.pretty(level) + self.suffix


def _is_long(line: str) -> bool:
    return len(line.encode(errors="surrogateescape")) > LONGEST_LINE
