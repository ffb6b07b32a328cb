"""The lint of the product for rules as YAML has them."""

from typing import Any

from monitor.rulebook.lint.report import complaints as found
from monitor.rulebook.lint.style import SCRAPED
from monitor.rulebook.lint.syntax import comparisons, names, numbers
from monitor.rules.spec import AlertingRule, RecordingRule, overlay

__all__ = ["SCRAPED", "comparisons", "complaints", "names", "numbers"]

Rule = dict[str, Any]


def complaints(rule: Rule) -> list[str]:
    """Return what is wrong with a rule, one sentence for each fault."""
    if "record" in rule:
        return found(RecordingRule(rule["record"], rule["expr"]))
    labels, annotations = (overlay({}, rule.get(key, {})) for key in ("labels", "annotations"))
    return found(AlertingRule(rule["alert"], rule["expr"], labels=labels, annotations=annotations))
