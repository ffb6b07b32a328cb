"""Stand-ins for the checks that a rule file's reader is handed: just enough to be wrong in a known place."""

from monitor.rules.rulefmt import Problem
from monitor.template import TemplateError, parse

WRONG = ">>"


def check_expr(text: str) -> Problem | None:
    """Find fault with `>>`, which no expression has."""
    before, found, _ = text.partition(WRONG)
    if not found:
        return None
    return Problem("unexpected >>", before.count("\n") + 1, len(before) - before.rfind("\n"))


def check_template(text: str) -> Problem | None:
    try:
        parse(text)
    except TemplateError as err:
        return Problem(str(err), err.line, err.column)
    return None
