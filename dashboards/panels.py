"""The few kinds of panels that our dashboards are made of, all in one look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grafana_foundation_sdk.builders import (
    bargauge,
    common,
    dashboard,
    heatmap,
    prometheus,
    stat,
    statetimeline,
    table,
    timeseries,
)
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models import common as common_models
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models import heatmap as heatmap_models
from grafana_foundation_sdk.models import prometheus as prometheus_models

from dashboards.thresholds import runbooks

DATASOURCE = models.DataSourceRef(type_val="prometheus", uid="${datasource}")

Panel = timeseries.Panel | stat.Panel | statetimeline.Panel | heatmap.Panel | table.Panel | bargauge.Panel
Steps = Mapping[str, float]
"""Colours and the values they begin at, in rising order."""
Words = Mapping[float, tuple[str, str]]
"""The word and the colour of single values."""


# How far an axis reaches when all is 0: alone, it would reach to a hundred of anything.
_LEAST = {"percentunit": 0.1, "s": 0.1, "ops": 1, "reqps": 1, "short": 1, "none": 1}
# With less, the third line of a legend is cut.
GRAPH_HEIGHT = 9
# Names of more lanes than that lie over one another; the others are on the next page.
LANES = 12
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
_WIDE = {"alertname": 200, "instance": 170, "model_name": 130, "rule": 200}


@dataclass(frozen=True)
class Query:
    """A PromQL expression and how the legend names its series."""

    expr: str
    legend: str


@dataclass(frozen=True)
class About:
    """What a panel is called, what it tells, in which unit, and which alert's runbook it belongs to."""

    title: str
    description: str
    unit: str
    alert: str | None = None


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


def lines(
    about: About,
    *queries: Query,
    steps: Steps | None = None,
    top: float | None = None,
    stacked: bool = False,
    colors: Mapping[str, str] | None = None,
) -> timeseries.Panel:
    """Return a graph from 0 (to `top`), with a dashed line at each step; `colors` are of series, by name."""
    legend = common.VizLegendOptions().show_legend(True).display_mode(common_models.LegendDisplayMode.TABLE)
    legend = legend.placement(common_models.LegendPlacement.BOTTOM).calcs(["lastNotNull", "max"])
    # Three lines of it are seen: of many servers those that matter.
    legend = legend.sort_by("Last *").sort_desc(True)
    every = common.VizTooltipOptions().mode(common_models.TooltipDisplayMode.MULTI)
    every = every.sort(common_models.SortOrder.DESCENDING)
    panel = timeseries.Panel().title(about.title).description(about.description).unit(about.unit)
    panel = panel.datasource(DATASOURCE).min(0).fill_opacity(30 if stacked else 0).line_width(1).legend(legend)
    panel = panel.tooltip(every).show_points(common_models.VisibilityMode.NEVER).height(GRAPH_HEIGHT)
    panel = panel.targets(_targets(*queries)).no_value("no data")
    if about.unit in _LEAST:
        panel = panel.axis_soft_max(_LEAST[about.unit])
    if top is not None:
        panel = panel.max(top)
    if stacked:
        panel = panel.stacking(common.StackingConfig().mode(common_models.StackingMode.NORMAL).group("A"))
    for series, color in (colors or {}).items():
        panel = panel.override_by_name(series, [models.DynamicConfigValue(id_val="color", value=_fixed(color).build())])
    if steps:
        dashed = common.GraphThresholdsStyleConfig().mode(common_models.GraphThresholdsStyleMode.DASHED)
        panel = panel.thresholds(_thresholds(steps, base="transparent")).thresholds_style(dashed)
    return panel.links(_runbook(about))


def number(
    about: About, query: Query, *, steps: Steps | None = None, base: str = "green", words: Words | None = None
) -> stat.Panel:
    """
    Return the value at the end of the time range, large, coloured by the steps or as its word says, and its course.

    The query's answer is one series without labels, or none.
    """
    last = common.ReduceDataOptions().calcs(["last"])
    # A series that ended has no last value of now: the number would stay at what it was before the server died.
    query = Query(f"{query.expr} or vector(NaN)", query.legend)
    panel = stat.Panel().title(about.title).description(about.description).unit(about.unit).datasource(DATASOURCE)
    panel = panel.reduce_options(last).graph_mode(common_models.BigValueGraphMode.AREA).no_value("no data")
    panel = panel.thresholds(_thresholds(steps or {}, base)).targets(_targets(query)).height(4)
    panel = panel.mappings(_mappings(words, "no data", "text"))
    return panel.links(_runbook(about))


def now(
    about: About, query: Query, *, steps: Steps | None = None, base: str = "green", words: Words | None = None
) -> stat.Panel:
    """Return the value at the end of the time range alone: of what looks back over days, whose course costs much."""
    panel = number(about, query, steps=steps, base=base, words=words)
    return panel.graph_mode(common_models.BigValueGraphMode.NONE).targets([_instant(0, query)])


def bars(about: About, *queries: Query, steps: Steps | None = None) -> bargauge.Panel:
    """Return a bar for each series, by its value at the end of the time range."""
    last = common.ReduceDataOptions().calcs(["lastNotNull"])
    panel = bargauge.Panel().title(about.title).description(about.description).unit(about.unit)
    panel = panel.datasource(DATASOURCE).reduce_options(last).min(0).no_value("no data").height(GRAPH_HEIGHT)
    panel = panel.orientation(common_models.VizOrientation.HORIZONTAL).thresholds(_thresholds(steps or {}, "green"))
    panel = panel.display_mode(common_models.BarGaugeDisplayMode.BASIC)
    panel = panel.value_mode(common_models.BarGaugeValueMode.TEXT)
    return panel.targets([_instant(n, query) for n, query in enumerate(queries)]).links(_runbook(about))


