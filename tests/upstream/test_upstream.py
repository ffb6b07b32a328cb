"""Rules that are evaluated by a Prometheus: who is asked what, and what becomes of alerts when it fails them."""

import json

import pytest

from monitor.clock import SystemClock, VirtualClock
from monitor.model.alert import Alert
from monitor.model.instant import HOUR, MINUTE, SECOND, Instant
from monitor.upstream.clock import ClockOffset
from tests.slackstub.faults import Answer
from tests.upstream.asked import STEP, Answers, asking

RULES = """\
groups:
  - name: recorded
    rules:
      - {record: "vllm_engine:waiting", expr: "vllm:num_requests_waiting"}
      - {record: "own:recorded", expr: "vllm_monitor_own * 2"}
  - name: alerts
    rules:
      - alert: Busy
        expr: vllm_engine:waiting > 5
        for: 30s
        annotations: {summary: "{{ with query \\"vllm_engine:running\\" }}{{ . | first | value }}{{ end }} run"}
      - {alert: Gone, expr: "absent(vllm_engine:waiting)"}
      - {alert: Own, expr: "own:recorded == 0"}
      - {alert: Always, expr: "vector(1)"}
"""
BUSY = "vllm_engine:waiting > 5"
DOWN = Answer(503, json.dumps({"status": "error", "errorType": "unavailable", "error": "not ready"}))


def busy(value: str = "7") -> Answers:
    found: dict[str, list[tuple[dict[str, str], str]]] = {
        BUSY: [({"job": "vllm", "instance": "a"}, value)],
        "vllm_engine:running": [({}, "3")],
    }
    return Answers(found, rules=["vllm_engine:waiting"])


def named(alerts: list[Alert], name: str) -> list[Alert]:
    """Return the alerts of a name but what ended as it began: the word on an earlier life."""
    return [alert for alert in alerts if alert.name == name and alert.ends_at != alert.starts_at]


def test_prometheus_is_asked_for_alerts_alone_and_not_for_what_only_we_know() -> None:
    answers = busy()
    with asking(RULES, answers) as rules:
        assert [rule.spec.name for group in rules.manager.groups for rule in group.rules] == [
            "own:recorded",
            "Busy",
            "Gone",
            "Own",
            "Always",
        ]
        assert set(rules.upstream.split.recorded) == {"vllm_engine:waiting"}
        rules.step()
        assert sorted(answers.asked) == ["absent(vllm_engine:waiting)", "vllm_engine:running", BUSY]
        assert {float(time) for time in answers.times} == {rules.at / 1000}
        assert rules.states() == {"Busy": "pending", "Always": "firing"}
        (alert,) = named(rules.step(2), "Busy")
        assert dict(alert.annotations) == {"summary": "3 run"}
        assert rules.metric("up") == 1


