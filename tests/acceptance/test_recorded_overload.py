"""
A hundred seconds of real overload, played back over HTTP at its own times, from page to Slack.

The recording is of vLLM 0.32.0: 50 clients on a pool for seven; `waiting` is 26 to 43, the KV gauge 0.24 to 1.00.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from monitor.clock import VirtualClock
from monitor.config.read import load
from monitor.dispatch.notification import Reason
from monitor.expressions import check_expr, check_template
from monitor.model.instant import SECOND, Instant, slot_at_or_before
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import Matcher, equal
from monitor.promql import Engine, Vector, parse
from monitor.replay import replay
from monitor.rules.alerting import AlertState
from monitor.rules.rulefmt import read_rules
from monitor.shipped import rules_folder
from tests.acceptance.stage import Stage, write_config
from tests.engines import engine as engine_path
from tests.promtool import Question, input_series, run, unit_test
from tests.recorded import RecordedServer, Recording
from tests.slackstub.stub import SlackStub

RECORDED, ALERTS = "vllm_engine:", "ALERTS"
RECORDING = Recording.load("vllm-0.32.0-overload-1s")
STEP = 5 * SECOND
START: Instant = slot_at_or_before(RECORDING.times[0], STEP) + STEP
SLOTS = range(START, RECORDING.times[-1], STEP)
# The group at the interval of the scrapes: promtool evaluates every group at each step, whatever its own interval is.
RULES = [rules_folder() / "engine.rules.yaml"]


def named(name: str) -> tuple[Matcher, ...]:
    return (equal(METRIC_NAME, name),)


def answer(engine: Engine, expr: str, at: Instant) -> Sequence[tuple[Labels, float]]:
    value = engine.instant(parse(expr), at).value
    assert isinstance(value, Vector)
    return value.samples


class Played:
    """The recording, lived through once for all tests of this file."""

    def __init__(self, folder: Path) -> None:
        self.changes: list[tuple[int, str, str]] = []
        with SlackStub() as stub:
            clock = VirtualClock(START)
            with RecordedServer(RECORDING, clock) as server:
                self.stage = Stage(load(write_config(folder, server.address, stub)), clock)
                for slot in SLOTS:
                    before = self.stage.states()
                    replay(self.stage.pipeline, self.stage.clock, [slot])
                    self._note(slot, before)
            self.messages, self.requests = stub.messages, stub.requests

    def _note(self, slot: Instant, before: dict[str, AlertState]) -> None:
        for rule, state in self.stage.states().items():
            if state is not before[rule]:
                self.changes.append(((slot - START) // SECOND, rule, state.value))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return Played(tmp_path_factory.mktemp("overload"))


def test_every_scrape_was_good(played: Played) -> None:
    (up,) = played.stage.window().select(named("up"))
    assert set(up.view[0]) == {1.0}
    assert len(up.view[0]) == len(SLOTS)


def test_prometheus_finds_the_same_on_the_same_samples(played: Played, tmp_path: Path) -> None:
    """Every recorded quantity and every pending and firing alert, at every evaluation."""
    window = played.stage.window()
    written = {name for name in window.names() if name.startswith((RECORDED, ALERTS))}
    raw = [column for name in window.names() if name not in written for column in window.select(named(name))]
    engine = Engine(window)
    names = [rule.name for group in read_rules(RULES, check_expr, check_template) for rule in group.rules]
    recorded, alerts = ("|".join(name for name in names if (":" in name) is colon) for colon in (True, False))
    questions = [
        Question(expr, slot, answer(engine, expr, slot))
        for slot in SLOTS
        for expr in (f'{{__name__=~"{recorded}"}}', f'{ALERTS}{{alertname=~"{alerts}"}}')
    ]
    assert sum(len(question.answer) for question in questions) > 1000
    series = input_series(raw, START, SLOTS[-1], STEP)
    test = unit_test(RULES, START, STEP, series, questions)
    assert run(engine_path("promtool", "newer"), test, tmp_path) == ""


def test_a_wrong_answer_is_noticed_by_prometheus(played: Played, tmp_path: Path) -> None:
    raw = played.stage.window().select(named("up"))
    wrong = Question(ALERTS, START, [(Labels.of(__name__=ALERTS, alertname="VLLMOverloaded"), 1.0)])
    test = unit_test(RULES, START, STEP, input_series(raw, START, START, STEP), [wrong])
    assert "VLLMOverloaded" in run(engine_path("promtool", "newer"), test, tmp_path)


def test_the_alerts_come_and_go_when_they_should(played: Played) -> None:
    """Seconds into the playback; the overload lasts from 111 to 215."""
    assert played.changes == [
        (125, "VLLMPreemptionsHigh", "pending"),
        (130, "VLLMTimeInQueueHigh", "pending"),
        (130, "VLLMKVCacheFull", "pending"),
        # Not for three minutes: the storm ends at 215, and what is left of it in two minutes is too little from 305 on.
        (135, "VLLMPreemptionStorm", "pending"),
        (140, "VLLMRequestsWaiting", "pending"),
        (160, "VLLMOverloaded", "pending"),
        (190, "VLLMKVCacheFull", "firing"),
        (205, "VLLMOverloaded", "firing"),
        (235, "VLLMOverloaded", "inactive"),
        (250, "VLLMRequestsWaiting", "inactive"),
        (260, "VLLMKVCacheFull", "inactive"),
        (305, "VLLMPreemptionStorm", "inactive"),
    ]


def test_slack_is_told_in_the_same_round_in_words_that_say_what_to_do(played: Played) -> None:
    said = [
        (request.name, request.payload["text"])
        for request in played.requests
        # Between its beginning and its end a message is brought up to date.
        if request.name == "chat.postMessage" or "RESOLVED" in request.payload.get("text", "")
    ]
    assert [name for name, _ in said] == [
        *["chat.postMessage"] * 2,
        # The overload ends, then what it did to the cache: each message turns green, and its thread says so.
        *["chat.update", "chat.postMessage"] * 2,
    ]
    first, second, over, _, relieved, _ = [text.splitlines()[0] for _, text in said]
    assert re.fullmatch(r"\S+ WARNING: vLLM's KV cache is full.* · 98.79% of the KV cache · 127.0.0.1:\d+", first)
    assert re.fullmatch(r"\S+ CRITICAL: vLLM is overloaded.* · 34.8 requests waiting · 127.0.0.1:\d+", second)
    assert [re.sub("…?( · .*)?$", "", line) for line in (over, relieved)] == [
        "✅ RESOLVED: vLLM is overloaded, more requests",
        "✅ RESOLVED: vLLM's KV cache is full and",
    ]
    assert "--gpu-memory-utilization" in said[0][1]
    cache, overload = (
        json.dumps(message.payload, ensure_ascii=False) for message in played.messages if not message.thread_ts
    )
    assert "lasted 2m10s" in cache
    assert re.search(r"peak [0-9.]+ requests waiting", overload)
    assert re.search(r"Worst of it:\* [0-9]+\srunning .* [0-9]+\swaiting .* KV\s100\s% .* p95\sTTFT", overload)
    told = [attempt.delivery.notification for attempt in played.stage.attempts]
    assert [(one.now - START) // SECOND for one in told if one.reason is not Reason.REFRESH] == [
        190,
        205,
        235,
        265,
    ]
