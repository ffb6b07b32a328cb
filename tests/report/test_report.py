"""From answers to numbers, and from numbers to what is printed."""

from dataclasses import replace
from datetime import UTC
from io import StringIO
from zoneinfo import ZoneInfo

import pytest
from rich.console import Console

from monitor.commands.report import print_comparison, print_report
from monitor.model.instant import DAY, HOUR, MINUTE, Instant
from monitor.model.labels import Labels
from monitor.report.compare import lines
from monitor.report.figures import quantile, report_of
from monitor.report.gather import Gathered, Model, gather
from monitor.report.growth import Growth, Trend, growth_of
from monitor.report.handling import AlertKey, Answered, Handling, answered, handlings_of
from monitor.report.period import Period, PeriodError, instant_of, period_of
from monitor.report.plain import as_plain
from monitor.report.questions import Question
from tests.notify.golden import assert_golden
from tests.report.weeks import MODEL, MONDAY, RUSH, USUAL, WEEK, FakeServer, Value, always, level

LLAMA = Model("vllm", "llama")
OVERLOADED = Labels.of(alertname="VLLMOverloaded", severity="critical", instance="a:8000", **dict(MODEL))
# Told in two channels, and acknowledged in one after six minutes; once more before the week began.
HANDLED = [
    Handling(OVERLOADED, RUSH.start),
    Handling(OVERLOADED, RUSH.start, RUSH.start + 6 * MINUTE),
    Handling(OVERLOADED, MONDAY - DAY, MONDAY),
]
REPORT = report_of(replace(gather(FakeServer(), WEEK), handlings=HANDLED))


