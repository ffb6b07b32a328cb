"""What is drawn, and that a picture comes of it."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest

from monitor.charts.chart import MOST_BYTES
from monitor.charts.child import UNHURRIED, Child
from monitor.charts.sheet import KEY, decoded_sheet, encoded_sheet
from monitor.model.instant import DAY, HOUR, MINUTE
from monitor.report.gather import Gathered, Model, gather
from monitor.report.period import Period
from monitor.report.picture import sheet_of
from monitor.report.questions import Question
from tests.report.weeks import MONDAY, RUSH, WEEK, FakeServer

FOUND = gather(FakeServer(), WEEK)
SHEET = sheet_of(FOUND, "a week", "Europe/Berlin")


def test_each_point_is_the_highest_of_its_time() -> None:
    assert SHEET is not None
    cache = SHEET.panels[0]
    assert (cache.name, cache.mark) == ("KV cache, highest of the fullest engine (%)", 95)
    values = dict(zip(SHEET.times, cache.curves[0].values, strict=True))
    assert max(value for value in values.values() if value is not None) == 97
    (peak,) = (at for at, value in values.items() if value == 97)
    assert peak <= RUSH.start < RUSH.stop <= peak + 2 * HOUR
    assert {after - before for before, after in pairwise(SHEET.times)} == {84 * MINUTE}


def test_a_minute_that_was_not_seen_is_a_gap() -> None:
    track = {MONDAY + MINUTE: 0.5, MONDAY + 3 * MINUTE: 0.7}
    found = Gathered(Period(MONDAY, MONDAY + 3 * MINUTE), {Question.KV_PEAK: {Model("vllm", "llama"): track}})
    sheet = sheet_of(found, "", "UTC")
    assert sheet is not None
    assert sheet.panels[0].curves[0].values == (50, None, 70)


def test_the_longest_period_of_as_many_models_as_are_drawn_fits_through_the_pipe() -> None:
    period = Period(WEEK.end - 35 * DAY, WEEK.end)
    values = {period.start + minute * MINUTE: 1234.567891 for minute in range(1, 35 * 24 * 60 + 1, 20)}
    models = {Model("vllm", f"model {number}"): values for number in range(9)}
    sheet = sheet_of(Gathered(period, dict.fromkeys(Question, models)), "", "UTC")
    assert sheet is not None
    assert len(encoded_sheet(sheet)) < MOST_BYTES
    assert decoded_sheet(encoded_sheet(sheet)) == sheet


def test_the_child_draws_it() -> None:
    assert SHEET is not None
    odd = replace(SHEET, title="$\\frac{week}$")
    assert Child(timeout=UNHURRIED).draw(odd).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "wrong",
    [
        {"times": [1]},
        {"panels": []},
        {"zone": "Nowhere/Land"},
        {"panels": [{"name": "x", "mark": None, "curves": [{"name": "y", "values": [1.0]}]}]},
        {"panels": 3},
    ],
)
def test_what_is_no_sheet_is_refused(wrong: dict[str, object]) -> None:
    curve = {"name": "y", "values": [1.0, None]}
    good = {"title": "", "times": [1, 2], "zone": "UTC", "panels": [{"name": "x", "mark": 1, "curves": [curve]}]}
    assert decoded_sheet(json.dumps({KEY: good}).encode()) is not None
    with pytest.raises(ValueError, match=r"a sheet|a curve"):
        decoded_sheet(json.dumps({KEY: good | wrong}).encode())
