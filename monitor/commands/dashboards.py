"""What Grafana dashboards ask, as groups of rules: each query can be judged as a rule is."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from monitor.rules.spec import AlertingRule, RuleGroup

# A variable stands for everything that it may; those that Grafana sets are lengths of time.
_LENGTH = re.compile(r"\$\{?__(?:rate_)?(?:interval|range)(?:_s|_ms)?\}?")
_VARIABLE = re.compile(r"\$(?:\{\w+(?::\w+)?\}|\w+)")
_LABEL_VALUES = re.compile(r"label_values\((.+),[^,]+\)")


class DashboardError(Exception):
    """The file cannot be read, or is no dashboard; the message names it."""


def dashboard_group(path: Path) -> RuleGroup:
    """Return one rule for each query of a dashboard, named by its panel or variable. Raises DashboardError."""
    try:
        dashboard = json.loads(path.read_text(encoding="utf-8"))
    except OSError as err:
        raise DashboardError(f"{path}: {err.strerror}") from err
    except (ValueError, RecursionError) as err:
        raise DashboardError(f"{path}: no JSON: {err}") from err
    if not isinstance(dashboard, dict):
        raise DashboardError(f"{path}: no dashboard")
    try:
        found = [*_of_panels(dashboard), *_of_variables(dashboard)]
        rules = tuple(AlertingRule(name, filled(expr)) for name, expr in found)
    except (AttributeError, RecursionError, TypeError) as err:
        raise DashboardError(f"{path}: no dashboard: panels or variables of another shape") from err
    return RuleGroup(str(dashboard.get("title", path.name)), str(path), rules=rules)


def filled(expr: str) -> str:
    """Return a query with its variables at "All"."""
    return _VARIABLE.sub(".+", _LENGTH.sub("5m", expr))


def _of_panels(part: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for panel in part.get("panels") or ():
        for target in panel.get("targets") or ():
            if target.get("expr"):
                yield str(panel.get("title", "")), target["expr"]
        yield from _of_panels(panel)


def _of_variables(dashboard: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for variable in (dashboard.get("templating") or {}).get("list") or ():
        query = variable.get("query") or ""
        text = query.get("query") or "" if isinstance(query, dict) else query
        found = _LABEL_VALUES.fullmatch(text.strip()) if variable.get("type") == "query" else None
        if found is not None:
            yield f"${variable.get('name', '')}", found.group(1)
