"""A log that is followed: it grows, is cut, is renamed and begun anew, as `tail -F` follows it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from monitor.capacity.startup import Fact, Startup
from monitor.commands.startuplog import followed

Step = Callable[[Path], object]
VERSION = "INFO 11-30 03:00:00 [api_server.py:1] vLLM API server version 0.9.0\n"
CACHE = "Available KV cache memory: 1.00 GiB\n"
READY = "Application startup complete.\n"


def write(text: str, mode: str = "a") -> Step:
    def step(log: Path) -> None:
        with log.open(mode) as file:
            file.write(text)

    return step


def rotate(text: str) -> Step:
    def step(log: Path) -> None:
        # What is written before the writer notices still belongs to the old file.
        log.rename(log.with_suffix(".1"))
        write("late line of the old file\n")(log.with_suffix(".1"))
        log.write_text(text)

    return step


def replace(text: str) -> Step:
    def step(log: Path) -> None:
        new = log.with_suffix(".new")
        new.write_text(text)
        new.rename(log)

    return step


def follow(log: Path, *steps: Step) -> Startup:
    """Do the next step whenever something new was read, and return what the log says when nothing is left to do."""
    todo = list(steps)
    log.touch()
    for startup in followed(str(log), 120):
        if not todo and startup.ready:
            return startup
        if todo:
            todo.pop(0)(log)
    raise AssertionError(todo)


@pytest.mark.parametrize(
    ("steps", "version", "gib", "lines"),
    [
        pytest.param([write(VERSION), write(CACHE), write(READY)], "0.9.0", 1.0, 3, id="grows"),
        pytest.param([write(VERSION), rotate(CACHE), write(READY)], "0.9.0", 1.0, 4, id="is renamed by logrotate"),
        pytest.param([write(VERSION), replace(CACHE), write(READY)], "0.9.0", 1.0, 3, id="another takes its place"),
        pytest.param([write(VERSION + CACHE), write(READY, "w")], "", None, 1, id="is cut by another start"),
        pytest.param([write(VERSION), write(READY, "w")], "", None, 1, id="is cut, and as long again"),
    ],
)
def test_a_log_is_followed_by_its_name(
    tmp_path: Path, steps: list[Step], version: str, gib: float | None, lines: int
) -> None:
    last = follow(tmp_path / "vllm.log", *steps)
    assert last.ready
    assert (last.text(Fact.VERSION), last.number(Fact.KV_GIB), last.lines) == (version, gib, lines)


def test_half_a_character_is_no_cut(tmp_path: Path) -> None:
    log = tmp_path / "vllm.log"
    banner = "█  version 0.32.0\n".encode()

    def half(log: Path) -> None:
        log.write_bytes(VERSION.encode() + banner[:1])

    def rest(log: Path) -> None:
        log.write_bytes(VERSION.encode() + banner + READY.encode())

    last = follow(log, half, rest)
    assert (last.text(Fact.VERSION), last.lines) == ("0.32.0", 3)


def test_a_name_that_goes_away_for_a_while_is_waited_for(tmp_path: Path) -> None:
    log = tmp_path / "vllm.log"
    log.write_text(VERSION)
    seen = []
    for startup in followed(str(log), 1):
        seen.append(startup.text(Fact.VERSION))
        log.rename(tmp_path / "vllm.log.1")
    assert seen == ["0.9.0"]
