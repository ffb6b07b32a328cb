"""What changed at a server before it was in trouble, from the window."""

import pytest

from monitor.changes import REACH, EngineChanges
from monitor.model.instant import HOUR, MINUTE, SECOND, Instant
from monitor.model.labels import EMPTY, Labels
from monitor.notify.readings import Change
from monitor.promql import Engine, Limits
from monitor.storage.window import Window

PLACE = {"job": "vllm", "instance": "a:1"}
ALERT = Labels.of({**PLACE, "alertname": "Any", "model_name": "llama"})
NOW: Instant = 10 * HOUR
CHANGE = NOW - 3 * MINUTE
VERSION, RUNNING = "vllm_monitor_target_version_info", "vllm_engine:requests_running"
CONFIG, STARTED = "vllm:cache_config_info", "process_start_time_seconds"

Row = tuple[str, dict[str, str], float]


def window(*rows: tuple[Row, Row], change: Instant = CHANGE) -> Window:
    """Return a window in which each row is another one from `change` on, as a server that restarts has it."""
    held = Window()
    for number, pair in enumerate(rows):
        block = held.block((str(number),))
        columns = [block.column(Labels.of({"__name__": name, **PLACE, **labels})) for name, labels, _ in pair]
        for at in range(NOW - HOUR, NOW + 1, 15 * SECOND):
            now = at >= change
            block.append(at, [columns[now]], [pair[now][2]])
    return held


def before(*rows: tuple[Row, Row], change: Instant = CHANGE, alert: Labels = ALERT) -> list[Change]:
    return list(EngineChanges(Engine(window(*rows, change=change))).before(alert, NOW))


def info(name: str, before: dict[str, str], after: dict[str, str]) -> tuple[Row, Row]:
    return (name, before, 1.0), (name, after, 1.0)


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        (info(VERSION, {"version": "0.10.0"}, {"version": "0.11.0"}), "version 0.10.0 → 0.11.0"),
        (info(RUNNING, {"model_name": "llama"}, {"model_name": "qwen"}), "model llama → qwen"),
        (
            info(CONFIG, {"block_size": "16", "kv": "a"}, {"block_size": "32", "kv": "a", "engine": "0"}),
            "block_size 16 → 32",
        ),
        (((STARTED, {}, 1.0), (STARTED, {}, 2.0)), "restarted"),
    ],
)
def test_a_change_three_minutes_before_is_told_in_words(rows: tuple[Row, Row], what: str) -> None:
    assert before(rows) == [Change(CHANGE, what)]


def test_of_many_settings_three_are_shown() -> None:
    old, new = (dict.fromkeys("abcde", value) for value in "12")
    (change,) = before(info(CONFIG, old, new))
    assert change.what == "a 1 → 2, b 1 → 2, c 1 → 2, +2 more"


def test_what_is_the_same_old_or_another_servers_is_no_change() -> None:
    upgrade = info(VERSION, {"version": "0.10.0"}, {"version": "0.11.0"})
    assert before(info(VERSION, {"version": "0.10.0"}, {"version": "0.10.0"})) == []
    assert before(upgrade, change=NOW - REACH - 6 * MINUTE) == []
    assert before(upgrade, alert=Labels.of({**PLACE, "instance": "b:1"})) == []
    assert before(upgrade, alert=EMPTY) == []


def test_a_model_that_is_served_beside_another_one_replaces_none() -> None:
    held = window(info(RUNNING, {"model_name": "llama"}, {"model_name": "llama"}))
    beside = held.block(("beside",))
    column = beside.column(Labels.of({"__name__": RUNNING, **PLACE, "model_name": "qwen"}))
    for at in range(CHANGE, NOW + 1, 15 * SECOND):
        beside.append(at, [column], [1.0])
    assert EngineChanges(Engine(held)).before(ALERT, NOW) == []


def test_a_look_that_costs_too_much_says_nothing() -> None:
    held = window(info(VERSION, {"version": "0.10.0"}, {"version": "0.11.0"}))
    assert EngineChanges(Engine(held, limits=Limits(samples=3))).before(ALERT, NOW) == []
