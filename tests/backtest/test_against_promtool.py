"""What a backtest says fires is what promtool finds to fire, at every evaluation."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.backtest.outcome import Outcome
from monitor.commands.backtesting import names_of, play
from monitor.model.instant import MINUTE, Instant, slot_at_or_before
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import equal
from monitor.shipped import rules_folder
from tests.backtest.histories import HANG, OVERLOAD, STEP, Recorded, shipped
from tests.engines import engine
from tests.promtool import Question, input_series, run, unit_test

RULES = sorted(rules_folder().glob("*.rules.yaml"))
FIRING = 'ALERTS{alertstate="firing"}'


def firing(outcome: Outcome, at: Instant) -> Iterator[tuple[Labels, float]]:
    """Yield the series that Prometheus writes of what fires."""
    for one in outcome.fired:
        if any(episode.fired_at <= at < (episode.resolved_at or at + 1) for episode in one.episodes):
            yield one.labels.with_({METRIC_NAME: "ALERTS", "alertstate": "firing"}), 1.0


@pytest.mark.parametrize("path", [OVERLOAD, HANG], ids=["overload", "hang"])
def test_promtool_finds_the_same_alerts_at_every_evaluation(path: Path, tmp_path: Path) -> None:
    recorded = Recorded([path])
    period = recorded.period
    outcome = play(shipped(), recorded, period, lambda _: None).outcome
    # promtool evaluates a group of a minute every minute from the beginning on, and life does it every full minute.
    start = slot_at_or_before(period.start, MINUTE)
    window = recorded.window()
    read = names_of(shipped())
    assert read is not None
    columns = [column for name in sorted(read) for column in window.select((equal(METRIC_NAME, name),))]
    slots = range(start, period.end + 1, STEP)
    questions = [Question(FIRING, slot, list(firing(outcome, slot))) for slot in slots]
    assert sum(len(question.answer) for question in questions) > 5
    test = unit_test(RULES, start, STEP, input_series(columns, start, period.end, STEP), questions)
    assert run(engine("promtool", "newer"), test, tmp_path) == ""
