"""
What the daemon knows, in the shapes of the Prometheus HTTP API. Pure: values in, JSON-able values out.

reference: Prometheus 3, web/api/v1/api.go.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from monitor.discovery.populate import Discovered
from monitor.model.instant import Instant, format_duration, to_seconds
from monitor.model.sample import format_exponent
from monitor.rules.alerting import ActiveAlert, AlertState
from monitor.rules.alerting_rule import AlertingRuleRun
from monitor.rules.group import Group, RuleRun, Verdict
from monitor.scrape.target import ScrapeLoop
from monitor.sight.report import NOTHING_SEEN, Sight
from monitor.web.sighted import SightOf, by_rule

Json = dict[str, Any]
# Of each job: in a large cluster relabelling drops nearly everything.
_MOST_DROPPED = 1000
NEVER = "0001-01-01T00:00:00Z"


def timestamp(at: Instant | None) -> str:
    """Return an instant as RFC 3339, the zero time of Go for None and for 0."""
    if not at:
        return NEVER
    return datetime.fromtimestamp(to_seconds(at), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def alerts(groups: Iterable[Group]) -> Json:
    """Return the data of /api/v1/alerts: every pending and firing alert."""
    return {"alerts": [_alert(one) for group in groups for rule in group.alerting for one in _active(rule)]}


def rules(groups: Iterable[Group], kind: str = "", sight: Sight = NOTHING_SEEN) -> Json:
    """
    Return the data of /api/v1/rules; `kind` is "alert", "record" or "" for both.

    Beside what Prometheus has, each rule has a `sight`: on which targets it finds nothing, and why.
    """
    seen = by_rule(sight)
    shown = [_group(group, kind, seen) for group in groups]
    return {"groups": [group for group in shown if group["rules"] or not kind]}


def targets(
    loops: Iterable[ScrapeLoop], found: Mapping[str, Iterable[Discovered]], state: str = "", pool: str = ""
) -> Json:
    """
    Return the data of /api/v1/targets.

    `found` is what became of each discovered target of a job. `state` is "active", "dropped" or "" for both; `pool` is
    the job that is asked for, "" for all.
    """
    dropped = {
        job: [one for one in all_ if one.target is None and not one.error]
        for job, all_ in found.items()
        if pool in ("", job)
    }
    active = [_target(loop) for loop in loops if pool in ("", loop.target.job)]
    shown = [_dropped(job, one) for job, all_ in dropped.items() for one in all_[:_MOST_DROPPED]]
    return {
        "activeTargets": active if state != "dropped" else [],
        "droppedTargets": shown if state != "active" else [],
        "droppedTargetCounts": {job: len(all_) for job, all_ in dropped.items()} if state != "active" else None,
    }


def scrape_pools(found: Iterable[str]) -> Json:
    """Return the data of /api/v1/scrape_pools."""
    return {"scrapePools": sorted(found)}


def _active(rule: AlertingRuleRun) -> list[ActiveAlert]:
    return [alert for alert in list(rule.active.values()) if alert.state is not AlertState.INACTIVE]


def _alert(alert: ActiveAlert) -> Json:
    shown: Json = {
        "labels": alert.labels.as_dict(),
        "annotations": alert.annotations.as_dict(),
        "state": alert.state.value,
        "activeAt": timestamp(alert.active_at),
        "value": format_exponent(alert.value),
    }
    if alert.keep_firing_since is not None:
        shown["keepFiringSince"] = timestamp(alert.keep_firing_since)
    return shown


def _group(group: Group, kind: str, seen: SightOf) -> Json:
    pairs = zip(list(group.rules), list(group.verdicts), strict=True)
    return {
        "name": group.spec.name,
        "file": group.spec.file,
        "rules": [
            _rule(rule, verdict) | {"sight": seen(group, number, verdict)}
            for number, (rule, verdict) in enumerate(pairs)
            if kind in ("", _kind(rule))
        ],
        "interval": to_seconds(group.interval),
        "limit": group.spec.limit,
        "evaluationTime": group.evaluation_seconds,
        "lastEvaluation": timestamp(group.last_evaluation),
    }


def _kind(rule: RuleRun) -> str:
    return "alert" if isinstance(rule, AlertingRuleRun) else "record"


def _rule(rule: RuleRun, verdict: Verdict) -> Json:
    shown: Json = {
        "name": rule.spec.name,
        "query": rule.spec.expr,
        "health": verdict.health.value,
        "evaluationTime": verdict.seconds,
        "lastEvaluation": timestamp(verdict.at),
        "labels": rule.spec.labels.as_dict(),
    }
    if verdict.error:
        shown["lastError"] = verdict.error
    if not isinstance(rule, AlertingRuleRun):
        return shown | {"type": "recording"}
    return shown | {
        "type": "alerting",
        "state": rule.state.value,
        "duration": to_seconds(rule.spec.for_),
        "keepFiringFor": to_seconds(rule.spec.keep_firing_for),
        "annotations": rule.spec.annotations.as_dict(),
        "alerts": [_alert(one) for one in _active(rule)],
    }


def _dropped(job: str, found: Discovered) -> Json:
    return {"discoveredLabels": found.discovered_labels.as_dict(), "scrapePool": job}


def _target(loop: ScrapeLoop) -> Json:
    health, target = loop.health, loop.target
    return {
        "discoveredLabels": target.discovered_labels.as_dict(),
        "labels": target.labels.as_dict(),
        "scrapePool": target.job,
        "scrapeUrl": target.url,
        "globalUrl": target.url,
        "lastError": health.last_error,
        "lastScrape": timestamp(health.last_scrape),
        "lastScrapeDuration": health.last_scrape_duration,
        "health": health.health.value,
        "scrapeInterval": format_duration(loop.options.scrape_interval),
        "scrapeTimeout": format_duration(loop.options.scrape_timeout),
    }