def heat(about: About, expr: str) -> heatmap.Panel:
    """Return how observations are spread over the buckets of a histogram, whose edges are of the unit."""
    scheme = heatmap.HeatmapColorOptions().mode(heatmap_models.HeatmapColorMode.SCHEME).scheme("Oranges").steps(64)
    scheme = scheme.scale(heatmap_models.HeatmapColorScale.EXPONENTIAL).exponent(0.5).fill("dark-orange")
    query = prometheus.Dataquery().ref_id("A").expr(expr).legend_format("{{le}}").range()
    query = query.format(prometheus_models.PromQueryFormat.HEATMAP)
    panel = heatmap.Panel().title(about.title).description(about.description).unit(about.unit)
    panel = panel.datasource(DATASOURCE).calculate(False).color(scheme).height(GRAPH_HEIGHT).no_value("no data")
    panel = panel.y_axis(heatmap.YAxisConfig().unit(about.unit))
    panel = panel.cell_values(heatmap.CellValues().unit("reqps"))
    panel = panel.tooltip(heatmap.HeatmapTooltip().mode(common_models.TooltipDisplayMode.SINGLE).y_histogram(True))
    return (
        panel.show_legend().filter_values(heatmap.FilterValueRange().le(1e-9)).targets([query]).links(_runbook(about))
    )


def states(about: About, query: Query, words: Words) -> statetimeline.Panel:
    """Return a lane for each series; `words` gives the word and the colour of each value."""
    panel = statetimeline.Panel().title(about.title).description(about.description).unit(about.unit)
    panel = panel.datasource(DATASOURCE).mappings(_words(words)).targets(_targets(query)).no_value("nothing")
    # Coloured by steps it would show these and not the words.
    panel = panel.color_scheme(_fixed("text"))
    panel = panel.show_value(common_models.VisibilityMode.AUTO).row_height(0.8).height(6).per_page(LANES)
    return panel.links(_runbook(about))


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
    return panel.links(_runbook(about))


def _transformations(by: Sequence[str], columns: Sequence[Column]) -> list[models.DataTransformerConfig]:
    """Join the queries' answers by their labels, leave out what is no column, and give the others their titles."""
    values = ["Value"] if len(columns) == 1 else [f"Value #{_ref(n)}" for n in range(len(columns))]
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
            ("mappings", _mappings(column.words, "none", "transparent")),
            ("thresholds", _thresholds(column.steps or {}, column.base).build()),
            ("custom.cellOptions", {"type": "color-background", "mode": "basic"}),
        ]
    if column.width:
        look.append(("custom.width", column.width))
    return [models.DynamicConfigValue(id_val=key, value=value) for key, value in look]


def _mappings(words: Words | None, nothing: str, color: str) -> list[models.ValueMapping]:
    """Return the words, and what is said of no value: by the lowest step it would have the colour of one."""
    result = models.ValueMappingResult(text=nothing, color=color)
    match = models.SpecialValueMatch.NULL_AND_NAN
    special = models.SpecialValueMap(options=models.DashboardSpecialValueMapOptions(match=match, result=result))
    return [*_words(words), special]


def _words(words: Words | None) -> list[models.ValueMapping]:
    return [models.ValueMap(options=_results(words))] if words else []


def _results(words: Words) -> dict[str, models.ValueMappingResult]:
    return {
        f"{value:g}": models.ValueMappingResult(text=text, color=color, index=index)
        for index, (value, (text, color)) in enumerate(words.items())
    }


def _targets(*queries: Query) -> list[Builder[Dataquery]]:
    return [
        prometheus.Dataquery().ref_id(_ref(n)).expr(query.expr).legend_format(query.legend).range()
        for n, query in enumerate(queries)
    ]


def _instant(number: int, query: Query) -> Builder[Dataquery]:
    return prometheus.Dataquery().ref_id(_ref(number)).expr(query.expr).legend_format(query.legend).instant()


def _cells(number: int, expr: str) -> Builder[Dataquery]:
    answer = prometheus.Dataquery().ref_id(_ref(number)).expr(expr).legend_format("__auto").instant()
    return answer.format(prometheus_models.PromQueryFormat.TABLE)


def _fixed(color: str) -> dashboard.FieldColor:
    return dashboard.FieldColor().mode(models.FieldColorModeId.FIXED).fixed_color(color)


def _ref(number: int) -> str:
    return chr(ord("A") + number)


def _thresholds(steps: Steps, base: str) -> dashboard.ThresholdsConfig:
    found = [models.Threshold(value=None, color=base)]
    found += [models.Threshold(value=value, color=color) for color, value in steps.items()]
    return dashboard.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(found)


def _runbook(about: About) -> list[Builder[models.DashboardLink]]:
    if about.alert is None:
        return []
    link = dashboard.DashboardLink(f"Runbook: {about.alert}").type(models.DashboardLinkType.LINK)
    return [link.url(f"{runbooks()}#{about.alert.lower()}").target_blank(True)]
