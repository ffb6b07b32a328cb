"""
Label matchers.

The parser library compiles regular expressions, with an engine that takes others than RE2: it is shown equalities in
their place, and the tokens say what the matchers are.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import promql_parser as library

from monitor.model.labels import METRIC_NAME
from monitor.model.matcher import Matcher, MatchError, MatchType
from monitor.promql.error import refused
from monitor.promql.lex import Kind, Token

_TYPES = frozenset(MatchType)
_EMPTY = ('""', "''", "``")


def equalities(found: Sequence[Token]) -> Iterator[Token]:
    """
    Yield the tokens with equalities in place of matchers by regular expression.

    Whether one matches what is empty is for us to say, so the library is shown one that does not, where it can be.
    """
    in_braces = False
    for token, after in zip_longest(found, found[1:]):
        in_braces = token.text == "{" or (in_braces and token.text != "}")
        if in_braces and token.text in ("=~", "!~"):
            # Of the same length, so that what follows stays where it is.
            is_not_empty = token.text == "!~" and after is not None and after.text in _EMPTY
            yield replace(token, text="!=" if is_not_empty else "= ")
        else:
            yield token


def match_types(found: Sequence[Token]) -> Iterator[MatchType]:
    """Yield the types of the matchers, in order; a metric name in quotes is a matcher too."""
    in_braces = False
    for before, token, after in zip(found, found[1:], found[2:], strict=False):
        in_braces = before.text == "{" or (in_braces and token.text != "}")
        if in_braces and token.text in _TYPES:
            yield MatchType(token.text)
        elif in_braces and token.kind is Kind.STRING and before.text in "{," and after.text in ",}":
            yield MatchType.EQUAL


def selected(tree: Any, types: deque[MatchType]) -> tuple[Matcher, ...]:
    """Return the matchers of the library's selector; their types are taken off `types`. Raises PromqlError."""
    if tree.matchers.or_matchers:
        raise refused('"or" between label matchers is not PromQL')
    found = [] if tree.name is None else [Matcher(METRIC_NAME, MatchType.EQUAL, tree.name)]
    found += [_matcher(matcher, types) for matcher in tree.matchers.matchers]
    if all(matcher.matches("") for matcher in found):
        raise refused("vector selector must contain at least one non-empty matcher")
    return tuple(found)


def _matcher(matcher: Any, types: deque[MatchType]) -> Matcher:
    type_ = types.popleft() if types else None
    shown_negative = type_ is MatchType.NOT_EQUAL or (type_ is MatchType.NOT_REGEX and not matcher.value)
    if type_ is None or shown_negative != (matcher.op == library.MatchOp.NotEqual):
        # The tokens and the tree disagree, which no expression is known to cause: an error, and no wrong matcher.
        raise refused(f"cannot find the matcher of {matcher.name} in the expression")
    try:
        return Matcher(matcher.name, type_, matcher.value)
    except MatchError as err:
        raise refused(str(err)) from err