def printed(zone: str = "UTC") -> str:
    console = Console(file=StringIO(), width=160, highlight=False)
    print_report(REPORT, ZoneInfo(zone), console)
    assert isinstance(console.file, StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


def test_a_week_as_it_is_printed() -> None:
    assert_golden("report/week.txt", printed())


def test_a_week_as_plain_values() -> None:
    assert_golden("report/week.json", as_plain(REPORT))


def test_a_load_test_before_and_after_fp8() -> None:
    console = Console(file=StringIO(), width=120, highlight=False)
    faster: dict[str, Value] = {
        Question.ENDED: level(1.5),
        Question.TTFT_P95: level(1.2),
        Question.CONCURRENCY: always(3.58),
    }
    rush = Period(RUSH.start, RUSH.stop)
    before = report_of(gather(FakeServer(), rush))
    after = report_of(gather(FakeServer({**USUAL, **faster}), rush))
    print_comparison(before, after, UTC, console)
    assert isinstance(console.file, StringIO)
    text = "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"
    assert_golden("report/compared.txt", text)


def test_a_model_that_only_one_period_knows_is_shown_with_dashes() -> None:
    (one,) = REPORT.models
    (line, *_) = lines(None, one)
    assert (line.name, line.first, line.second, line.change) == ("max_model_len", "\u2013", "16,384 tokens", "")


def test_times_are_of_the_zone_that_is_wanted() -> None:
    assert "busiest hour  Tue 03 Nov 15:00: mean 97%" in printed("Europe/Berlin")


def test_what_is_not_known_is_left_out() -> None:
    (one,) = report_of(gather(FakeServer({Question.WAITING: USUAL[Question.WAITING]}, ()), WEEK)).models
    assert one.minutes_seen == WEEK.length // MINUTE
    assert (one.cache.peak, one.cache.growth, one.throughput.requests, one.latencies) == (None, None, None, {})


def test_no_prompt_is_longer_than_the_server_takes() -> None:
    short = {**USUAL, Question.MAX_MODEL_LEN: always(2856)}
    (one,) = report_of(gather(FakeServer(short), WEEK)).models
    assert (one.prompts.longest, one.prompts.share_of_longest) == (2856, 0.1)


def test_an_hour_of_which_a_minute_was_seen_is_not_the_busiest() -> None:
    usage = {MONDAY + minute * MINUTE: 0.5 for minute in range(1, 61)} | {MONDAY + HOUR + MINUTE: 0.9}
    (one,) = report_of(Gathered(WEEK, {Question.KV_P90: usage_of(usage), Question.KV_PEAK: usage_of(usage)})).models
    assert one.cache.busiest is not None
    assert (one.cache.busiest.at, one.cache.busiest.mean) == (MONDAY, 0.5)
    assert one.cache.peak is not None
    assert (one.cache.peak.value, one.cache.peak.at) == (0.9, MONDAY + HOUR)


def usage_of(track: dict[Instant, float]) -> dict[Model, dict[Instant, float]]:
    return {LLAMA: track}


def test_an_alert_that_pauses_for_a_minute_has_fired_twice() -> None:
    seen = {RUSH.start + minute * MINUTE: 1.0 for minute in (1, 2, 3, 5)}
    (fired,) = report_of(Gathered(WEEK, {}, {AlertKey("A", "warning", "vllm", "llama"): seen})).alerts
    assert (fired.times, fired.minutes, fired.longest_minutes, fired.median_minutes) == (2, 4, 3, 2)


def test_how_long_an_alert_takes_that_reaches_over_an_edge_is_not_known() -> None:
    first = {MONDAY + minute * MINUTE: 1.0 for minute in (1, 2)}
    last = {WEEK.end - minute * MINUTE: 1.0 for minute in (0, 1, 2)}
    for seen in (first, last, first | last):
        (fired,) = report_of(Gathered(WEEK, {}, {AlertKey("A", "warning", "vllm", "llama"): seen})).alerts
        assert fired.median_minutes is None


def test_of_several_channels_the_quickest_answer_counts() -> None:
    (found,) = answered(HANDLED, WEEK.start, WEEK.end).values()
    assert found == Answered(1, 1, 360)


def test_what_joined_an_incident_that_was_taken_already_waited_for_nobody() -> None:
    joined = Handling(Labels.of(OVERLOADED, instance="b:8000"), RUSH.start + HOUR, RUSH.start + 6 * MINUTE)
    ignored = Handling(Labels.of(OVERLOADED, instance="c:8000"), RUSH.start)
    (found,) = answered([*HANDLED, joined, ignored], WEEK.start, WEEK.end).values()
    assert found == Answered(3, 2, 360)


def test_an_answer_of_somebody_else_is_left_out() -> None:
    good = {"labels": dict(OVERLOADED), "startsAt": "2026-11-03T14:00:00Z", "ackedAt": "2026-11-03T14:06:00.000Z"}
    assert handlings_of([good, {}, {**good, "ackedAt": 5}, {**good, "labels": None}]) == HANDLED[1:2]


@pytest.mark.parametrize(
    ("weeks", "expected"),
    [
        pytest.param((0.6, 0.7, 0.8), Growth(Trend.SHORT, (0.6, 0.7, 0.8)), id="three weeks are too few"),
        pytest.param((0.5, 0.5, 0.5, 0.5), Growth(Trend.STEADY, (0.5,) * 4, 0.0), id="the same every week"),
        pytest.param((0.8, 0.3, 0.9, 0.4, 0.7), None, id="up and down"),
        pytest.param((0.5, 0.6, 0.7, 1.0), Growth(Trend.FULL, (0.5, 0.6, 0.7, 1.0)), id="full already"),
    ],
)
def test_there_is_a_trend_only_where_the_weeks_show_one(weeks: tuple[float, ...], expected: Growth | None) -> None:
    found = growth_of(days(weeks), WEEK.end)
    assert found == (expected or Growth(Trend.SCATTERED, weeks))


def test_growth_is_told_in_days_until_full() -> None:
    found = growth_of(days((0.5, 0.6, 0.7, 0.8)), WEEK.end)
    assert found.trend is Trend.GROWING
    assert found.slope == pytest.approx(0.1)
    assert found.days == pytest.approx(14)


def test_a_week_of_which_two_days_are_known_does_not_count() -> None:
    known = days((0.5, 0.6, 0.7, 0.8))
    oldest = sorted(known)[:5]
    assert growth_of({at: peak for at, peak in known.items() if at not in oldest}, WEEK.end).trend is Trend.SHORT


def days(weeks: tuple[float, ...]) -> dict[Instant, float]:
    return {
        WEEK.end - (age * 7 + day) * DAY: peak - day * 0.01
        for age, peak in enumerate(reversed(weeks))
        for day in range(7)
    }


def test_quantiles_lie_between_values_as_in_promql() -> None:
    assert quantile((4, 1, 3, 2), 0.5) == 2.5
    assert quantile((), 0.5) is None


def test_a_period_may_leave_the_second_day_out() -> None:
    expected = Period(MONDAY + 10 * HOUR, MONDAY + 11 * HOUR)
    assert period_of("2026-11-02T10:00/11:00", UTC) == expected
    assert period_of("2026-11-02T10:00/2026-11-02T11:00Z", UTC) == expected
    assert period_of("2026-11-02T11:00/12:00", ZoneInfo("Europe/Berlin")) == expected
    assert instant_of("1793577600", UTC) == MONDAY


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2026-11-02", "is no period"),
        ("2026-11-02T10:00/09:00", "its end must be after its beginning"),
        ("2026-09-02/2026-11-02", "longer than 35 days"),
        ("yesterday/today", "is no time"),
        ("0001-01-01T00:00/01:00", "is no time"),
        ("9999-12-31T22:00/23:00", "is no time"),
        ("253402297200/253402300799", "is no time"),
    ],
)
def test_what_is_no_period_is_refused(text: str, why: str) -> None:
    with pytest.raises(PeriodError, match=why):
        period_of(text, UTC)
