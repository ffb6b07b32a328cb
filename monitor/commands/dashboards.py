"""What Grafana dashboards ask, as groups of rules: each query can be judged as a rule is."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from monitor.rules.spec import AlertingRule, RuleGroup

# A variable stands for everything that it may; those that Grafana sets are lengths of time.
_LENGTH = re.compile(r"\$\{?__(?:rate_)?(?:interval|range)(?:_s|_ms)?\}?")
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::\w+)?\}|(\w+))")
# A variable of these kinds may stand for a number, as which `.+` would be none.
_WRITTEN = frozenset(("constant", "custom", "interval", "textbox"))
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
        chosen = _chosen(dashboard)
        rules = tuple(AlertingRule(name, filled(expr, chosen)) for name, expr in found)
    except (AttributeError, RecursionError, TypeError) as err:
        raise DashboardError(f"{path}: no dashboard: panels or variables of another shape") from err
    return RuleGroup(str(dashboard.get("title", path.name)), str(path), rules=rules)


def filled(expr: str, chosen: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a query with its variables as they are `chosen`, and the others at "All"."""

    def value(found: re.Match[str]) -> str:
        return chosen.get(found[1] or found[2], ".+")

    return _VARIABLE.sub(value, _LENGTH.sub("5m", expr))


def _chosen(dashboard: dict[str, Any]) -> dict[str, str]:
    """Return what is chosen, as the file has it, of the variables whose values are written and not asked for."""
    found = {}
    for variable in (dashboard.get("templating") or {}).get("list") or ():
        value = (variable.get("current") or {}).get("value")
        if variable.get("type") in _WRITTEN and isinstance(value, str) and not value.startswith("$"):
            found[str(variable.get("name", ""))] = value
    return found


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
