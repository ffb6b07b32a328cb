"""Random files of unit tests: series in random notation, rules that read them, and questions about both."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

from monitor.model.instant import MINUTE, SECOND, Duration, format_duration

_INTERVALS = (10 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE)
_BROKEN = ("1+2", "x3", "1x", "stalex2", "NaNx1", "1,", "0x1F", "1 + 1", "1h")
_THRESHOLDS = (0, 2, 5, 20)
_LENGTH = 24
_END: Duration = 8 * MINUTE


@dataclass
class RandomTest:
    """One file and its rules, as YAML knows them; `questions` are asked without an answer as yet."""

    random: Random
    interval: Duration = 0
    step: Duration = 0
    groups: list[dict[str, Any]] = field(default_factory=list)
    series: list[dict[str, str]] = field(default_factory=list)
    alerts: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=lambda: ["x", "y"])

    def __post_init__(self) -> None:
        self.interval, self.step = self.random.choice(_INTERVALS), self.random.choice(_INTERVALS[1:])
        for name in "xxyyz"[: self.random.randint(2, 5)]:
            labels = f'{{a="{self.random.randint(1, 3)}", b="{self.random.choice("uv")}"}}'
            self.series.append({"series": name + labels, "values": self._notation()})
        for number in range(self.random.randint(1, 3)):
            self.groups.append(self._group(f"g{number}"))

    @property
    def rules(self) -> dict[str, Any]:
        return {"groups": self.groups}

    def document(self, exprs: list[dict[str, Any]], alerts: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the file with these questions. The order of all groups is given: promtool's own is random."""
        test = {"name": "random", "interval": format_duration(self.interval), "input_series": self.series}
        return {
            "rule_files": ["rules.yaml"],
            "evaluation_interval": format_duration(self.step),
            "group_eval_order": [group["name"] for group in self.groups],
            "fuzzy_compare": True,
            "tests": [{**test, "promql_expr_test": exprs, "alert_rule_test": alerts}],
        }

    def questions(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return expressions and alerts to ask for, no two the same."""
        exprs = {(self._expr(), self._time()) for _ in range(6)} | {("ALERTS", self._time()) for _ in range(2)}
        alerts = {(name, self._time()) for name in self.alerts for _ in range(3)}
        return (
            [{"expr": expr, "eval_time": time, "exp_samples": []} for expr, time in sorted(exprs)],
            [{"alertname": name, "eval_time": time, "exp_alerts": []} for name, time in sorted(alerts)],
        )

    def _time(self) -> str:
        # Also between two evaluations, where promtool's answers are odd.
        return format_duration(self.random.randrange(0, _END, 5 * SECOND))

    def _notation(self) -> str:
        pieces, length = [], 0
        while length < _LENGTH:
            count = self.random.randint(0, 5)
            pieces.append(self._piece(count))
            length += count + 1
        if self.random.random() < 0.02:
            pieces.insert(self.random.randrange(len(pieces)), self.random.choice(_BROKEN))
        return self.random.choice((" ", "  ", "\t")).join(pieces)

    def _piece(self, count: int) -> str:
        first = self.random.choice(("0", "1", "-2", "+3", "7.5", "1e1", "010", ".25", "1_0"))
        step = self.random.choice(("1", "0.1", "2.5e-1", "3"))
        forms = ("_", f"_x{count}", "stale", first, f"{first}x{count}", f"{first}+{step}x{count}")
        rare = (f"{first}-{step}x{count}", "Inf", "-inf", "NaN", f"NaN+0x{count}", "stale+1x0")
        return self.random.choice(forms if self.random.random() < 0.85 else rare)

    def _group(self, name: str) -> dict[str, Any]:
        group: dict[str, Any] = {"name": name, "rules": [self._rule() for _ in range(self.random.randint(1, 4))]}
        if self.random.random() < 0.3:
            group["interval"] = self.random.choice(("20s", "3m"))
        if self.random.random() < 0.1:
            group["limit"] = self.random.randint(1, 3)
        if self.random.random() < 0.15:
            group["query_offset"] = "1m"
        return group

    def _rule(self) -> dict[str, Any]:
        if self.random.random() < 0.4:
            # Now and then a name that is recorded already, or comes in as a series.
            name = f"r{len(self.names)}" if self.random.random() < 0.9 else self.random.choice(self.names)
            rule: dict[str, Any] = {"record": name, "expr": self._expr()}
            self.names.append(name)
            return rule
        name = self.random.choice("ABC")
        self.alerts.append(name)
        rule = {
            "alert": name,
            "expr": self._expr(),
            "labels": {"n": str(len(self.alerts)), "b": self.random.choice(("", "{{ $labels.b }}!"))},
            "annotations": {"value": '{{ printf "%.3f" $value }}', "of": "{{ $labels.a }}"},
        }
        for key in ("for", "keep_firing_for"):
            if self.random.random() < 0.5:
                rule[key] = self.random.choice(("0s", "30s", "1m", "2m"))
        return rule

    def _expr(self) -> str:
        name, other = self.random.choice(self.names), self.random.choice(self.names)
        of, above = self.random.choice(("20s", "1m", "150s")), self.random.choice(_THRESHOLDS)
        return self.random.choice(
            (
                name,
                f"{name} > {above}",
                f"{name} > {above}",
                f"sum by (a) ({name}) > {above}",
                f"max without (b) ({name})",
                f"rate({name}[{of}])",
                f"max_over_time({name}[{of}]) >= {above}",
                f"count_over_time({name}[{of}])",
                f"sum_over_time({name}[3m:])",
                f"{name} offset {of}",
                f"{name} offset -{of}",
                f"{name} + on (a, b) {other}",
                f"{name} unless {other}",
                f"{name} or {other}",
                f"absent({name})",
                f"time() > bool {above}",
                f"timestamp({name})",
                f'ALERTS_FOR_STATE{{alertname="{self.random.choice("ABC")}"}}',
            )
        )
