"""How values look, on whatever panel: steps, words and colours, and the way to the runbook."""

from collections.abc import Mapping
from dataclasses import dataclass

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import dashboard as models

from dashboards.thresholds import runbooks

DATASOURCE = models.DataSourceRef(type_val="prometheus", uid="${datasource}")
Steps = Mapping[str, float]
"""Colours and the values they begin at, in rising order."""
Words = Mapping[float, tuple[str, str]]
"""The word and the colour of single values."""
# With less, the third line of a legend is cut.
GRAPH_HEIGHT = 9


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


def mappings(words: Words | None, nothing: str, color: str) -> list[models.ValueMapping]:
    """Return the words, and what is said of no value: by the lowest step it would have the colour of one."""
    result = models.ValueMappingResult(text=nothing, color=color)
    match = models.SpecialValueMatch.NULL_AND_NAN
    special = models.SpecialValueMap(options=models.DashboardSpecialValueMapOptions(match=match, result=result))
    return [*named(words), special]


def named(words: Words | None) -> list[models.ValueMapping]:
    """Return the words alone, of what is never without a value."""
    if not words:
        return []
    results = {
        f"{value:g}": models.ValueMappingResult(text=text, color=color, index=index)
        for index, (value, (text, color)) in enumerate(words.items())
    }
    return [models.ValueMap(options=results)]


def ref(number: int) -> str:
    """Return how a panel's query is called: A, B and so on."""
    return chr(ord("A") + number)


def thresholds(steps: Steps, base: str) -> dashboard.ThresholdsConfig:
    """Return the steps, and `base` below the first of them."""
    found = [models.Threshold(value=None, color=base)]
    found += [models.Threshold(value=value, color=color) for color, value in steps.items()]
    return dashboard.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(found)


def runbook(about: About) -> list[Builder[models.DashboardLink]]:
    """Return the way to the runbook of the panel's alert, if it has one."""
    if about.alert is None:
        return []
    link = dashboard.DashboardLink(f"Runbook: {about.alert}").type(models.DashboardLinkType.LINK)
    return [link.url(f"{runbooks()}#{about.alert.lower()}").target_blank(True)]
