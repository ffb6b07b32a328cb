"""A day at a time comes to what the pipeline comes to instant by instant."""

from array import array
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from monitor.backtest.source import Samples
from monitor.commands.backtesting import Played, play
from monitor.config.config import Config
from monitor.model.instant import Instant
from tests.backtest.histories import HANG, OVERLOAD, InMemory, Recorded, samples_of, shipped, troubled

_RECORDED = samples_of(Recorded([OVERLOAD]).window())


def _nobody(_: Instant) -> None:
    """Nobody watches."""


def _both(config: Config, history: Recorded | InMemory) -> tuple[Played, Played]:
    period = history.period
    return play(config, history, period, _nobody), play(config, history, period, _nobody, by_slots=True)


@pytest.mark.parametrize("path", [OVERLOAD, HANG], ids=["overload", "hang"])
def test_a_recording_comes_to_the_same(path: Path) -> None:
    quick, slow = _both(shipped(), Recorded([path]))
    assert quick.slow == ""
    assert quick.outcome == slow.outcome
    assert quick.outcome.fired


@pytest.mark.parametrize("seed", range(2))
def test_servers_in_trouble_come_to_the_same(seed: int) -> None:
    """The shipped rules over two servers that overload, hang, fail, restart."""
    history = troubled(_RECORDED, Random(seed), 100, 15_000)  # noqa: S311 - it must be repeatable
    quick, slow = _both(shipped(), history)
    assert quick.slow == ""
    assert quick.outcome == slow.outcome
    assert sum(len(one.episodes) for one in quick.outcome.fired) > 3


_ODD_RULES = """\
groups:
  - name: first
    rules:
      # Reads what is recorded further down: the value of the instant before.
      - {alert: ReadsBack, expr: "later:waiting > 10", for: 30s, keep_firing_for: 1m, labels: {severity: warning}}
      - {record: "lagging:waiting:sum", expr: "sum_over_time(later:waiting[2m]) + topk(1, later:waiting)"}
      - {alert: Lagging, expr: "lagging:waiting:sum > 60", labels: {severity: info}}
      - {alert: ByValue, expr: "vllm:num_requests_running > 8", labels: {severity: info, band: "{{ $value }}"}}
      - {alert: Gone, expr: 'absent(vllm:num_requests_running{instance="server-0"})', for: 15s}
      # Fails while both servers are up.
      - {alert: Ambiguous, expr: "up == on (job) up", labels: {severity: critical}}
      - {record: "clashing", expr: 'label_replace(up, "instance", "", "", "")'}
      - {alert: Clash, expr: "up == 1", labels: {instance: "{{ $labels.job }}"}}
  - name: slow
    interval: 1m
    rules:
      - {record: "minute:waiting", expr: "max_over_time(later:waiting[5m:15s])"}
      - {alert: Slowly, expr: "minute:waiting > 20", for: 2m}
  - name: last
    limit: 1
    rules:
      - {record: "later:waiting", expr: 'vllm:num_requests_waiting{instance="server-0"}'}
      - {alert: Limited, expr: "vllm:num_requests_waiting > 0"}
"""


@pytest.mark.parametrize("seed", range(2))
def test_rules_that_fail_or_read_each_other_come_to_the_same(seed: int, tmp_path: Path) -> None:
    config = _with_rules(tmp_path, _ODD_RULES)
    history = troubled(_RECORDED, Random(seed), 160, 15_000)  # noqa: S311 - it must be repeatable
    quick, slow = _both(config, history)
    assert quick.slow == ""
    assert quick.outcome == slow.outcome
    assert {one.name for one in quick.outcome.fired} >= {"ReadsBack", "Lagging", "ByValue", "Gone", "Slowly"}
    assert {rule.name for rule in quick.outcome.failed} >= {"Ambiguous", "clashing", "Clash", "Limited"}


@pytest.mark.parametrize(
    ("expr", "why"),
    [
        ("up == 0 and on () ALERTS", "reads ALERTS"),
        ("up @ 5 == 0", "fixed time"),
        ("up offset -1m == 0", "reads ahead"),
    ],
)
def test_what_cannot_be_known_a_day_ahead_is_evaluated_instant_by_instant(expr: str, why: str, tmp_path: Path) -> None:
    config = _with_rules(tmp_path, f'groups: [{{name: g, rules: [{{alert: A, expr: "{expr}"}}]}}]')
    history = troubled(_RECORDED, Random(1), 40, 15_000)  # noqa: S311 - it must be repeatable
    quick, slow = _both(config, history)
    assert why in quick.slow
    assert quick.outcome == slow.outcome


def test_rules_that_read_themselves_are_evaluated_instant_by_instant(tmp_path: Path) -> None:
    rules = 'groups: [{name: g, rules: [{record: "n", expr: "n + 1 or vector(1)"}, {alert: A, expr: "n > 20"}]}]'
    history = troubled(_RECORDED, Random(1), 40, 15_000)  # noqa: S311 - it must be repeatable
    quick = play(_with_rules(tmp_path, rules), history, history.period, _nobody)
    assert "read each other or themselves" in quick.slow
    (alert,) = quick.outcome.fired
    assert (alert.first - history.period.start) // 15_000 == 20


def test_what_rules_record_is_not_taken_from_the_history(tmp_path: Path) -> None:
    """Not even where everything is read: a Prometheus holds what it recorded itself."""
    history = troubled(_RECORDED, Random(1), 20, 15_000)  # noqa: S311 - it must be repeatable
    (up,) = [one for one in history.series if one.labels.name == "up" and one.labels.value("instance") == "server-0"]
    old = Samples(up.labels.with_(__name__="mine"), up.times, array("d", [7.0] * len(up.times)))
    rules = """groups: [{name: g, rules: [
        {record: mine, expr: "up + 1"},
        {alert: Old, expr: '{__name__=~"m.ne"} == 7'},
        {alert: New, expr: "mine == 2"}]}]"""
    quick, slow = _both(_with_rules(tmp_path, rules), replace(history, series=[*history.series, old]))
    assert {one.name for one in quick.outcome.fired} == {"New"}
    assert quick.outcome == slow.outcome


def _with_rules(folder: Path, text: str) -> Config:
    path = folder / "odd.rules.yaml"
    path.write_text(text)
    return replace(shipped(), rule_files=(path,))
