"""What the alerts that ship must be beyond being right: fit to wake somebody."""

import re
from collections.abc import Iterator

from monitor.rulebook.kinds import SEVERITIES
from monitor.rulebook.lint.syntax import names, numbers
from monitor.rules.spec import AlertingRule

ANNOTATIONS = ("summary", "description", "value", "threshold", "runbook_url", "dashboard_url")
# What whoever scrapes says of the scrape.
SCRAPED = frozenset(("up", "scrape_duration_seconds"))
TRY_FIRST = "Try first: "
_CLOSE = 1e-9


def shortcomings(rule: AlertingRule) -> Iterator[str]:
    """Yield one sentence for each thing that an alert lacks."""
    for check in (_layer, _severity, _annotations, _advice, _summary, _threshold):
        yield from check(rule)


def _layer(rule: AlertingRule) -> Iterator[str]:
    for name in sorted(names(rule.expr)):
        if name not in SCRAPED and not name.startswith(("vllm_engine:", "vllm_monitor_")):
            yield f"an alert reads the raw {name}"


def _severity(rule: AlertingRule) -> Iterator[str]:
    if rule.labels.value("severity") not in SEVERITIES:
        yield f"no severity of {', '.join(SEVERITIES)}"


def _annotations(rule: AlertingRule) -> Iterator[str]:
    missing = [name for name in ANNOTATIONS if not rule.annotations.value(name)]
    if missing:
        yield f"no annotation {', '.join(missing)}"
    if not rule.annotations.value("runbook_url").endswith(f"#{rule.name.lower()}"):
        yield "the runbook_url does not lead to the alert's heading"


def _advice(rule: AlertingRule) -> Iterator[str]:
    last = rule.annotations.value("description").rstrip().split("\n")[-1]
    if not last.startswith(TRY_FIRST) and rule.labels.value("severity") != "none":
        yield f'the last line of the description does not begin with "{TRY_FIRST}"'


def _summary(rule: AlertingRule) -> Iterator[str]:
    summary = rule.annotations.value("summary")
    if "{{" in summary or "\n" in summary or re.search(r"\d", summary):
        yield "the summary is not one line without values"


def _threshold(rule: AlertingRule) -> Iterator[str]:
    threshold = rule.annotations.value("threshold")
    found = re.match(r"([\d.]+)(%?)", threshold)
    if found is None:
        # Only what always fires has nothing that it is compared with.
        if rule.labels.value("severity") != "none":
            yield "the threshold does not begin with a number"
    elif "minute" not in threshold and "second" not in threshold:
        number = float(found[1]) / (100 if found[2] else 1)
        # "20% below the best" is 0.8 times the best.
        if not any(min(abs(one - number), abs(1 - one - number)) < _CLOSE for one in numbers(rule.expr)):
            yield f"the threshold {found[0]} is not in the expression"
