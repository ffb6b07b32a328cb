"""Time intervals: when they hold, and that the real Alertmanager takes the same texts."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from monitor.config.intervals import IntervalSection
from monitor.model.instant import from_seconds
from monitor.yamldoc.compose import read_document
from monitor.yamldoc.report import Report
from tests.engines import engine


def read(text: str) -> IntervalSection | None:
    """Return the interval, or None when there is something wrong with it."""
    report = Report(read_document(text, "f"), lambda _root, _loc: "")
    section = report.read(IntervalSection)
    return None if report.mistakes else section


def holds(text: str, at: str) -> bool:
    section = read(text)
    assert section is not None
    return section.built().contains(from_seconds(datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp()))


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        pytest.param("{}", ["2026-11-30T00:00:00"], [], id="nothing-given-is-always"),
        pytest.param("{times: []}", [], ["2026-11-30T00:00:00"], id="an-empty-list-is-never"),
        pytest.param(
            '{times: [{start_time: "09:00", end_time: "17:00"}]}',
            ["2026-11-30T09:00:00", "2026-11-30T16:59:59.999"],
            ["2026-11-30T08:59:59.999", "2026-11-30T17:00:00"],
            id="the-end-of-a-time-is-not-in-it",
        ),
        pytest.param(
            '{times: [{start_time: "00:00", end_time: "01:00"}, {start_time: "23:00", end_time: "24:00"}]}',
            ["2026-11-30T00:30:00", "2026-11-30T23:59:59"],
            ["2026-11-30T12:00:00"],
            id="one-time-is-enough",
        ),
        # 2026-11-29 is a Sunday.
        pytest.param(
            '{weekdays: [sunday, "Tuesday:friday"]}',
            ["2026-11-29T12:00:00", "2026-12-01T00:00:00", "2026-12-04T23:59:59"],
            ["2026-11-28T12:00:00", "2026-11-30T12:00:00"],
            id="weekdays",
        ),
        pytest.param(
            '{days_of_month: ["-3:-1"]}',
            ["2026-11-28T00:00:00", "2026-11-30T00:00:00", "2028-02-29T00:00:00", "2027-02-26T00:00:00"],
            ["2026-11-27T00:00:00", "2028-02-26T00:00:00", "2026-12-01T00:00:00"],
            id="days-from-the-end",
        ),
        pytest.param(
            '{days_of_month: ["30:31", "-31"]}',
            ["2026-11-30T00:00:00", "2026-12-31T00:00:00", "2026-12-01T00:00:00"],
            ["2027-02-28T00:00:00", "2026-11-01T00:00:00"],
            id="days-that-a-month-lacks",
        ),
        pytest.param(
            '{days_of_month: ["1:-1"], months: ["december", "january:2"], years: ["2026:2027"]}',
            ["2026-12-31T00:00:00", "2027-02-01T00:00:00"],
            ["2026-11-30T00:00:00", "2028-01-01T00:00:00"],
            id="all-fields-must-hold",
        ),
        pytest.param(
            '{times: [{start_time: "09:00", end_time: "10:00"}], location: Europe/Berlin}',
            ["2026-11-30T08:30:00", "2026-07-01T07:30:00"],
            ["2026-11-30T09:30:00", "2026-07-01T08:30:00"],
            id="summer-and-winter-time",
        ),
        pytest.param(
            "{weekdays: [monday], location: Pacific/Auckland}",
            ["2026-11-29T12:00:00"],
            ["2026-11-30T12:00:00"],
            id="the-day-is-that-of-the-zone",
        ),
    ],
)
def test_an_interval_holds(text: str, inside: list[str], outside: list[str]) -> None:
    assert [at for at in inside if not holds(text, at)] == []
    assert [at for at in outside if holds(text, at)] == []


GOOD = (
    "{}",
    '{times: [{start_time: "00:00", end_time: "24:00"}]}',
    "{weekdays: [Monday, 'SUNDAY:saturday']}",
    "{days_of_month: ['1', '-1', '1:31', '5:-1', '-31:-1', '1:-27']}",
    "{months: [January, '2:3', 'march:12', may:may]}",
    "{years: ['2026', '2026:2030']}",
    "{location: UTC}",
    "{location: Local}",
    "{location: America/New_York}",
    "{weekdays: []}",
)
BAD = (
    '{times: [{start_time: "9:00", end_time: "10:00"}]}',
    '{times: [{start_time: "10:00", end_time: "09:00"}]}',
    '{times: [{start_time: "10:00", end_time: "10:00"}]}',
    '{times: [{start_time: "10:00"}]}',
    '{times: [{start_time: "23:00", end_time: "24:01"}]}',
    "{weekdays: [friday:monday]}",
    "{weekdays: [mon]}",
    "{weekdays: ['1:5']}",
    "{days_of_month: ['0']}",
    "{days_of_month: ['32']}",
    "{days_of_month: ['-32:-1']}",
    "{days_of_month: ['-5:5']}",
    "{days_of_month: ['5:1']}",
    "{days_of_month: ['1:-28']}",
    "{days_of_month: ['1:2:3']}",
    "{months: [december:january]}",
    "{months: [sometimes]}",
    "{years: ['2027:2026']}",
    "{years: [soon]}",
    "{location: Mars/Olympus}",
    "{location: ../../etc/passwd}",
    "{hours: ['1']}",
)


@pytest.mark.parametrize("text", GOOD + BAD)
def test_alertmanager_takes_and_refuses_the_same(text: str, tmp_path: Path) -> None:
    path = tmp_path / "alertmanager.yml"
    intervals = f"time_intervals: [{{name: x, time_intervals: [{text}]}}]\n"
    path.write_text("route: {receiver: a}\nreceivers: [{name: a}]\n" + intervals)
    checked = subprocess.run([engine("amtool", "newer"), "check-config", path], capture_output=True, check=False)
    assert (read(text) is not None) is (checked.returncode == 0) is (text in GOOD)
