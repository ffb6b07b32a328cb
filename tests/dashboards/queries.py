"""What the dashboards ask, as a data source is asked: variables filled in."""

from typing import Any

VARIABLES = {"$__rate_interval": "1m", "$job": ".+", "$instance": ".+", "$model_name": ".+"}

Panel = dict[str, Any]


def panels(dashboard: dict[str, Any]) -> list[Panel]:
    """Return the panels that show something, in order of place."""
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def expressions(panel: Panel) -> list[str]:
    """Return the panel's queries with every variable at "All"."""
    return [filled(target["expr"]) for target in panel["targets"]]


def filled(expr: str) -> str:
    for variable, value in VARIABLES.items():
        expr = expr.replace(variable, value)
    return expr
