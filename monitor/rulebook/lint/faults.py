"""
Faults: a rule that has one cannot fire, or fires for the wrong reason.

source: what public rule sets for vLLM get wrong. Names are looked up in the table of vLLM's metric families.
"""

from collections.abc import Iterator
from difflib import get_close_matches

from monitor.model.sample import MetricType
from monitor.rulebook.lint.syntax import ASKING, below, comparisons, is_a, selectors, walk
from monitor.rules.spec import Rule
from monitor.vllm.families import PREFIX, PREFIXES, canonical, families, family_of

COUNTING = frozenset(("rate", "increase", "irate", "resets", "changes"))
RATES = frozenset(("rate", "increase", "irate"))
# Nobody promises an answer later than this: a larger number is milliseconds by mistake.
LONGEST_SECONDS = 250
_PREFIXES = (*PREFIXES, "vllm_")
_OURS = ("vllm_engine:", "vllm_monitor_")


def faults(rule: Rule) -> Iterator[str]:
    """Yield one sentence for each fault of a rule."""
    for check in (_unknown_names, _counters_without_rate, _gauges_with_rate, _without_le, _percent, _milliseconds):
        yield from dict.fromkeys(check(rule.expr))


def _unknown_names(expr: str) -> Iterator[str]:
    for name, _ in selectors(expr):
        if name.startswith(_PREFIXES) and not name.startswith(_OURS) and family_of(name) is None:
            known = [metric for family in families().values() for metric in family.metrics]
            meant = get_close_matches(canonical(name).replace("vllm_", PREFIX, 1), known, n=1, cutoff=0.8)
            yield f"no version of vLLM has {name}" + (f' (did you mean "{meant[0]}"?)' if meant else "")


def _counters_without_rate(expr: str) -> Iterator[str]:
    for name, inside in selectors(expr):
        if _counts(name) and not (COUNTING | ASKING) & set(inside):
            yield f"{name} is read without rate"


def _gauges_with_rate(expr: str) -> Iterator[str]:
    for name, inside in selectors(expr):
        family = family_of(name)
        if family is not None and family.type is MetricType.GAUGE and inside and inside[-1] in RATES:
            yield f"{inside[-1]} of {name}, which is a gauge"


def _counts(name: str) -> bool:
    family = family_of(name)
    if family is None:
        return name.endswith("_total")
    is_histogram = family.type is MetricType.HISTOGRAM and name.endswith(("_bucket", "_count", "_sum"))
    return not name.endswith("_created") and (family.type is MetricType.COUNTER or is_histogram)


def _without_le(expr: str) -> Iterator[str]:
    for node, _ in walk(expr):
        if not is_a(node, "Call") or node.func.name != "histogram_quantile":
            continue
        for inner, _ in below(node.args[1]):
            if is_a(inner, "AggregateExpr") and not _keeps_le(inner):
                yield "histogram_quantile of an aggregation that drops le"


def _keeps_le(node: object) -> bool:
    modifier = getattr(node, "modifier", None)
    if modifier is None:
        return False
    return ("le" in modifier.labels) is str(modifier.type).lower().endswith("by")


def _percent(expr: str) -> Iterator[str]:
    for left, operator, number in comparisons(expr):
        if number > 1 and any("usage" in name or ":ratio" in name for name in left):
            yield f"a ratio of 0..1 is compared: {operator} {number:g}"


def _milliseconds(expr: str) -> Iterator[str]:
    for left, operator, number in comparisons(expr):
        # What lags may lag for hours; what a request takes does not.
        if number > LONGEST_SECONDS and any("_seconds" in name and "behind" not in name for name in left):
            yield f"seconds are compared: {operator} {number:g}"
