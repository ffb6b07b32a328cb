"""Random rule groups and random series for them to live on; the same random numbers give the same."""

from dataclasses import dataclass
from random import Random
from typing import Any

from monitor.model.instant import SECOND, Duration, format_duration
from monitor.model.labels import Labels
from monitor.model.sample import STALE
from tests.rules.life import Values

STEPS = 25
_METRICS = ("m0", "m1", "m2")
_FINDS = (
    "{m} > {k}",
    "{m} == {k}",
    "{m} > bool {k}",
    "sum by (zone) ({m}) > {k}",
    "count({m}) > 1",
    "absent({m})",
    "absent({m}{{instance='a'}})",
    "{m} > on (instance) {n}",
    "{m} unless on (instance) {n} > {k}",
    "delta({m}[{range}]) != 0",
    "max_over_time({m}[{range}]) > {k}",
    "avg_over_time({m}[{range}:{step}]) > {k}",
    "{m} offset {step} > {k}",
    "1",
    "vector({k}) > 4",
    "ALERTS",
    "ALERTS{{alertstate='firing'}}",
    "ALERTS{{alertname='{alert}'}}",
    "count by (alertstate) (ALERTS)",
    "time() - ALERTS_FOR_STATE{{alertname='{alert}'}} >= {seconds}",
    "{record} > {k}",
    "sum({record})",
    "{m} and on (instance) {record}",
)
_LABELS = (
    ("severity", "warning"),
    ("severity", "{{ if gt $value 4.0 }}high{{ else }}low{{ end }}"),
    ("severity", "{{ if gt $value 4.0 }}high{{ end }}"),
    ("value", "{{ $value }}"),
    ("where", "{{ $labels.instance }}-{{ .Labels.zone }}"),
    ("cluster", "{{ $externalLabels.cluster }}"),
    ("alertname", "Other"),
    ("alertstate", "{{ $labels.alertstate }}-own"),
    ("instance", ""),
    ("zone", ""),
    ("zone", "{{ with query `m1` }}{{ . | sortByLabel `instance` | first | label `zone` }}{{ end }}"),
)
_ANNOTATIONS = (
    ("summary", "{{ $labels.instance }} of {{ $labels.zone }} is at {{ $value | humanize }}"),
    ("summary", "{{ .Labels.alertname }}{{ $labels.alertstate }}"),
    ("others", "{{ range query `m0 > 2` | sortByLabel `instance` }}{{ .Labels.instance }}={{ .Value }};{{ end }}"),
    ("total", "{{ query `sum(m1)` | first | value | printf `%.1f` }}"),
    ("none", "{{ if gt $value 1e6 }}many{{ end }}"),
    ("link", "{{ $externalURL }}{{ graphLink `m0` }}"),
)
_GROUP_LABELS = (("team", "llm"), ("severity", "of the group"), ("zone", "{{ $value }}"))


@dataclass(frozen=True)
class Case:
    """A rule file, the series that its rules read, and the time between two samples and between two evaluations."""

    rules: dict[str, Any]
    series: dict[Labels, Values]
    step: Duration

    @property
    def alerts(self) -> list[str]:
        return [rule["alert"] for group in self.rules["groups"] for rule in group["rules"] if "alert" in rule]

    @property
    def records(self) -> list[str]:
        return [rule["record"] for group in self.rules["groups"] for rule in group["rules"] if "record" in rule]


class Cases:
    """Makes one case after the other."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def any(self) -> Case:
        step = self._random.choice((15 * SECOND, 60 * SECOND, 60 * SECOND, 1500))
        groups = [self._group(f"g{number}", number, step) for number in range(self._random.randint(1, 3))]
        return Case({"groups": groups}, self._series(), step)

    def _group(self, name: str, number: int, step: Duration) -> dict[str, Any]:
        random = self._random
        rules = [self._rule(f"{number}{place}", step) for place in range(random.randint(1, 5))]
        group: dict[str, Any] = {"name": name, "rules": rules}
        if random.random() < 0.2:
            group["limit"] = random.choice((-1, 1, 2, 4))
        if random.random() < 0.2:
            group["query_offset"] = format_duration(random.choice((0, step // 2, step, 2 * step)))
        if random.random() < 0.2:
            group["labels"] = dict([random.choice(_GROUP_LABELS)])
        if random.random() < 0.2:
            group["interval"] = format_duration(2 * step)
        return group

    def _rule(self, number: str, step: Duration) -> dict[str, Any]:
        random = self._random
        if random.random() < 0.25:
            own = {"record": f"rec:{number}", "expr": self._expr(step)}
            return own | ({"labels": {"origin": "recorded", "alertstate": ""}} if random.random() < 0.5 else {})
        rule: dict[str, Any] = {"alert": f"A{number}", "expr": self._expr(step)}
        for key in ("for", "keep_firing_for"):
            if random.random() < 0.5:
                rule[key] = format_duration(random.choice((step // 2, step, 2 * step, 3 * step, 3 * step + step // 2)))
        for key, texts, likely in (("labels", _LABELS, 0.5), ("annotations", _ANNOTATIONS, 0.7)):
            if random.random() < likely:
                rule[key] = dict(random.sample(texts, random.randint(1, 3)))
        return rule

    def _expr(self, step: Duration) -> str:
        random = self._random
        return random.choice(_FINDS).format(
            m=random.choice(_METRICS),
            n=random.choice(_METRICS),
            k=random.randint(0, 8),
            alert=f"A{random.randint(0, 1)}{random.randint(0, 2)}",
            record=f"{{__name__='rec:{random.randint(0, 1)}{random.randint(0, 2)}'}}",
            range=format_duration(random.randint(2, 4) * step),
            step=format_duration(step),
            seconds=2 * step / 1000,
        )

    def _series(self) -> dict[Labels, Values]:
        random = self._random
        return {
            Labels.of(__name__=name, instance=instance, zone=random.choice(("z1", "z2"))): self._values()
            for name in _METRICS
            for instance in ("a", "b", "c")[: random.randint(1, 3)]
        }

    def _values(self) -> Values:
        random = self._random
        value: float | None = float(random.randint(0, 9))
        values: list[float | None] = []
        while len(values) < STEPS:
            value = random.choice((float(random.randint(0, 9)), value, None, STALE))
            values += [value] * (1 if value is STALE else random.randint(1, 7))
        return values[:STEPS]
