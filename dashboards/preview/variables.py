"""The variables of a dashboard: which values they have, and what a query is when they are filled in."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dashboards.preview.source import Period, Source
from monitor.model.instant import SECOND, Duration, format_duration

_REFERENCE = re.compile(r"\$(?:\{(?P<braced>\w+)(?::(?P<format>\w+))?\}|(?P<plain>\w+))|\[\[(?P<old>\w+)\]\]")
# reference: Grafana, packages/grafana-prometheus: prometheusSpecialRegexEscape; its newer form, which knows quotes.
_SPECIAL = re.compile(r"[$^*{}\[\]'+?.()|]")
_LABEL_VALUES = re.compile(r"label_values\((?:(?P<selector>.+),\s*)?(?P<label>\w+)\)")


@dataclass(frozen=True, slots=True)
class Chosen:
    """
    The values of one variable that a page is drawn for.

    `every` is what stands for "All" (the variable's `allValue`) and "" when some were chosen, or the variable has none.
    """

    values: tuple[str, ...]
    every: str = ""

    @property
    def text(self) -> str:
        """What the page says above its panels."""
        return "All" if self.every else " + ".join(self.values)

    def as_regex(self) -> str:
        """Return what Grafana puts into a matcher."""
        if self.every:
            return self.every
        escaped = [_escaped(value) for value in self.values]
        return escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"


def _escaped(value: str) -> str:
    """Return a text that as a regular expression, inside of quotes, matches what `value` is."""
    plain = value.replace("\\", "\\" * 4).replace('"', '\\"')
    return _SPECIAL.sub(r"\\\\\g<0>", plain)


@dataclass(frozen=True, slots=True)
class Variables:
    """By name, those of the dashboard; `filled` also knows what Grafana itself sets."""

    chosen: Mapping[str, Chosen]
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, dashboard: Mapping[str, Any], source: Source, period: Period, given: Mapping[str, Sequence[str]]
    ) -> "Variables":
        """
        Return the variables at the values `given`, and where none is given at "All", else at their first value.

        Raises SourceError.
        """
        chosen: dict[str, Chosen] = {}
        labels: dict[str, str] = {}
        for variable in dashboard.get("templating", {}).get("list", []):
            if variable["type"] == "datasource":
                continue
            known = cls(chosen)
            chosen[variable["name"]] = _chosen(variable, given.get(variable["name"], ()), known, source, period)
            labels[variable["name"]] = variable.get("label") or variable["name"]
        return cls(chosen, labels)

    def filled(self, expr: str, timing: "Timing | None" = None) -> str:
        """Return `expr` without variables; one that nobody knows is left as it is, and the server will complain."""
        built_in = {} if timing is None else timing.words()

        def value(found: re.Match[str]) -> str:
            name = found["braced"] or found["plain"] or found["old"]
            if name in built_in:
                return built_in[name]
            return self.chosen[name].as_regex() if name in self.chosen else found[0]

        return _REFERENCE.sub(value, expr)

    def shown(self, text: str) -> str:
        """Return a title or a legend with what was chosen in the place of variables."""

        def value(found: re.Match[str]) -> str:
            name = found["braced"] or found["plain"] or found["old"]
            return self.chosen[name].text if name in self.chosen else found[0]

        return _REFERENCE.sub(value, text)

    def said(self) -> Iterator[str]:
        """Yield what was chosen, for people."""
        for name, chosen in self.chosen.items():
            yield f"{self.labels.get(name, name)}: {chosen.text}"


@dataclass(frozen=True, slots=True)
class Timing:
    """How a panel is asked; `scrape_interval` is what the data source is told ("Scrape interval" in Grafana)."""

    period: Period
    step: Duration
    scrape_interval: Duration

    def words(self) -> dict[str, str]:
        """Return the variables that Grafana sets."""
        # reference: Grafana, docs/sources/datasources/prometheus/template-variables: $__rate_interval.
        rate = max(self.step + self.scrape_interval, 4 * self.scrape_interval)
        seconds = self.period.length // SECOND
        return {
            "__interval": format_duration(self.step),
            "__interval_ms": str(self.step),
            "__rate_interval": format_duration(rate),
            "__range": f"{seconds}s",
            "__range_s": str(seconds),
            "__range_ms": str(self.period.length),
            "__from": str(self.period.start),
            "__to": str(self.period.end),
        }


def _chosen(
    variable: Mapping[str, Any], given: Sequence[str], known: Variables, source: Source, period: Period
) -> Chosen:
    if given:
        return Chosen(tuple(given))
    options = _options(variable, known, source, period)
    if variable.get("includeAll"):
        return Chosen(tuple(options), every=variable.get("allValue") or "")
    current = (variable.get("current") or {}).get("value")
    first = [current] if isinstance(current, str) and current else options[:1]
    return Chosen(tuple(first) or ("",))


def _options(variable: Mapping[str, Any], known: Variables, source: Source, period: Period) -> list[str]:
    query = variable.get("query") or ""
    text = str(query.get("query", "")) if isinstance(query, dict) else str(query)
    if variable["type"] != "query":
        return [option.strip() for option in text.split(",") if option.strip()]
    found = _LABEL_VALUES.fullmatch(known.filled(text).strip())
    return source.label_values(found["label"], found["selector"] or "", period) if found else []
