"""
Durations that are computed: `5m + 1h`, `2 * (1m - 10s)`.

reference: Prometheus 3.14, promql/parser/generated_parser.y (`duration_expr`) and promql/durations.go.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

from monitor.promql.arithmetic import ARITHMETIC
from monitor.promql.error import PromqlError, refused
from monitor.promql.lex import Kind, Position, Token
from monitor.promql.values import number

_SUM, _PRODUCT, _POWER = 1, 2, 3
_BINDS = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT, "^": _POWER}
_BY_ZERO = {"/": "division by zero", "%": "modulo by zero"}
_CALLS = frozenset({"step", "range", "min_of", "max_of"})
# Prometheus counts nanoseconds in 64 bits.
_LONGEST_SECONDS = 2**63 / 1e9
OPERAND = "number, duration, step(), or range()"


@dataclass(frozen=True, slots=True)
class Literal:
    """A number of seconds or a duration, with the signs before it; `is_duration` is how it was written."""

    seconds: float
    is_duration: bool


@dataclass(frozen=True, slots=True)
class Negative:
    of: "Computed"


@dataclass(frozen=True, slots=True)
class Parentheses:
    of: "Computed"


@dataclass(frozen=True, slots=True)
class Operation:
    left: "Computed"
    operator: Token
    right: "Computed"


Computed = Union[Literal, Negative, Parentheses, Operation]  # noqa: UP007 - names in quotes take no bar


def seconds(tree: Computed) -> float:
    """Return what a duration comes to, which may be no finite number. Raises PromqlError on a division by zero."""
    if isinstance(tree, Literal):
        return tree.seconds
    if isinstance(tree, Operation):
        left, right = seconds(tree.left), seconds(tree.right)
        symbol = tree.operator.text
        if right == 0 and symbol in _BY_ZERO:
            raise refused(_BY_ZERO[symbol], tree.operator.position)
        return ARITHMETIC[symbol](left, right)
    return -seconds(tree.of) if isinstance(tree, Negative) else seconds(tree.of)


def checked(value: float, position: Position) -> float:
    """Return the seconds. Raises PromqlError when they are more than any duration, or NaN."""
    if not abs(value) < _LONGEST_SECONDS:
        raise refused("duration out of range", position)
    return value


class Reader:
    """
    Reads one duration after the other; `at` is the index of the token that is next.

    `place` is what errors say of where it stands. The methods raise PromqlError.
    """

    def __init__(self, found: Sequence[Token], at: int, place: str) -> None:
        self._found = found
        self._place = place
        self.at = at

    @property
    def word(self) -> str:
        """The text of the next token, "" at the end."""
        return self._found[self.at].text if self.at < len(self._found) else ""

    def expression(self, least: int = 0) -> Computed:
        """Return what stands here, up to an operator that binds no more than `least`."""
        left = self._operand()
        while (binds := _BINDS.get(self.word, 0)) > least:
            operator = self._found[self.at]
            self.at += 1
            # The power is the only one that groups from the right.
            left = Operation(left, operator, self.expression(binds - (binds == _POWER)))
        return left

    def offset(self) -> Computed:
        """
        Return what follows `offset`.

        A number, a sign with a number and a sign with parentheses end there: what comes then is no part of the offset.
        """
        word, is_signed = self.word, self.word in ("+", "-")
        if word == "(" or (is_signed and self._ahead(1) in ("+", "-")):
            return self.expression()
        if not is_signed:
            return self._operand()
        self.at += 1
        return _signed(word, self._operand())

    def _operand(self) -> Computed:
        word = self.word
        if word in ("+", "-"):
            self.at += 1
            return _signed(word, self.expression(_PRODUCT))
        if word == "(":
            self.at += 1
            inside = self.expression()
            if self.word != ")":
                raise self.unexpected(self._place, OPERAND)
            self.at += 1
            return inside if isinstance(inside, Literal | Parentheses) else Parentheses(inside)
        return self._literal()

    def _literal(self) -> Literal:
        if self.at < len(self._found):
            token = self._found[self.at]
            if token.kind is Kind.NUMBER or token.text.lower() in ("inf", "nan"):
                self.at += 1
                return Literal(checked(number(token), token.position), is_duration=is_duration(token))
            if token.text.lower() in _CALLS and self._ahead(1) == "(":
                raise refused(
                    f"{token.text.lower()}() in a duration is experimental in Prometheus 3 and not supported",
                    token.position,
                )
        raise self.unexpected(self._place, OPERAND)

    def _ahead(self, count: int) -> str:
        return self._found[self.at + count].text if self.at + count < len(self._found) else ""

    def unexpected(self, place: str, expected: str) -> PromqlError:
        """Return the error for the token that stands here."""
        if self.at == len(self._found):
            last = self._found[-1]
            after = (last.position[0], last.position[1] + len(last.text))
            return refused(f"unexpected end of input in {place}, expected {expected}", after)
        token = self._found[self.at]
        return refused(f"unexpected {_described(token)} in {place}, expected {expected}", token.position)


def _described(token: Token) -> str:
    if token.kind is Kind.STRING:
        return f"string {token.text}"
    if token.kind is Kind.OPERATOR:
        return f"<op:{token.text}>"
    kind = ("duration " if is_duration(token) else "number ") if token.kind is Kind.NUMBER else ""
    return f'{kind}"{token.text}"'


def is_duration(token: Token) -> bool:
    """Say whether a number is written with units."""
    return token.kind is Kind.NUMBER and token.text[-1].isalpha() and not token.text.lower().startswith("0x")


def _signed(sign: str, of: Computed) -> Computed:
    if sign == "+":
        return of
    return Literal(-of.seconds, of.is_duration) if isinstance(of, Literal) else Negative(of)
