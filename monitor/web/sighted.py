"""What a rule sees, in the answer of /api/v1/rules."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from monitor.model.labels import INSTANCE, JOB
from monitor.rules.alerting import AlertState
from monitor.rules.alerting_rule import AlertingRuleRun
from monitor.rules.group import Group, Health, Verdict
from monitor.sight.report import Finding, Sight

Json = dict[str, Any]
SightOf = Callable[[Group, int, Verdict], Json]


def by_rule(sight: Sight) -> SightOf:
    """
    Return what shows the sight of a rule: its health, and the targets on which it finds nothing.

    The health is `err`, `firing`, `nodata` when it finds nothing on any vLLM server, or `ok`.
    """
    found: defaultdict[tuple[str, str, int], list[Finding]] = defaultdict(list)
    for finding in sight.findings:
        found[finding.file, finding.group, finding.number].append(finding)

    def sight_of(group: Group, number: int, verdict: Verdict) -> Json:
        blind = found.get((*group.key, number), [])
        is_blind = bool(blind) and len(blind) >= sight.servers
        return {"health": _health(group, number, verdict, is_blind=is_blind), "blind": [_blind(one) for one in blind]}

    return sight_of


def _health(group: Group, number: int, verdict: Verdict, *, is_blind: bool) -> str:
    rule = group.rules[number]
    if verdict.health is Health.ERR:
        return "err"
    if isinstance(rule, AlertingRuleRun) and rule.state is AlertState.FIRING:
        return "firing"
    return "nodata" if is_blind else "ok"


def _blind(finding: Finding) -> Json:
    return {
        "job": finding.target.value(JOB),
        "instance": finding.target.value(INSTANCE),
        "reason": finding.blind.reason.value,
        "explained": finding.blind.reason.explained,
        "message": finding.blind.sentence,
    }
