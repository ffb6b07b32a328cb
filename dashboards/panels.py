"""The few kinds of panels that our dashboards are made of, all in one look."""

from dataclasses import dataclass

from grafana_foundation_sdk.builders import common, dashboard, prometheus, stat, statetimeline, timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models import common as common_models
from grafana_foundation_sdk.models import dashboard as models

DATASOURCE = models.DataSourceRef(type_val="prometheus", uid="${datasource}")
RUNBOOKS = "https://github.com/vllm-monitor/vllm-monitor/blob/main/docs/runbooks/README.md"

Panel = timeseries.Panel | stat.Panel | statetimeline.Panel
Steps = dict[str, float]
"""Colours and the values they begin at."""


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


def lines(about: About, *queries: Query, steps: Steps | None = None, top: float | None = None) -> timeseries.Panel:
    """Return a graph from 0 (to `top`), with a dashed line at each step."""
    legend = common.VizLegendOptions().show_legend(True).display_mode(common_models.LegendDisplayMode.TABLE)
    legend = legend.placement(common_models.LegendPlacement.BOTTOM).calcs(["lastNotNull", "max"])
    every = common.VizTooltipOptions().mode(common_models.TooltipDisplayMode.MULTI)
    panel = timeseries.Panel().title(about.title).description(about.description).unit(about.unit)
    panel = panel.datasource(DATASOURCE).min(0).fill_opacity(8).line_width(1).legend(legend).tooltip(every)
    panel = panel.show_points(common_models.VisibilityMode.NEVER).targets(_targets(*queries)).height(8)
    if top is not None:
        panel = panel.max(top)
    if steps:
        dashed = common.GraphThresholdsStyleConfig().mode(common_models.GraphThresholdsStyleMode.DASHED)
        panel = panel.thresholds(_thresholds(steps, base="transparent")).thresholds_style(dashed)
    return panel.links([_runbook(about.alert)]) if about.alert else panel


def number(about: About, query: Query, *, steps: Steps | None = None) -> stat.Panel:
    """Return the last value, large, coloured by the steps, with its course behind it."""
    last = common.ReduceDataOptions().calcs(["lastNotNull"])
    panel = stat.Panel().title(about.title).description(about.description).unit(about.unit).datasource(DATASOURCE)
    panel = panel.reduce_options(last).graph_mode(common_models.BigValueGraphMode.AREA).no_value("no data")
    panel = panel.thresholds(_thresholds(steps or {}, base="green")).targets(_targets(query)).height(4)
    return panel.links([_runbook(about.alert)]) if about.alert else panel


def states(about: About, query: Query, values: dict[int, tuple[str, str]]) -> statetimeline.Panel:
    """Return a lane for each series; `values` gives the word and the colour of each value."""
    words = models.ValueMap(
        options={
            str(value): models.ValueMappingResult(text=text, color=color, index=index)
            for index, (value, (text, color)) in enumerate(values.items())
        }
    )
    panel = statetimeline.Panel().title(about.title).description(about.description).unit(about.unit)
    panel = panel.datasource(DATASOURCE).mappings([words]).targets(_targets(query)).no_value("no alert")
    return panel.show_value(common_models.VisibilityMode.AUTO).row_height(0.8).height(6)


def _targets(*queries: Query) -> list[Builder[Dataquery]]:
    return [
        prometheus.Dataquery().ref_id(chr(ord("A") + n)).expr(query.expr).legend_format(query.legend).range()
        for n, query in enumerate(queries)
    ]


def _thresholds(steps: Steps, base: str) -> dashboard.ThresholdsConfig:
    found = [models.Threshold(value=None, color=base)]
    found += [models.Threshold(value=value, color=color) for color, value in steps.items()]
    return dashboard.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(found)


def _runbook(alert: str) -> dashboard.DashboardLink:
    link = dashboard.DashboardLink(f"Runbook: {alert}").type(models.DashboardLinkType.LINK)
    return link.url(f"{RUNBOOKS}#{alert.lower()}").target_blank(True)
