"""What a server was at its last starts: on a time line of looks, over a restart of the daemon, beside the window."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from monitor.changes import EngineChanges
from monitor.model.instant import DAY, HOUR, MINUTE, SECOND, Instant
from monitor.model.labels import EMPTY, Labels
from monitor.model.target import Target
from monitor.notify.readings import Change
from monitor.probe.readings import NOTHING, Model, Pool, Readings
from monitor.promql import Engine
from monitor.starts import FILE_NAME, Starts
from monitor.storage.window import Window

PLACE = {"job": "vllm", "instance": "a:1"}
TARGET = Target("vllm", "http://a:1/metrics", Labels.of(PLACE), EMPTY)
ALERT = Labels.of({**PLACE, "alertname": "VLLMOverloaded"})
FELL = Labels.of({**PLACE, "alertname": "VLLMMaxConcurrencyFell"})
NOW: Instant = 100 * DAY
OLD = Readings(version="0.25.1", models=(Model("llama", 16_384),), pools=(Pool("0", 444_006, 27.1),))
NEW = replace(OLD, version="0.26.0", pools=(Pool("0", 126_157, 7.7),))
UPGRADE = "max concurrency 27.1 → 7.7 (-72 %), vLLM 0.25.1 → 0.26.0"


@dataclass
class Server:
    """A prober that has found `readings`."""

    readings: Readings
    config: Labels = EMPTY
    target: Target = TARGET

    def known(self, at: Instant) -> tuple[Readings, Labels]:
        del at
        return self.readings, self.config


def lived(*looks: Readings, starts: Starts | None = None, begin: Instant = NOW) -> Starts:
    """Return what is known after these looks, five seconds apart."""
    starts = starts or Starts()
    for number, readings in enumerate(looks):
        starts.step([Server(readings)], begin + number * 5 * SECOND)
    return starts


MIXED = replace(NEW, version=OLD.version)
UNASKED = replace(NEW, version="", models=())


@pytest.mark.parametrize(
    ("looks", "at"),
    [
        pytest.param((OLD, NEW, NEW), 1, id="at-once"),
        pytest.param((OLD, NOTHING, NOTHING, NEW, NEW), 3, id="after-it-was-away"),
        pytest.param((OLD, MIXED, NEW, NEW), 2, id="the-page-is-new-before-the-answers"),
        pytest.param((OLD, OLD, NEW, NEW, NEW, NEW), 2, id="once"),
    ],
)
def test_a_start_with_another_capacity_is_one_change(looks: tuple[Readings, ...], at: int) -> None:
    assert lived(*looks).before(ALERT, NOW + MINUTE) == [Change(NOW + at * 5 * SECOND, UPGRADE)]


@pytest.mark.parametrize(
    "looks",
    [
        pytest.param((OLD, OLD, OLD), id="nothing-happens"),
        pytest.param((OLD, NEW, OLD, OLD), id="seen-once"),
        pytest.param((OLD, UNASKED), id="not-yet"),
        pytest.param((OLD, NOTHING, OLD, OLD), id="the-same-again"),
        pytest.param((NOTHING, NEW, NEW), id="the-first-that-is-known"),
        pytest.param((OLD, replace(OLD, pools=(Pool("0", 443_990, 27.099),)), OLD, OLD), id="a-block-less"),
    ],
)
def test_nothing_else_is_a_change(looks: tuple[Readings, ...]) -> None:
    assert lived(*looks).before(ALERT, NOW + MINUTE) == []


def test_what_drifts_is_compared_with_where_it_came_from() -> None:
    drifting = [replace(OLD, pools=(Pool("0", None, 27.1 * (1 - step / 100)),)) for step in (0, 1.5, 3, 4)]
    (change,) = lived(OLD, *(one for each in drifting for one in (each, each))).before(ALERT, NOW + MINUTE)
    assert change.what == "max concurrency 27.1 → 26.3 (-3 %)"


def test_an_alert_on_the_capacity_looks_back_a_day_and_others_a_quarter_of_an_hour() -> None:
    starts = lived(OLD, NEW, NEW)
    assert starts.before(ALERT, NOW + 20 * MINUTE) == []
    assert [one.what for one in starts.before(FELL, NOW + 20 * HOUR)] == [UPGRADE]
    assert starts.before(FELL, NOW + 2 * DAY) == []
    # What came after the incident is not why.
    assert starts.before(FELL, NOW) == []
    assert starts.before(Labels.of(job="vllm", instance="b:1"), NOW + MINUTE) == []


def test_a_change_while_the_daemon_is_away_is_told_by_its_next_life(tmp_path: Path) -> None:
    first = Starts()
    first.begin(tmp_path)
    lived(OLD, starts=first)
    second = Starts()
    second.begin(tmp_path)
    lived(NEW, NEW, starts=second, begin=NOW + HOUR)
    assert second.before(ALERT, NOW + HOUR + MINUTE) == [Change(NOW + HOUR, UPGRADE)]
    third = Starts()
    third.begin(tmp_path)
    assert third.before(ALERT, NOW + HOUR + MINUTE) == [Change(NOW + HOUR, UPGRADE)]


@pytest.mark.parametrize("written", ["", "[]", "{", '{"servers": [{"job": 1}]}', '{"servers": 3}', "\x00"])
def test_a_file_that_is_none_is_as_good_as_no_file(tmp_path: Path, written: str) -> None:
    (tmp_path / FILE_NAME).write_text(written)
    starts = Starts()
    starts.begin(tmp_path)
    assert lived(OLD, NEW, NEW, starts=starts).before(ALERT, NOW + MINUTE)


def test_a_folder_that_cannot_be_written_costs_nothing_but_the_file(tmp_path: Path) -> None:
    starts = Starts()
    starts.begin(tmp_path / "nowhere")
    assert lived(OLD, NEW, NEW, starts=starts).before(ALERT, NOW + MINUTE)
    (tmp_path / "nowhere").mkdir()
    lived(NEW, starts=starts)
    assert (tmp_path / "nowhere" / FILE_NAME).is_file()


def test_the_file_is_written_when_something_is_another_and_not_at_every_look(tmp_path: Path) -> None:
    starts = Starts()
    starts.begin(tmp_path)
    lived(OLD, starts=starts)
    (tmp_path / FILE_NAME).unlink()
    lived(OLD, NOTHING, OLD, NEW, OLD, starts=starts)
    assert not (tmp_path / FILE_NAME).exists()


def test_changes_move_with_the_clock() -> None:
    starts = lived(OLD, NEW, NEW)
    starts.shift(HOUR)
    assert starts.before(ALERT, NOW + HOUR + MINUTE) == [Change(NOW + HOUR + 5 * SECOND, UPGRADE)]


def test_so_does_what_was_seen_once_when_the_clock_is_set() -> None:
    starts = lived(OLD, NEW)
    starts.shift(HOUR)
    lived(NEW, starts=starts, begin=NOW + HOUR + 10 * SECOND)
    assert starts.before(ALERT, NOW + HOUR + MINUTE) == [Change(NOW + HOUR + 5 * SECOND, UPGRADE)]


def test_what_the_window_shows_of_the_same_start_is_not_told_again() -> None:
    held = Window()
    for number, (version, begin) in enumerate((("0.25.1", NOW - 20 * MINUTE), ("0.26.0", NOW + 10 * SECOND))):
        block = held.block(str(number))
        series = Labels.of({"__name__": "vllm_monitor_target_version_info", **PLACE, "version": version})
        for at in range(begin, begin + 20 * MINUTE, 15 * SECOND):
            block.append(at, [block.column(series)], [1.0])
    window = EngineChanges(Engine(held))
    assert [one.what for one in window.before(ALERT, NOW + 2 * MINUTE)] == ["version 0.25.1 → 0.26.0"]
    both = EngineChanges(Engine(held), lived(OLD, NEW, NEW))
    assert [one.what for one in both.before(ALERT, NOW + 2 * MINUTE)] == [UPGRADE]
