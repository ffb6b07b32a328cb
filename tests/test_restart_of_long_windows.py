"""What rules read over days goes on after a restart: the window is filled from the history."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from monitor.build import Builder
from monitor.clock import VirtualClock
from monitor.config.read import load
from monitor.dispatch.dispatcher import Dispatcher
from monitor.metrics import Metrics
from monitor.model.instant import DAY, HOUR, MINUTE, Instant
from monitor.model.labels import METRIC_NAME, Labels
from monitor.pipeline import Pipeline
from monitor.promql import Engine, Vector, parse
from monitor.state import State
from monitor.storage.db import FILE_NAME
from monitor.storage.snapshot import FILE_NAME as SNAPSHOT
from monitor.storage.window import Window

CONFIG = """\
global: {scrape_interval: 1m}
scrape_configs: [{job_name: none, static_configs: []}]
rule_files: [own.rules.yaml]
storage: {path: state}
"""
RULES = """\
groups:
  - name: own
    rules:
      - {record: "own:level", expr: level}
      - {record: "own:level:sum3d", expr: "sum_over_time(own:level[3d])"}
      - {record: "own:level:count3d", expr: "count_over_time(own:level[3d])"}
      - {record: "own:restarts:changes1h", expr: "changes(began[1h])"}
      - {alert: Busy, expr: "own:level:sum3d > 1e9"}
"""
START: Instant = 1_767_571_200_000


@dataclass
class House:
    """A folder with a configuration, and a clock that goes on from life to life."""

    folder: Path
    clock: VirtualClock = field(default_factory=lambda: VirtualClock(START))

    def __post_init__(self) -> None:
        (self.folder / "monitor.yaml").write_text(CONFIG)
        (self.folder / "own.rules.yaml").write_text(RULES)

    @contextmanager
    def life(self) -> Iterator[tuple[Pipeline, State]]:
        config = load(self.folder / "monitor.yaml")
        metrics = Metrics(CollectorRegistry(), "test")
        builder = Builder(self.clock, Window(), metrics)
        parts = builder.build(config)
        state = State.open(config.storage.path, self.clock, metrics)
        state.history.keep = parts.keep
        dispatcher = Dispatcher(config.route, parts.integrations, log=state.log)
        pipeline = builder.assemble(parts, dispatcher, lambda _: None, state.journal)
        state.restore(pipeline, self.clock.now())
        yield pipeline, state
        state.close()

    def live(self, pipeline: Pipeline, state: State, rounds: int) -> None:
        """Let so many minutes pass, and save now and then; the level is the number of the minute."""
        for left in reversed(range(rounds)):
            at = self.clock.now()
            block = pipeline.window.block("test")
            level, began = (block.column(Labels.of({METRIC_NAME: name})) for name in ("level", "began"))
            block.append(at, (level, began), (float((at - START) // MINUTE), float(at > START + 3 * HOUR)))
            pipeline.round(at)
            if left % 30 == 0:
                state.save_window(pipeline.window, at)
            self.clock.advance(MINUTE)


def asked(pipeline: Pipeline, query: str, at: Instant) -> list[float]:
    value = Engine(pipeline.window).instant(parse(query), at).value
    assert isinstance(value, Vector)
    return [sample for _, sample in value]


def test_a_burn_rate_of_days_goes_on_where_it_was(tmp_path: Path) -> None:
    house = House(tmp_path)
    with house.life() as (pipeline, state):
        house.live(pipeline, state, 4 * 60)
    with house.life() as (pipeline, state):
        house.live(pipeline, state, 5)
        at = house.clock.now() - MINUTE
        # The rule reads what the group has written before it: all but nothing is missing.
        assert asked(pipeline, "own:level:count3d", at) == [4 * 60 + 5]
        assert asked(pipeline, "own:level:sum3d", at) == [sum(range(4 * 60 + 5))]
        # Hours are not in the snapshot either; and nobody marked the raw series.
        assert asked(pipeline, "count_over_time(own:level[1h])", at) == [60]


def test_it_goes_on_without_a_snapshot_too_and_without_a_history_it_begins_anew(tmp_path: Path) -> None:
    house = House(tmp_path)
    with house.life() as (pipeline, state):
        house.live(pipeline, state, 90)
    (tmp_path / "state" / SNAPSHOT).unlink()
    with house.life() as (pipeline, state):
        house.live(pipeline, state, 1)
        # A minute is appended a minute after its end.
        assert asked(pipeline, "own:level:count3d", house.clock.now() - MINUTE) == [90]
    connection = sqlite3.connect(tmp_path / "state" / FILE_NAME)
    connection.execute("DELETE FROM history_head")
    connection.execute("DELETE FROM history_chunk")
    connection.commit()
    connection.close()
    (tmp_path / "state" / SNAPSHOT).unlink(missing_ok=True)
    with house.life() as (pipeline, state):
        house.live(pipeline, state, 1)
        assert asked(pipeline, "own:level:count3d", house.clock.now() - MINUTE) == [1]


def test_raw_series_that_rules_read_over_an_hour_are_remembered(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.clock.at = START + 2 * HOUR + 30 * MINUTE
    with house.life() as (pipeline, state):
        house.live(pipeline, state, 50)
        kept = state.history.reader.labels(parse("began").selectors[0].matchers, START, START + DAY)
        assert kept == [Labels.of({METRIC_NAME: "began"})]


def test_the_clock_moves_what_is_kept_and_the_window_alike(tmp_path: Path) -> None:
    house = House(tmp_path)
    with house.life() as (pipeline, state):
        house.live(pipeline, state, 30)
        house.clock.advance(7 * HOUR)
        pipeline.shift(7 * HOUR)
        state.history.shift(7 * HOUR)
        house.live(pipeline, state, 30)
    with house.life() as (pipeline, state):
        house.live(pipeline, state, 1)
        assert asked(pipeline, "own:level:count3d", house.clock.now() - MINUTE) == [61]


@pytest.mark.parametrize("down", [1, 9, 15, 90], ids=lambda minutes: f"{minutes} minutes")
def test_the_last_minutes_before_the_end_are_kept_however_long_nothing_ran(tmp_path: Path, down: int) -> None:
    house = House(tmp_path)
    with house.life() as (pipeline, state):
        house.live(pipeline, state, 90)
    house.clock.advance(down * MINUTE)
    with house.life() as (pipeline, state):
        house.live(pipeline, state, 10)
        at = house.clock.now() - MINUTE
        assert asked(pipeline, "own:level:count3d", at) == [90 + 10]
        state.history.save(pipeline.window, at + 2 * MINUTE)
        (kept,) = state.history.reader.select(parse("own:level").selectors[0].matchers, START - 1, at)
        assert len(kept.samples[0]) == 90 + 10
