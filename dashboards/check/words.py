"""The units and reducers of a dashboard against those that Grafana has."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dashboards.preview.layout import opened

# What `getValueFormats()` and `fieldReducers` of @grafana/data have; `make dashboards-check` writes it anew.
LISTED = Path(__file__).parent / "grafana.json"
# reference: Grafana, packages/grafana-data: getValueFormat. Units that anybody may make up.
_MADE_UP = re.compile(r"(?:suffix|prefix|time|si|count|currency|bool):.+")


@dataclass(frozen=True, slots=True)
class Words:
    """The ids that Grafana knows."""

    units: Collection[str]
    reducers: Collection[str]

    @classmethod
    def listed(cls) -> "Words":
        """Return those of the committed list."""
        return cls(**json.loads(LISTED.read_text(encoding="utf-8")))

    def as_json(self) -> str:
        return json.dumps({"units": sorted(self.units), "reducers": sorted(self.reducers)}, indent=2) + "\n"

    def problems(self, dashboard: Mapping[str, Any]) -> Iterator[str]:
        """Yield the units and reducers that Grafana does not have, each with its panel."""
        for panel in opened(dashboard["panels"]):
            for key, value in _pairs(panel):
                if key == "unit" and value not in self.units and not _MADE_UP.fullmatch(str(value)):
                    yield f'panel "{panel.get("title", "")}": no unit {value!r}'
                if key in ("calcs", "reducer", "reducers"):
                    unknown = [one for one in value if one not in self.reducers]
                    yield from (f'panel "{panel.get("title", "")}": no reducer {one!r}' for one in unknown)


def _pairs(part: Any) -> Iterator[tuple[str, Any]]:
    """Yield every key and value of a panel, those of overrides too, which are lists of an id and a value."""
    if isinstance(part, list):
        for one in part:
            yield from _pairs(one)
    elif isinstance(part, dict):
        if "id" in part and "value" in part:
            yield str(part["id"]), part["value"]
        for key, value in part.items():
            yield key, value
            yield from _pairs(value)
