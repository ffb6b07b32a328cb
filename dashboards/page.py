"""What every dashboard has: its address, what can be chosen, the way to the others, and alerts in every graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grafana_foundation_sdk.builders import dashboard, stat
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import dashboard as models

from dashboards.chosen import alerts
from dashboards.look import DATASOURCE
from dashboards.panels import Panel

FULL_WIDTH = 24
MOST_NUMBERS = 6


@dataclass(frozen=True)
class Page:
    """
    A dashboard: rows of panels by their titles.

    A row whose title is blank has no heading. A row takes the whole width, and as many lines as it needs.
    `more` are variables beside those that all have; `since` is how far it looks back.
    """

    name: str
    title: str
    question: str
    rows: Mapping[str, Sequence[Panel]]
    more: Sequence[Builder[models.VariableModel]] = ()
    since: str = "now-1h"

    def build(self) -> dashboard.Dashboard:
        page = (
            dashboard.Dashboard(self.title)
            .uid(uid(self.name))
            .description(f"{self.question} Reads recorded names only: the rules of vllm-monitor must be loaded.")
            .tags(["vllm", "vllm-monitor"])
            .readonly()
            .time(self.since, "now")
            .refresh("30s")
            .timezone("browser")
            .tooltip(models.DashboardCursorSync.CROSSHAIR)
            .variables([*_variables(), *self.more])
            .link(_other_dashboards())
            .annotation(_firing())
        )
        for title, panels in self.rows.items():
            if title.strip():
                page = page.with_row(dashboard.Row(title))
            for panel in panels:
                page = page.with_panel(panel.span(FULL_WIDTH // min(len(panels), _abreast(panels))))
        return page


def _abreast(panels: Sequence[Panel]) -> int:
    """Return how many stand beside each other at most: more numbers than graphs can be read on one line."""
    if all(isinstance(panel, stat.Panel) for panel in panels):
        return MOST_NUMBERS
    return 2 if len(panels) % 3 == 1 else 3


def uid(name: str) -> str:
    """Return the address of the dashboard `name`, which Slack links to as well."""
    return f"vllm-monitor-{name}"


def its_engine(label: str) -> str:
    """Return where a table leads from a value of `label`: to the engine's page, which keeps what else was chosen."""
    kept = [f"${{{name}:queryparam}}" for name in ("datasource", "job", "model_name") if name != label]
    return "&".join([f"/d/{uid('engine')}?var-{label}=${{__value.raw}}", *kept, "${__url_time_range}"])


def _variables() -> list[Builder[models.VariableModel]]:
    source = dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus")
    return [
        source,
        # Of what is scraped, not of an engine's series: a server that is down must stay in the lists.
        _label("job", "Job", "label_values(up, job)"),
        _label("model_name", "Model", 'label_values(vllm_engine:requests_running{job=~"$job"}, model_name)'),
        _label("instance", "Instance", 'label_values(up{job=~"$job"}, instance)'),
        _label(
            "engine", "Engine", 'label_values(vllm_engine:requests_running{job=~"$job", instance=~"$instance"}, engine)'
        ),
    ]


def _label(name: str, label: str, query: str) -> dashboard.QueryVariable:
    variable = dashboard.QueryVariable(name).label(label).datasource(DATASOURCE).query(query).definition(query)
    variable = variable.multi(True).include_all(True).all_value(".+").sort(models.VariableSort.ALPHABETICAL_ASC)
    variable = variable.current(models.VariableOption(selected=True, text="All", value="$__all"))
    return variable.refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)


def _other_dashboards() -> dashboard.DashboardLink:
    link = dashboard.DashboardLink("vLLM").type(models.DashboardLinkType.DASHBOARDS).tags(["vllm-monitor"])
    return link.as_dropdown(True).keep_time(True).include_vars(True)


def _firing() -> dashboard.AnnotationQuery:
    firing = dashboard.AnnotationQuery().name("Firing alerts").datasource(DATASOURCE).enable(True).icon_color("red")
    firing = firing.expr(alerts("firing"))
    return firing.title_format("{{alertname}}").text_format("{{instance}} {{engine}}").tag_keys("severity,model_name")
