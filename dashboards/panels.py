"""The few kinds of panels that our dashboards are made of, all in one look; tables have a file of their own."""

from collections.abc import Mapping

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

from dashboards.look import (
    DATASOURCE,
    GRAPH_HEIGHT,
    About,
    Query,
    Steps,
    Words,
    mappings,
    named,
    ref,
    runbook,
    thresholds,
)

Panel = timeseries.Panel | stat.Panel | statetimeline.Panel | heatmap.Panel | table.Panel | bargauge.Panel
# How far an axis reaches when all is 0: alone, it would reach to a hundred of anything.
_LEAST = {"percentunit": 0.1, "s": 0.1, "ops": 1, "reqps": 1, "short": 1, "none": 1}
# Names of more lanes than that lie over one another; the others are on the next page.
LANES = 12


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
        panel = panel.thresholds(thresholds(steps, base="transparent")).thresholds_style(dashed)
    return panel.links(runbook(about))


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
    panel = panel.thresholds(thresholds(steps or {}, base)).targets(_targets(query)).height(4)
    panel = panel.mappings(mappings(words, "no data", "text"))
    return panel.links(runbook(about))


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
    panel = panel.orientation(common_models.VizOrientation.HORIZONTAL).thresholds(thresholds(steps or {}, "green"))
    panel = panel.display_mode(common_models.BarGaugeDisplayMode.BASIC)
    panel = panel.value_mode(common_models.BarGaugeValueMode.TEXT)
    return panel.targets([_instant(n, query) for n, query in enumerate(queries)]).links(runbook(about))


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
    return panel.show_legend().filter_values(heatmap.FilterValueRange().le(1e-9)).targets([query]).links(runbook(about))


def states(about: About, query: Query, words: Words) -> statetimeline.Panel:
    """Return a lane for each series; `words` gives the word and the colour of each value."""
    panel = statetimeline.Panel().title(about.title).description(about.description).unit(about.unit)
    panel = panel.datasource(DATASOURCE).mappings(named(words)).targets(_targets(query)).no_value("nothing")
    # Coloured by steps it would show these and not the words.
    panel = panel.color_scheme(_fixed("text"))
    panel = panel.show_value(common_models.VisibilityMode.AUTO).row_height(0.8).height(6).per_page(LANES)
    return panel.links(runbook(about))


def _targets(*queries: Query) -> list[Builder[Dataquery]]:
    return [
        prometheus.Dataquery().ref_id(ref(n)).expr(query.expr).legend_format(query.legend).range()
        for n, query in enumerate(queries)
    ]


def _instant(number: int, query: Query) -> Builder[Dataquery]:
    return prometheus.Dataquery().ref_id(ref(number)).expr(query.expr).legend_format(query.legend).instant()


def _fixed(color: str) -> dashboard.FieldColor:
    return dashboard.FieldColor().mode(models.FieldColorModeId.FIXED).fixed_color(color)
