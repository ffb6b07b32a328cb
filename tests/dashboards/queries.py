"""What the dashboards ask, as a data source is asked: every query of every panel, with the variables filled in."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

FOLDER = Path(__file__).parents[2] / "dashboards"
# Everything is chosen. What Grafana puts for its own variables depends on the time shown: an hour, scraped every 15 s.
VARIABLES: Mapping[str, str] = {
    "__rate_interval": "1m",
    "__interval": "15s",
    "__range": "1h",
    "job": ".+",
    "instance": ".+",
    "model_name": ".+",
    "engine": ".+",
    "length": "8192",
}

Panel = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """
    One query of a panel, ready to be sent.

    `dashboard` is its uid, `kind` tells `/api/v1/query` from `/api/v1/query_range`, `legend` names the series
    (`{{label}}`), `shown_as` is time_series, table or heatmap.
    """

    dashboard: str
    panel: str
    panel_id: int
    ref_id: str
    expr: str
    kind: Literal["instant", "range"]
    legend: str
    shown_as: str

    def __str__(self) -> str:
        return f"{self.dashboard}: {self.panel} {self.ref_id}"


def dashboards() -> list[dict[str, Any]]:
    """Return the committed dashboards, in the order of their files."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))]


def panels(dashboard: dict[str, Any]) -> list[Panel]:
    """Return the panels that show something, in order of place."""
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def asked(variables: Mapping[str, str] = VARIABLES) -> list[Asked]:
    """Return every query of every panel of every committed dashboard; annotations and variables are not among them."""
    return [one for dashboard in dashboards() for one in _asked_by(dashboard, variables)]


def expressions(panel: Panel) -> list[str]:
    """Return the panel's queries with every variable at "All"."""
    return [filled(target["expr"]) for target in panel["targets"]]


def filled(expr: str, variables: Mapping[str, str] = VARIABLES) -> str:
    """Return a query with its variables filled in. KeyError for a variable that has no value."""
    return re.sub(r"\$(?:\{(\w+)(?::\w+)?\}|(\w+))", lambda found: variables[found[1] or found[2]], expr)


def _asked_by(dashboard: dict[str, Any], variables: Mapping[str, str]) -> Iterator[Asked]:
    for panel in panels(dashboard):
        for target in panel["targets"]:
            yield Asked(
                dashboard["uid"],
                panel["title"],
                panel["id"],
                target["refId"],
                filled(target["expr"], variables),
                "instant" if target.get("instant") else "range",
                target.get("legendFormat", ""),
                target.get("format", "time_series"),
            )
