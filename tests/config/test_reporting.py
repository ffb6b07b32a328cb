"""The section `report`: when, and where to."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from apscheduler.triggers.cron import CronTrigger
from hypothesis import given
from hypothesis import strategies as st

from monitor.config.read import load
from monitor.config.reporting import cron
from monitor.yamldoc.mistake import DocumentError

TOP = """\
scrape_configs: [{job_name: vllm, static_configs: [{targets: ["a:1"]}]}]
route: {receiver: oncall}
receivers:
  - {name: oncall, slack_configs: [{channel: C1, bot_token: xoxb-1}]}
  - {name: printed, console_configs: [{}]}
"""


@pytest.mark.parametrize(
    "written", ["0 9 * * mon", "*/15 8-18 1,15 1-6 MON-fri", "0 0 * * *", "30 6 * * sat,sun", "0 0 29 2 *"]
)
def test_a_schedule_of_cron_is_taken(written: str) -> None:
    assert cron(written) == written.lower()


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("0 9 * *", "is no schedule"),
        ("60 9 * * mon", "is no minute: 0 to 59"),
        ("0 9 * * 1", "write mon, tue, wed"),
        ("0 9 * jan mon", "is no month: 1 to 12"),
        ("0 18-9 * * *", "ends before it begins"),
        ("0 9-10-11 * * *", "is no hour"),
        ("*/0 9 * * *", "is no minute"),
        ("@weekly", "is no schedule"),
        ("*/60 9 * * mon", "a step of 60 leads beyond 59"),
        ("0 9 1-5/5 * *", "a step of 5 leads beyond 5"),
        ("0 9 * 5/8 *", "a step of 8 leads beyond 12"),
        ("0 9 * * mon-fri/2", "a step goes with"),
        ("0 9 30 2 *", "never comes"),
        ("0 9 31 2,4,6-9/3 *", "never comes"),
    ],
)
def test_what_is_no_schedule_is_refused(written: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        cron(written)


_PARTS = st.sampled_from(
    (
        *("*", "0", "1", "5", "12", "30", "31", "59", "1,31", "1-5", "0-59", "mon", "sun-tue"),
        *("*/2", "*/7", "*/99", "5/3", "5/99", "1-5/2", "1-5/9", "mon/2"),
    )
)


@given(st.tuples(_PARTS, _PARTS, _PARTS, _PARTS, _PARTS | st.just("*")))
def test_what_is_taken_is_a_schedule_to_who_keeps_it_and_comes_some_day(fields: tuple[str, ...]) -> None:
    try:
        written = cron(" ".join(fields))
    except ValueError:
        return
    assert CronTrigger.from_crontab(written, UTC).get_next_fire_time(None, datetime(2026, 11, 30, tzinfo=UTC))


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("{timezone: Europe/Berlin}", 'report: "schedule" must be set'),
        ('{schedule: "0 9 * * mon", timezone: Nowhere/Land}', "is no time zone"),
        ('{schedule: "0 9 * * mon", receiver: oncal}', 'did you mean "oncall"?'),
        ('{schedule: "0 9 * * mon", receiver: printed}', 'receiver "printed" has no slack_configs'),
        ('{schedule: "0 9 * * mon", input_limit: 0}', "input_limit must be above zero"),
    ],
)
def test_what_makes_no_sense_is_told_with_its_place(tmp_path: Path, section: str, expected: str) -> None:
    path = tmp_path / "monitor.yaml"
    path.write_text(f"{TOP}report: {section}\n")
    with pytest.raises(DocumentError) as caught:
        load(path)
    (mistake,) = caught.value.mistakes
    assert expected in str(mistake)
    assert str(mistake).startswith(f"{path}:6:")


def test_the_receiver_may_be_left_to_the_route(tmp_path: Path) -> None:
    path = tmp_path / "monitor.yaml"
    path.write_text(f'{TOP}report: {{schedule: "0 9 * * MON", timezone: Europe/Berlin}}\n')
    found = load(path).report
    assert found is not None
    assert (found.schedule, found.receiver, found.timezone, found.input_limit) == (
        "0 9 * * mon",
        "",
        "Europe/Berlin",
        15_000,
    )