def test_over_an_outage_alerts_stay_and_the_outage_is_one_until_it_is_over() -> None:
    answers = busy()
    with asking(RULES, answers) as rules:
        rules.step(4)
        answers.fault = DOWN
        assert named(rules.step(), "VLLMMonitorPrometheusDown") == []
        assert rules.metric("up") == 0
        (down,) = named(rules.step(4), "VLLMMonitorPrometheusDown")
        assert "not ready" in str(down)
        assert rules.states() == {"Busy": "firing", "Always": "firing"}
        assert "not ready" in rules.errors()["Busy"]
        rules.step(4)
        answers.fault, answers.results = None, {}
        heard = rules.step()
        (over,) = named(heard, "VLLMMonitorPrometheusDown")
        assert over.ends_at == rules.at
        # It comes back with empty windows: that something is not found proves nothing yet.
        assert rules.states()["Busy"] == "firing"
        rules.step(5 * MINUTE // STEP)
        assert rules.states() == {"Busy": "inactive", "Always": "firing"}


def test_what_nobody_saw_does_not_count_towards_for() -> None:
    answers = busy()
    with asking(RULES, answers) as rules:
        rules.step()
        answers.fault = DOWN
        rules.step(8)
        answers.fault = None
        rules.step()
        assert rules.states()["Busy"] == "pending"
        rules.step(2)
        assert rules.states()["Busy"] == "firing"


def test_a_short_failure_counts_as_in_prometheus() -> None:
    answers = busy()
    with asking(RULES, answers) as rules:
        rules.step()
        answers.fault = DOWN
        rules.step(2)
        answers.fault = None
        rules.step()
        assert rules.states()["Busy"] == "firing"


def test_an_answer_from_a_part_of_the_data_ends_no_alert_and_proves_no_absence() -> None:
    answers = busy()
    with asking(RULES, answers) as rules:
        rules.step(4)
        answers.results = {"absent(vllm_engine:waiting)": [({}, "1")]}
        answers.more = {"warnings": ["receive series from Addr: store-1: rpc error"]}
        rules.step(4)
        assert rules.states() == {"Busy": "firing", "Always": "firing"}
        assert "a part of the data" in rules.errors()["Busy"]
        assert rules.metric("up") == 1
        assert rules.metric("partial_answers_total") == 8
        answers.more = {}
        rules.step()
        assert rules.states() == {"Busy": "inactive", "Gone": "firing", "Always": "firing"}


@pytest.mark.parametrize("is_strict", [False, True], ids=["warn", "abort"])
def test_what_a_part_of_the_data_finds_begins_an_alert_unless_it_is_to_be_strict(*, is_strict: bool) -> None:
    answers = busy()
    answers.more = {"isPartial": True}
    with asking(RULES, answers, is_strict=is_strict) as rules:
        rules.step(4)
        assert rules.states().get("Busy") == (None if is_strict else "firing")


def test_an_expression_that_prometheus_refuses_is_that_rules_failure_and_no_outage() -> None:
    answers = busy()
    with asking(RULES, answers) as rules:
        answers.fault = Answer(422, json.dumps({"status": "error", "errorType": "execution", "error": "no"}))
        assert named(rules.step(10), "VLLMMonitorPrometheusDown") == []
        assert rules.metric("up") == 1
        assert rules.metric("query_failures_total", reason="refused") == 20


def test_rule_files_that_are_not_loaded_there_are_an_alert_that_names_them() -> None:
    answers = busy()
    answers.rules = []
    with asking(RULES, answers) as rules:
        rules.upstream.look(rules.at)
        assert named(rules.step(4 * MINUTE // STEP), "VLLMMonitorPrometheusRulesMissing") == []
        (alert,) = named(rules.step(2 * MINUTE // STEP), "VLLMMonitorPrometheusRulesMissing")
        assert "life.rules.yaml, group recorded: vllm_engine:waiting" in str(alert)
        assert rules.metric("recorded_names_missing") == 1
        answers.rules = ["vllm_engine:waiting"]
        rules.upstream.look(rules.at)
        (over,) = named(rules.step(), "VLLMMonitorPrometheusRulesMissing")
        assert over.ends_at == rules.at
        assert rules.metric("recorded_names_missing") == 0


def test_rule_files_of_another_version_lack_single_names() -> None:
    answers = busy()
    answers.rules = ["a:old"]
    rules_text = """\
groups:
  - name: recorded
    rules:
      - {record: "a:old", expr: "x"}
      - {record: "a:new", expr: "x"}
  - name: alerts
    rules: [{alert: Both, expr: "a:old > a:new"}]
"""
    with asking(rules_text, answers) as rules:
        rules.upstream.look(rules.at)
        assert [str(one) for one in rules.upstream.recorded.missing or ()] == ["life.rules.yaml, group recorded: a:new"]


def test_what_a_part_of_the_data_lacks_is_not_missing() -> None:
    answers = busy()
    answers.rules, answers.more = [], {"warnings": ["store-1: rpc error"]}
    with asking(RULES, answers) as rules:
        rules.upstream.look(rules.at)
        assert rules.upstream.recorded.missing is None


SERVERS = 'group by (job, instance) ({__name__=~"vllm:num_requests_running|ray_vllm_num_requests_running|'
SERVERS += 'kserve_vllm:num_requests_running"})'
SCRAPED = "group by (job) (up)"


def test_a_prometheus_that_answers_and_has_no_server_is_an_alert_until_it_has_one() -> None:
    answers = busy()
    with asking(RULES, answers) as rules:

        def told(minutes: int) -> list[Alert]:
            for _ in range(minutes * MINUTE // STEP - 1):
                rules.step()
                rules.upstream.look(rules.at)
            return named(rules.step(), "VLLMMonitorPrometheusWithoutServers")

        answers.results[SERVERS] = [({"job": "vllm", "instance": "a"}, "1")]
        assert told(5) == []
        # A server that is down is known by its `up`, and rules tell of it.
        answers.results[SERVERS], answers.results[SCRAPED] = [], [({"job": "vllm"}, "1")]
        assert told(5) == []
        answers.results[SCRAPED] = [({"job": "another"}, "1")]
        (alert,) = told(5)
        assert alert.ends_at is None
        assert "tenant" in alert.annotations.value("description")
        # Whether that is over, nobody knows who does not answer.
        answers.fault = DOWN
        (still,) = told(1)
        assert still.ends_at is None
        answers.fault = None
        answers.results[SERVERS] = [({"job": "vllm", "instance": "a"}, "1")]
        (over,) = told(1)
        assert over.starts_at == alert.starts_at
        assert over.ends_at is not None


def test_a_prometheus_that_never_had_a_server_is_an_alert() -> None:
    with asking(RULES, busy()) as rules:
        rules.upstream.look(rules.at)
        assert named(rules.step(8), "VLLMMonitorPrometheusWithoutServers") == []
        (alert,) = named(rules.step(), "VLLMMonitorPrometheusWithoutServers")
        assert alert.labels.value("severity") == "critical"


def test_one_question_without_an_answer_does_not_silence_the_others_and_says_so() -> None:
    answers = busy()
    answers.faults = {"absent(vllm_engine:waiting)": DOWN}
    with asking(RULES, answers) as rules:
        (down,) = named(rules.step(6), "VLLMMonitorPrometheusDown")
        assert "1 of 3 questions have no answer: their alerts stay" in down.annotations.value("description")
        assert rules.states()["Busy"] == "firing"


def test_what_the_groups_of_one_interval_lack_is_not_made_up_for_by_those_of_another() -> None:
    answers = Answers(rules=["x"])
    rules_text = """\
groups:
  - {name: often, rules: [{alert: Often, expr: "x > 1"}]}
  - {name: seldom, interval: 1m, rules: [{alert: Seldom, expr: "x > 2"}]}
"""
    with asking(rules_text, answers) as rules:
        rules.at -= rules.at % MINUTE

        def minute() -> list[list[Alert]]:
            told = [rules.evaluate(STEP), rules.evaluate(MINUTE)]
            for _ in range(3):
                rules.at += STEP
                told.append(rules.evaluate(STEP))
            rules.at += STEP
            return [named(alerts, "VLLMMonitorPrometheusDown") for alerts in told]

        assert minute() == [[]] * 5
        # For a moment, and gone when it is asked the next time.
        answers.faults["x > 2"] = DOWN
        assert minute() == [[]] * 5
        del answers.faults["x > 2"]
        assert minute() == [[]] * 5
        for question in ("x > 1", "x > 2"):
            answers.faults[question] = DOWN
            minute()
            # From then on at each evaluation, of whichever groups.
            assert [len(alerts) for alerts in minute()[1:]] == [1] * 4
            assert rules.metric("up") == 0
            del answers.faults[question]
            *_, over = (alert for alerts in minute() for alert in alerts)
            assert over.ends_at is not None
            assert rules.metric("up") == 1


def test_where_nobody_tells_which_rules_are_loaded_their_series_do() -> None:
    answers = busy()
    answers.rules = []
    selector = 'count by (__name__) ({__name__=~"vllm_engine:waiting"})'
    answers.results[selector] = [({"__name__": "vllm_engine:waiting"}, "2")]
    with asking(RULES, answers) as rules:
        rules.upstream.look(rules.at)
        assert rules.upstream.recorded.missing == []


def test_a_daemon_that_ends_waits_for_no_answer() -> None:
    with asking(RULES, busy()) as rules:
        rules.upstream.stop()
        rules.step()
        assert rules.errors()["Busy"] == "stopped"
        assert rules.metric("up") is not None


@pytest.mark.parametrize("ahead", [0, 30 * SECOND, -2 * HOUR])
def test_a_clock_that_is_off_is_made_up_for(ahead: int) -> None:
    clock, boot = VirtualClock(1_790_000_000_400), VirtualClock(5000)
    offset = ClockOffset(clock, boot.now)
    for _ in range(3):
        told = clock.now() + ahead
        offset.dated(told - told % 1000)
    assert abs(offset.offset() - ahead) <= 500
    # One answer that was on its way for long says nothing.
    offset.dated(clock.now() + ahead - 10_000)
    assert abs(offset.offset() - ahead) <= 500
    # Ours is set an hour on; before another answer has come, it is known what that means.
    clock.advance(HOUR)
    assert abs(offset.offset() - (ahead - HOUR)) <= 500
    clock.advance(MINUTE)
    boot.advance(MINUTE)
    assert abs(offset.offset() - (ahead - HOUR)) <= 500


def test_what_prometheus_found_for_a_time_of_which_it_knows_nothing_counts_for_nothing() -> None:
    ahead = 2 * HOUR

    class Behind(SystemClock):
        def now(self) -> Instant:
            return super().now() - ahead

    # The stub tells the time of now.
    with asking(RULES, busy(), clock=Behind()) as rules:
        rules.step()
        asked = dict(zip(rules.answers.asked, rules.answers.times, strict=True))
        assert abs(float(asked[BUSY]) * SECOND - rules.at - ahead) < MINUTE
        rules.answers.asked.clear()
        rules.step()
        assert rules.answers.asked.count(BUSY) == 1


def test_a_reload_and_a_clock_that_is_set_leave_an_outage_as_it_is() -> None:
    answers = busy()
    with asking(RULES, answers) as before, asking(RULES, answers) as after:
        answers.fault = DOWN
        (down,) = named(before.step(6), "VLLMMonitorPrometheusDown")
        before.upstream.shift(HOUR)
        after.upstream.take_over(before.upstream)
        after.at = before.at + HOUR
        (still,) = named(after.step(), "VLLMMonitorPrometheusDown")
        assert (still.starts_at, still.active_at) == (down.starts_at + HOUR, (down.active_at or 0) + HOUR)
        answers.fault = None
        (over,) = named(after.step(), "VLLMMonitorPrometheusDown")
        assert (over.starts_at, over.ends_at) == (still.starts_at, after.at)
        assert after.upstream.answered_at == after.at
