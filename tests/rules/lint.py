"""What a shipped rule must not say. Every check returns its complaints, so that a test can show it complaining."""

import re
from collections.abc import Iterator
from typing import Any

import promql_parser

Rule = dict[str, Any]

ANNOTATIONS = {"summary", "description", "value", "threshold", "runbook_url", "dashboard_url"}
# What whoever scrapes says of the scrape.
SCRAPED = {"up", "scrape_duration_seconds"}
COUNTING = {"rate", "increase", "resets", "changes"}
COMPARISONS = {">", "<", ">=", "<=", "==", "!="}
# Nobody promises an answer later than this: a larger number is milliseconds by mistake.
LONGEST_SECONDS = 250


def complaints(rule: Rule) -> list[str]:
    """Return what is wrong with a rule, one sentence for each fault."""
    checks = [
        _counters_without_rate,
        _ratio_against_percent,
        _seconds_against_milliseconds,
        *([_layer, _fit_to_wake, _one_line_summary, _threshold_of_expression] if "alert" in rule else []),
    ]
    return [complaint for check in checks for complaint in check(rule)]


def names(expr: str) -> set[str]:
    """Return the metric names an expression selects."""
    return {node.name for node, _ in _walk(promql_parser.parse(expr)) if _is(node, "VectorSelector")}


def comparisons(expr: str) -> Iterator[tuple[set[str], str, float]]:
    """Yield, for each comparison with a number, the names whose values are on its left, its operator and the number."""
    for node, _ in _walk(promql_parser.parse(expr)):
        if _is(node, "BinaryExpr") and str(node.op) in COMPARISONS and _is(node.rhs, "NumberLiteral"):
            yield _valued(node.lhs), str(node.op), node.rhs.val


def _valued(node: Any) -> set[str]:
    """Return the names that `node` selects for their values; how many samples there are is another thing."""
    return {
        inner.name for inner, inside in _walk(node) if _is(inner, "VectorSelector") and "count_over_time" not in inside
    }


def numbers(expr: str) -> set[float]:
    """Return the numbers in an expression."""
    return {node.val for node, _ in _walk(promql_parser.parse(expr)) if _is(node, "NumberLiteral")}


def _is(node: Any, kind: str) -> bool:
    return type(node).__name__ == kind


def _walk(node: Any, inside: tuple[str, ...] = ()) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield every node with the functions around it."""
    yield node, inside
    around = (*inside, node.func.name) if _is(node, "Call") else inside
    for child in ("lhs", "rhs", "expr", "vector_selector"):
        if getattr(node, child, None) is not None:
            yield from _walk(getattr(node, child), around)
    for argument in getattr(node, "args", None) or ():
        yield from _walk(argument, around)


def _counters_without_rate(rule: Rule) -> Iterator[str]:
    for node, inside in _walk(promql_parser.parse(rule["expr"])):
        if _is(node, "VectorSelector") and node.name.endswith("_total") and not COUNTING & set(inside):
            yield f"{node.name} is read without rate"


def _ratio_against_percent(rule: Rule) -> Iterator[str]:
    for left, operator, number in comparisons(rule["expr"]):
        if number > 1 and any("usage" in name or ":ratio" in name for name in left):
            yield f"a ratio of 0..1 is compared: {operator} {number:g}"


def _seconds_against_milliseconds(rule: Rule) -> Iterator[str]:
    for left, operator, number in comparisons(rule["expr"]):
        if number > LONGEST_SECONDS and any("_seconds" in name for name in left):
            yield f"seconds are compared: {operator} {number:g}"


def _layer(rule: Rule) -> Iterator[str]:
    for name in sorted(names(rule["expr"])):
        if name not in SCRAPED and not name.startswith(("vllm_engine:", "vllm_monitor_")):
            yield f"an alert reads the raw {name}"


def _fit_to_wake(rule: Rule) -> Iterator[str]:
    if rule["labels"].get("severity") not in {"critical", "warning", "info", "none"}:
        yield "no severity of critical, warning, info, none"
    if missing := ANNOTATIONS - rule["annotations"].keys():
        yield f"no annotation {', '.join(sorted(missing))}"
    if not rule["annotations"].get("runbook_url", "").endswith(f"/docs/runbooks/README.md#{rule['alert'].lower()}"):
        yield "the runbook_url does not lead to the alert's heading"


def _one_line_summary(rule: Rule) -> Iterator[str]:
    summary = rule["annotations"].get("summary", "")
    if "{{" in summary or "\n" in summary or re.search(r"\d", summary):
        yield "the summary is not one line without values"


def _threshold_of_expression(rule: Rule) -> Iterator[str]:
    threshold = rule["annotations"].get("threshold", "")
    found = re.match(r"([\d.]+)(%?)", threshold)
    if found is None:
        # Only what always fires has nothing that it is compared with.
        if rule["labels"].get("severity") != "none":
            yield "the threshold does not begin with a number"
    elif "minute" not in threshold and "second" not in threshold:
        number = float(found[1]) / (100 if found[2] else 1)
        # "20% below the best" is 0.8 times the best.
        if not any(abs(there - number) < 1e-9 or abs(1 - there - number) < 1e-9 for there in numbers(rule["expr"])):
            yield f"the threshold {found[0]} is not in the expression"
