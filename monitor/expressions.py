"""Expressions and templates of a rule file: checked before anything runs, and what they will read."""

from collections.abc import Iterator

from monitor.model.instant import DAY, Duration, format_duration
from monitor.promql import PromqlError, ValueType, parse
from monitor.rules.rulefmt import Problem
from monitor.rules.spec import AlertingRule, Rule
from monitor.template import TemplateError
from monitor.template import parse as parse_template
from monitor.template.queries import queries

# Everything that a rule reads is kept in memory for as long as it reads back.
LONGEST_REACH: Duration = 35 * DAY

# What is read by a query that a template puts together in a way that only its expansion shows.
ANYTHING = '{__name__=~".+"}'


def check_expr(text: str) -> Problem | None:
    """Return what is wrong with a rule's expression, or what of it is not supported; None when it can be evaluated."""
    try:
        plan = parse(text)
    except PromqlError as err:
        return Problem(str(err.args[0]), *(err.position or (None, None)))
    if plan.result_type not in (ValueType.VECTOR, ValueType.SCALAR):
        return Problem(f"a rule needs an instant vector or a scalar, this is a {plan.result_type}")
    if plan.reach > LONGEST_REACH:
        most = format_duration(LONGEST_REACH)
        return Problem(f"reads further back than {most}, which the window will not hold: record it in steps")
    return None


def check_template(text: str) -> Problem | None:
    """Return what is wrong with the template of a label or an annotation."""
    try:
        parse_template(text)
    except TemplateError as err:
        return Problem(str(err), err.line, err.column)
    return None


def expressions_of(rule: Rule) -> Iterator[str]:
    """Yield every expression that a checked rule evaluates: its own, and those that its templates ask for."""
    yield rule.expr
    if isinstance(rule, AlertingRule):
        for _, text in (*rule.labels, *rule.annotations):
            for expr in queries(parse_template(text)):
                yield expr if expr is not None and check_expr(expr) is None else ANYTHING
