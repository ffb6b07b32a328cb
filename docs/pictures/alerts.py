"""Alerts of the shipped rules, as they would be found: with the labels and the texts of their rule files."""

from functools import cache

from monitor.expressions import check_expr, check_template
from monitor.model.alert import Alert
from monitor.model.instant import SECOND, Instant
from monitor.model.labels import Labels
from monitor.rules.rulefmt import read_rules
from monitor.rules.spec import AlertingRule
from monitor.shipped import shipped_rules
from monitor.template import TemplateData, parse

# 2026-11-30 06:05:05 UTC
BEGIN: Instant = 1_796_018_705_000
MODEL = "meta-llama/Llama-3.1-8B-Instruct"


def alert(name: str, value: float, instance: str = "vllm-0:8000", *, at: Instant = BEGIN) -> Alert:
    """Return the alert of the shipped rule `name` that begins to fire at `at`, with this value."""
    rule = _rules()[name]
    engine = Labels.of(job="vllm", instance=instance, model_name=MODEL)
    data = TemplateData(engine, value)
    labels = Labels.of({**engine.as_dict(), **_expanded(rule.labels, data), "alertname": name})
    annotations = Labels.of(_expanded(rule.annotations, data))
    # The expressions look back a minute as well; what is told is since when the rule found it.
    return Alert(labels, annotations, at, active_at=at - max(rule.for_, 5 * SECOND), value=value)


def overloaded(value: float, instance: str = "vllm-0:8000", *, at: Instant = BEGIN) -> Alert:
    return alert("VLLMOverloaded", value, instance, at=at)


def flood() -> list[Alert]:
    """Return what the replicas of a model tell at once when its traffic doubles."""
    queues = [overloaded(20.0 + 7 * number, f"vllm-{number}:8000", at=BEGIN - number * SECOND) for number in range(10)]
    caches = [alert("VLLMKVCacheFull", 0.97 + number / 500, f"vllm-{number}:8000") for number in range(2)]
    return [*queues, *caches]


@cache
def _rules() -> dict[str, AlertingRule]:
    groups = read_rules(shipped_rules(), check_expr, check_template)
    return {rule.name: rule for group in groups for rule in group.rules if isinstance(rule, AlertingRule)}


def _expanded(texts: Labels, data: TemplateData) -> dict[str, str]:
    return {name: parse(text, name).expand(data) for name, text in texts}
