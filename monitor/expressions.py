"""Expressions and templates of a rule file, checked before anything runs."""

from monitor.promql import PromqlError, ValueType, parse
from monitor.rules.rulefmt import Problem
from monitor.template import TemplateError
from monitor.template import parse as parse_template


def check_expr(text: str) -> Problem | None:
    """Return what is wrong with a rule's expression, or what of it is not supported; None when it can be evaluated."""
    try:
        plan = parse(text)
    except PromqlError as err:
        return Problem(str(err.args[0]), *(err.position or (None, None)))
    if plan.result_type not in (ValueType.VECTOR, ValueType.SCALAR):
        return Problem(f"a rule needs an instant vector or a scalar, this is a {plan.result_type}")
    return None


def check_template(text: str) -> Problem | None:
    """Return what is wrong with the template of a label or an annotation."""
    try:
        parse_template(text)
    except TemplateError as err:
        return Problem(str(err), err.line, err.column)
    return None
