"""What a person must read, whatever shows it."""

import time
from dataclasses import replace
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model.alert import Alert
from monitor.model.instant import MINUTE
from monitor.model.labels import EMPTY, Labels
from monitor.notify.cleanse import one_line, shortened
from monitor.notify.severity import Severity, severity_of
from monitor.notify.summary import summarise
from monitor.notify.title import Headline, title
from tests.notify.samples import NOW, down, ended, note, queue


@pytest.mark.parametrize(
    ("alerts", "expected"),
    [
        ([queue()], "WARNING: vLLM's queue has been long for… · 42 requests waiting · 10.0.0.1:8000"),
        ([down()], "CRITICAL: vLLM does not answer · 10.0.0.9:8000"),
        ([ended(down())], "RESOLVED: vLLM does not answer · lasted 1m · 10.0.0.9:8000"),
        ([down(), queue()], "CRITICAL: vLLM does not answer (+1 more)"),
        ([down("a:1"), down("b:1")], "CRITICAL: 2x vLLM does not answer"),
        ([down("a:1"), ended(down("b:1"))], "CRITICAL: vLLM does not answer"),
        ([ended(down("a:1")), ended(down("b:1"))], "RESOLVED: 2x vLLM does not answer · lasted 1m"),
        ([ended(down()), queue()], "WARNING: vLLM's queue has been long for minutes · 42 requests waiting"),
        ([Alert(Labels.of(alertname="X"), EMPTY, NOW)], "WARNING: X"),
    ],
)
def test_the_title_says_how_bad_what_how_much_and_where(alerts: list[Alert], expected: str) -> None:
    assert summarise(note(*alerts)).title == expected


TEXT = st.text(max_size=120)


@given(st.builds(Headline, TEXT, TEXT, TEXT, TEXT, TEXT, st.integers(0, 10**6), st.integers(0, 10**6)))
def test_a_title_is_one_short_line(headline: Headline) -> None:
    line = title(replace(headline, status=one_line(headline.status)))
    assert len(line) < 80
    assert "\n" not in line


@given(st.text(max_size=60), st.integers(1, 60))
def test_a_shortened_text_is_short_and_begins_like_the_long_one(text: str, longest: int) -> None:
    short = shortened(text, longest)
    assert len(short) <= longest
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


def test_what_fires_comes_before_what_is_over_and_the_worst_first() -> None:
    alerts = [queue("small:1", 11.0), ended(queue("over:1", 99.0)), queue("large:1", 80.0), queue("unknown:1", nan)]
    (kind,) = summarise(note(*alerts)).kinds
    assert [case.where.rpartition(" ")[2] for case in kind.cases] == ["large:1", "small:1", "unknown:1", "over:1"]
    assert kind.counts == "3 firing, 1 resolved"


@pytest.mark.parametrize(
    ("url", "word", "expected"),
    [
        ("", "", "large:1"),
        ("http://m/graph?g0.expr=queue+%3E+10&g0.tab=1", "", "large:1"),
        ("http://m/graph?g0.expr=free+%3C+0.05&g0.tab=1", "", "small:1"),
        ("http://p:9090/graph?g0.expr=free%20%3C%3D%2010", "", "small:1"),
        ("http://m/graph?g0.expr=queue+%3C+10+and+load+%3E+1&g0.tab=1", "", "large:1"),
        ("http://m/graph?g0.expr=free+%3C+10&g0.tab=1", "highest", "large:1"),
        ("", "lowest", "small:1"),
    ],
)
def test_the_worst_is_the_largest_value_unless_the_rule_has_a_floor(url: str, word: str, expected: str) -> None:
    alerts = [
        replace(alert, generator_url=url, annotations=Labels.of({**dict(alert.annotations), "worst": word}))
        for alert in (queue("small:1", 11.0), queue("large:1", 80.0))
    ]
    (kind,) = summarise(note(*alerts)).kinds
    assert kind.cases[0].where.rpartition(" ")[2] == expected


@pytest.mark.parametrize(
    "expr", ["g0.expr=" * 12_000, "g0.expr=%3C" + "%20" * 12_000 + "x", "g0.expr=" + "%3C+1+" * 2_000]
)
def test_a_link_that_somebody_made_up_takes_no_time(expr: str) -> None:
    # Of a processor: how long others keep it is not looked at.
    began = time.thread_time()
    summarise(note(replace(queue(), generator_url=f"http://m/graph?{expr}")))
    assert time.thread_time() - began < 1


