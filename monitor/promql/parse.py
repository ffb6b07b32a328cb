"""From the text of an expression to a plan."""

import re
from collections.abc import Sequence
from typing import Any

import promql_parser as library

from monitor.promql.build import Builder
from monitor.promql.error import PromqlError, refused
from monitor.promql.fold import fold
from monitor.promql.guard import LENGTH, check_depth, check_length, check_numbers, rewrite
from monitor.promql.lex import Token, tokens
from monitor.promql.matchers import equalities
from monitor.promql.node import MatrixNode, Node, ScalarNode, StringNode, VectorNode
from monitor.promql.plan import Plan, ValueType
from monitor.promql.refusal import check_syntax, explained

_TYPES: tuple[tuple[type[Node], ValueType], ...] = (
    (VectorNode, ValueType.VECTOR),
    (ScalarNode, ValueType.SCALAR),
    (MatrixNode, ValueType.MATRIX),
    (StringNode, ValueType.STRING),
)
_PLACE = re.compile(r"\d+:\d+: ")


def parse(text: str, *, length: int = LENGTH) -> Plan:
    """
    Return the plan of an expression of at most `length` characters.

    Raises PromqlError (of kind bad_data, and no other exception) for what is no PromQL of Prometheus 3, what is
    experimental there, and what reads native histograms.
    """
    check_length(text, length)
    written = tuple(tokens(text))
    check_depth(written)
    check_numbers(written)
    check_syntax(written)
    found = fold(written)
    tree = _tree(rewrite(text, tuple(equalities(found))), found)
    builder = Builder(found)
    try:
        root = builder.build(tree)
        _check_plus(found, root)
    except PromqlError:
        raise
    except Exception as err:
        raise refused(f"not supported: {err}") from err
    return Plan(text, _type(root), tuple(builder.selectors), root)


def _tree(text: str, found: Sequence[Token]) -> Any:
    try:
        return library.parse(text)
    except Exception as err:
        raise explained(_PLACE.sub("", str(err), count=1), found) from err
    except BaseException as err:
        # The library's panics are no Exceptions. What asks the program to end is passed on.
        if isinstance(err, KeyboardInterrupt | SystemExit | GeneratorExit):
            raise
        raise refused(f"the expression cannot be parsed: {err}") from err


def _check_plus(found: Sequence[Token], root: Node) -> None:
    """Raise PromqlError for a plus before what has no sign: the library passes over it."""
    first = next((token for token in found if token.text != "("), None)
    if first is not None and first.text == "+" and isinstance(root, MatrixNode | StringNode):
        raise refused("unary expression only allowed on expressions of type scalar or instant vector", first.position)


def _type(root: Node) -> ValueType:
    return next(type_ for kind, type_ in _TYPES if isinstance(root, kind))
