"""A dashboard against Grafana's own description of it: `@grafana/schema`, as JSON Schema."""

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from jsonschema import Draft7Validator

from dashboards.preview.layout import Panel, opened

PACKAGE = Path(__file__).parent / "npm"
INSTALL = "run .ci/dashboard-tools"

_PANELS = ("bargauge", "heatmap", "stat", "statetimeline", "table", "text", "timeseries")
# By the type that stands in a panel, where its folder in @grafana/schema is called otherwise.
_FOLDERS = {"state-timeline": "statetimeline"}
# What Grafana itself writes or reads, and its description does not have: where, and which keys.
_KNOWN = {
    "annotation": {"expr", "tagKeys", "textFormat", "titleFormat"},
    "variable": {"definition"},
    # Of tables, until Grafana 12.
    "options": {"footer"},
}
# reference: Grafana, packages/grafana-prometheus: PromQuery. Grafana's schema lets a target be anything.
_TARGET = frozenset(
    {
        *("refId", "expr", "legendFormat", "format", "instant", "range", "interval", "exemplar", "hide"),
        *("datasource", "editorMode", "intervalFactor"),
    }
)


class MissingError(Exception):
    """What generates the schemas is not installed; the text says how to."""


@dataclass(frozen=True, slots=True)
class Checker:
    """`schemas` by name: "dashboard", "stat.Options", and "stat.FieldConfig" where a panel has fields of its own."""

    schemas: Mapping[str, Any]

    @classmethod
    def generated(cls) -> Self:
        """Return one with schemas generated now. Raises MissingError."""
        if shutil.which("node") is None or not (PACKAGE / "node_modules").is_dir():
            raise MissingError(f"Grafana's schema is not installed: {INSTALL}")
        command = ["node", "generate.mjs", *_PANELS]
        done = subprocess.run(command, cwd=PACKAGE, check=True, capture_output=True, text=True)  # noqa: S603 - ours
        return cls(json.loads(done.stdout))

    def problems(self, dashboard: Mapping[str, Any]) -> Iterator[str]:
        """Yield what Grafana would not know, each with where it stands."""
        variables = {"list": [_without("variable", one) for one in dashboard["templating"]["list"]]}
        annotations = {"list": [_without("annotation", one) for one in dashboard["annotations"]["list"]]}
        # Panels are looked at one by one: of a list of one kind or the other no error says what is wrong.
        rest = {**dashboard, "panels": [], "templating": variables, "annotations": annotations}
        yield from _errors(self.schemas["dashboard"], rest, "")
        for panel in opened(dashboard["panels"]):
            where = f'panel "{panel.get("title", "")}"'
            if panel["type"] == "row":
                yield from _errors(self._definition("RowPanel"), {**panel, "panels": []}, where)
            else:
                yield from self._panel(panel, where)

    def _panel(self, panel: Panel, where: str) -> Iterator[str]:
        yield from _errors(self._definition("Panel"), panel, where)
        for target in panel.get("targets") or ():
            yield from (f"{where}: targets: unknown key {key}" for key in target.keys() - _TARGET)
        kind = _FOLDERS.get(panel["type"], panel["type"])
        options, fields = (self.schemas.get(f"{kind}.{part}") for part in ("Options", "FieldConfig"))
        if options is None:
            yield f"{where}: no panel is of type {panel['type']}"
            return
        yield from _errors(options, _without("options", panel.get("options") or {}), f"{where}: options")
        for custom in _customs(panel.get("fieldConfig") or {}):
            yield from _errors(fields or {"additionalProperties": False}, custom, f"{where}: custom")

    def _definition(self, name: str) -> dict[str, Any]:
        return {**self.schemas["dashboard"], "$ref": f"#/definitions/{name}"}


def _customs(config: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what is said of fields in the words of one type of panel: of all fields, and of some."""
    yield (config.get("defaults") or {}).get("custom") or {}
    for override in config.get("overrides") or ():
        found = {one["id"]: one.get("value") for one in override["properties"] if one["id"].startswith("custom.")}
        yield {key.removeprefix("custom."): value for key, value in found.items()}


def _without(part: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: inner for key, inner in value.items() if key not in _KNOWN[part]}


def _errors(schema: Mapping[str, Any], value: Any, where: str) -> Iterator[str]:
    for error in Draft7Validator(schema).iter_errors(value):
        # Whatever is left out has a default.
        if error.validator != "required":
            path = "/".join(str(part) for part in error.absolute_path)
            yield ": ".join(filter(None, (where, path, error.message)))
