"""Tables, which join the answers of several queries by their labels."""

from collections.abc import Sequence
from dataclasses import dataclass

from grafana_foundation_sdk.builders import common, prometheus, table
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models import prometheus as prometheus_models

from dashboards.look import DATASOURCE, GRAPH_HEIGHT, About, Steps, Words, mappings, ref, runbook, thresholds

# What the labels are called at the head of a table.
_HEADS = {
    "alertname": "Alert",
    "block_size": "Block",
    "cache_dtype": "Type",
    "enable_prefix_caching": "Prefix caching",
    "engine": "Rank",
    "gpu_memory_utilization": "GPU memory",
    "instance": "Server",
    "job": "Job",
    "max_lora": "At most",
    "model_name": "Model",
    "reason": "Reason",
    "rule": "Rule",
    "running_lora_adapters": "Running",
    "severity": "Severity",
    "slo": "Objective",
    "version": "Version",
    "waiting_lora_adapters": "Waiting",
}
# Pixels of those whose values are long.
_WIDE = {"alertname": 200, "instance": 150, "model_name": 110, "rule": 200, "severity": 85}


@dataclass(frozen=True)
class Column:
    """A column of a table: the values of a query, or with `label` a label of it and not its value."""

    title: str
    expr: str
    unit: str = "short"
    label: str | None = None
    steps: Steps | None = None
    base: str = "transparent"
    words: Words | None = None
    width: int | None = None


def rows(
    about: About,
    by: Sequence[str],
    *columns: Column,
    link: tuple[str, str] | None = None,
    lowest_first: str | None = None,
) -> table.Panel:
    """
    Return a table with a row for each combination of the labels `by` that the first column has.

    Every column's query keeps these labels, and one of its own when it shows a label. `link` is a label and where its
    value leads, with `${__value.raw}` in it; `lowest_first` is the title of the column that the rows are in order of.
    """
    panel = table.Panel().title(about.title).description(about.description).unit(about.unit).datasource(DATASOURCE)
    panel = (
        panel.height(GRAPH_HEIGHT)
        .min_width(60)
        .no_value("none")
        .targets([_cells(n, column.expr) for n, column in enumerate(columns)])
    )
    for transformation in _transformations(by, columns):
        panel = panel.with_transformation(transformation)
    for column in columns:
        panel = panel.override_by_name(column.title, _look(column))
    for label in (one for one in by if one in _WIDE):
        width = models.DynamicConfigValue(id_val="custom.width", value=_WIDE[label])
        panel = panel.override_by_name(_HEADS[label], [width])
    if link:
        there = [{"title": "Open", "url": link[1], "targetBlank": False}]
        panel = panel.override_by_name(_HEADS[link[0]], [models.DynamicConfigValue(id_val="links", value=there)])
    if lowest_first:
        panel = panel.sort_by([common.TableSortByFieldState().display_name(lowest_first).desc(False)])
    return panel.links(runbook(about))


def _transformations(by: Sequence[str], columns: Sequence[Column]) -> list[models.DataTransformerConfig]:
    """Join the queries' answers by their labels, leave out what is no column, and give the others their titles."""
    values = ["Value"] if len(columns) == 1 else [f"Value #{ref(n)}" for n in range(len(columns))]
    titles = {label: _HEADS[label] for label in by}
    titles.update({column.label or value: column.title for value, column in zip(values, columns, strict=True)})
    hidden = {"Time": True}
    hidden.update({value: True for value, column in zip(values, columns, strict=True) if column.label})
    order = {name: n for n, name in enumerate(titles)}
    return [
        models.DataTransformerConfig(id_val="merge", options={}),
        models.DataTransformerConfig(
            id_val="organize", options={"excludeByName": hidden, "indexByName": order, "renameByName": titles}
        ),
    ]


def _look(column: Column) -> list[models.DynamicConfigValue]:
    look: list[tuple[str, object]] = [("unit", column.unit)]
    if column.words or column.steps:
        look += [
            ("mappings", mappings(column.words, "none", "transparent")),
            ("thresholds", thresholds(column.steps or {}, column.base).build()),
            ("custom.cellOptions", {"type": "color-background", "mode": "basic"}),
        ]
    if column.width:
        look.append(("custom.width", column.width))
    return [models.DynamicConfigValue(id_val=key, value=value) for key, value in look]


def _cells(number: int, expr: str) -> Builder[Dataquery]:
    answer = prometheus.Dataquery().ref_id(ref(number)).expr(expr).legend_format("__auto").instant()
    return answer.format(prometheus_models.PromQueryFormat.TABLE)
