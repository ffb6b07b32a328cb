"""
What is done to an expression before the parser library sees it.

The library ends the process on an expression that nests too deeply, takes some things that Prometheus does not, and
refuses some that Prometheus takes: those are bounded, or written in another form, here.
"""

from collections.abc import Sequence

from monitor.model.instant import format_duration, parse_duration
from monitor.model.labels import quoted
from monitor.promql.error import refused
from monitor.promql.lex import Kind, Token
from monitor.promql.values import OCTAL, number, unsigned

LENGTH = 64 * 1024
# The library needs some 3,000 levels to overflow 8 MB of stack; the evaluation needs a few Python frames a level.
DEPTH = 150
_WORD_OPERATORS = frozenset({"and", "or", "unless", "atan2"})


def check_length(text: str, limit: int = LENGTH) -> None:
    """Raise PromqlError when the expression is longer than `limit` characters."""
    if len(text) > limit:
        raise refused(f"the expression has {len(text)} characters; at most {limit} are allowed")
    if "\0" in text:
        raise refused("the expression contains a null character")


def check_depth(found: Sequence[Token], limit: int = DEPTH) -> None:
    """
    Raise PromqlError when the tree of the expression could be deeper than `limit`.

    Each bracket and each operator of a chain is one level; the arguments of a call stand side by side.
    """
    # For each open bracket: the operators in its present argument, the deepest inside that one, the deepest argument.
    levels = [[0, 0, 0]]
    for token in found:
        here = levels[-1]
        if token.kind is Kind.OPEN:
            levels.append([0, 0, 0])
        elif token.kind is Kind.COMMA:
            levels[-1] = [0, 0, max(here[2], here[0] + here[1])]
        elif token.kind is Kind.OPERATOR or token.text.lower() in _WORD_OPERATORS:
            here[0] += 1
        elif token.kind is Kind.CLOSE and len(levels) > 1:
            levels.pop()
            levels[-1][1] = max(levels[-1][1], 1 + max(here[2], here[0] + here[1]))
        if len(levels) > limit or levels[-1][0] + levels[-1][1] > limit:
            raise refused(f"the expression nests more than {limit} levels deep", token.position)


def check_numbers(found: Sequence[Token]) -> None:
    """Raise PromqlError for a number that is none, some of which the library takes for two, or for infinite."""
    for token in found:
        if token.kind is Kind.NUMBER:
            number(token)


def rewrite(text: str, found: Sequence[Token]) -> str:
    """Return the expression with raw strings and numbers in the forms that the parser library takes."""
    parts, at, in_brackets = [], 0, False
    for token in found:
        gap = text[at : token.start]
        # Between brackets the library takes neither comments nor a number that starts with its point.
        parts.append(" " if in_brackets and "#" in gap else gap)
        parts.append(_in_brackets(token) if in_brackets else _rewritten(token))
        at = token.end
        in_brackets = token.text == "[" or (in_brackets and token.text != "]")
    return "".join([*parts, text[at:]])


def _rewritten(token: Token) -> str:
    if token.kind is Kind.STRING and token.text.startswith("`"):
        return quoted(token.text[1:-1])
    if token.kind is Kind.NUMBER:
        return _number(token.text)
    return token.text


def _in_brackets(token: Token) -> str:
    new = _rewritten(token)
    return "0" + new if new.startswith(".") else new


def _number(text: str) -> str:
    plain = text.replace("_", "")
    if OCTAL.fullmatch(plain):
        return f"{unsigned(plain):.0f}"
    # The library counts milliseconds in 32 bits, so days and hours are told too.
    return format_duration(parse_duration(plain)) if plain.endswith("ms") else plain