def test_what_is_worse_comes_first_and_what_is_over_last() -> None:
    summary = summarise(note(ended(down()), queue(), queue(alertname="Other", severity="page")))
    assert [kind.name for kind in summary.kinds] == ["Other", "VLLMQueueLong", "VLLMTargetDown"]
    assert summary.severity is Severity.CRITICAL


def test_time_counts_from_when_the_condition_was_first_seen() -> None:
    (kind,) = summarise(note(queue(), ended(queue("b:1"), NOW - 3 * MINUTE))).kinds
    firing, over = kind.cases
    assert (firing.since, firing.lasted, firing.ended) == (NOW - 15 * MINUTE, 15 * MINUTE, None)
    assert (over.lasted, over.ended) == (12 * MINUTE, NOW - 3 * MINUTE)


def test_the_worst_of_what_still_fires_is_the_severity() -> None:
    assert summarise(note(ended(down()), queue())).severity is Severity.WARNING


@pytest.mark.parametrize(
    ("word", "severity"),
    [
        ("page", Severity.CRITICAL),
        ("Critical", Severity.CRITICAL),
        ("info", Severity.INFO),
        ("none", Severity.INFO),
        ("", Severity.WARNING),
        ("banana", Severity.WARNING),
    ],
)
def test_severity_is_read_from_the_words_people_use(word: str, severity: Severity) -> None:
    assert severity_of(Alert(Labels.of(severity=word), EMPTY, NOW)) is severity


@pytest.mark.parametrize(
    ("value", "shown"), [(1234567.0, "1.235e+06"), (0.25, "0.25"), (nan, ""), (inf, "+Inf"), (-inf, "-Inf")]
)
def test_a_value_without_words_is_shown_as_a_number(value: float, shown: str) -> None:
    (kind,) = summarise(note(Alert(Labels.of(alertname="X"), EMPTY, NOW, value=value))).kinds
    assert kind.cases[0].value == shown


def test_cases_are_told_apart_by_the_labels_that_differ() -> None:
    alerts = [queue(engine=str(number), zone="eu", pod="p") for number in range(2)]
    (kind,) = summarise(note(*alerts)).kinds
    assert sorted(case.where for case in kind.cases) == [f"llama-3-8b @ 10.0.0.1:8000 engine={n}" for n in range(2)]


TRY = "Its queue grows.\nTry first: add a replica."


@pytest.mark.parametrize(
    ("annotations", "description", "remedy"),
    [
        ({"description": TRY}, "Its queue grows.", "add a replica."),
        ({"description": "A.\nB.\n  try FIRST:  x\n  and y\n"}, "A.\nB.", "x\n  and y"),
        ({"description": "Try first: x"}, "", "x"),
        ({"description": "Do not try first: it hurts."}, "Do not try first: it hurts.", ""),
        ({"description": "Its queue grows."}, "Its queue grows.", ""),
        ({"description": "Its queue grows.", "remedy": "Wait."}, "Its queue grows.", "Wait."),
        ({"description": TRY, "action": "Wait."}, TRY, "Wait."),
        ({"description": TRY, "action": "add a replica."}, "Its queue grows.", "add a replica."),
        ({}, "", ""),
    ],
)
def test_what_to_try_first_is_told_apart_from_what_it_means(
    annotations: dict[str, str], description: str, remedy: str
) -> None:
    (kind,) = summarise(note(Alert(Labels.of(alertname="X"), Labels.of(annotations), NOW))).kinds
    assert (kind.description, kind.remedy) == (description, remedy)


def test_what_all_cases_share_is_said_once() -> None:
    (kind,) = summarise(note(queue("a:1"), queue("b:1"))).kinds
    assert (kind.place, kind.threshold) == ("llama-3-8b", "10 requests")
    assert [case.brief for case in kind.cases] == ["a:1", "b:1"]
    other = queue("b:1")
    other = replace(other, annotations=Labels.of({**dict(other.annotations), "threshold": "20 requests"}))
    (kind,) = summarise(note(queue("a:1"), other)).kinds
    assert kind.threshold == ""
    assert [case.threshold for case in kind.cases] == ["10 requests", "20 requests"]
    (kind,) = summarise(note(queue("a:1", engine="0"), queue("a:1", engine="1"))).kinds
    assert (kind.place, [case.brief for case in kind.cases]) == ("llama-3-8b @ a:1", ["engine=0", "engine=1"])


def test_no_alert_at_all_is_no_reason_to_fail() -> None:
    assert summarise(note()).title == "RESOLVED: nothing to tell"


def test_what_nobody_has_told_us_of_is_said() -> None:
    told = replace(note(queue("a:8000")), left_out=3)
    assert summarise(told).marks == ["+3 more, which Alertmanager left out"]
