"""From the text of an expression to a plan."""

import re
from typing import Any

import promql_parser as library

from monitor.promql.build import Builder
from monitor.promql.error import PromqlError, refused
from monitor.promql.guard import LENGTH, check_depth, check_length, rewrite
from monitor.promql.lex import tokens
from monitor.promql.node import MatrixNode, Node, ScalarNode, StringNode, VectorNode
from monitor.promql.plan import Plan, ValueType

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
    found = tuple(tokens(text))
    check_depth(found)
    tree = _tree(rewrite(text, found))
    builder = Builder(found)
    try:
        root = builder.build(tree)
    except PromqlError:
        raise
    except Exception as err:
        raise refused(f"not supported: {err}") from err
    return Plan(text, _type(root), tuple(builder.selectors), root)


def _tree(text: str) -> Any:
    try:
        return library.parse(text)
    except Exception as err:
        raise refused(_PLACE.sub("", str(err), count=1)) from err
    except BaseException as err:
        # The library's panics are no Exceptions. What asks the program to end is passed on.
        if isinstance(err, KeyboardInterrupt | SystemExit | GeneratorExit):
            raise
        raise refused(f"the expression cannot be parsed: {err}") from err


def _type(root: Node) -> ValueType:
    return next(type_ for kind, type_ in _TYPES if isinstance(root, kind))
