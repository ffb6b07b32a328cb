"""A simulated vLLM: a scenario, played up to the instant that the caller names."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from threading import Lock

from monitor.model.instant import Duration, Instant
from monitor.simulator.faults import plan
from monitor.simulator.process import Process
from monitor.simulator.script import Scenario
from monitor.simulator.traffic import Traffic
from monitor.simulator.world import World

# A Monday morning, 2026-01-05 09:00 UTC: scenarios that nobody starts elsewhere start here.
DEFAULT_START: Instant = 1_767_603_600_000

# source: recorded; vLLM answers so whatever the scraper accepts.
PAGE_TYPE = "text/plain; version=1.0.0; charset=utf-8"
_JSON = "application/json"
_UNAVAILABLE = 503


class RefusedError(Exception):
    """Nobody listens on the port."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer. `delay` and `drip` are real time: before the first byte, and between pieces of the body."""

    status: int = 200
    body: str = ""
    content_type: str = _JSON
    delay: Duration = 0
    drip: Duration = 0


class Simulator:
    """
    Plays `scenario` from `start` on; the same scenario gives the same pages.

    One thread advances it, any may read it.
    """

    def __init__(self, scenario: Scenario, start: Instant = DEFAULT_START) -> None:
        self.scenario = scenario
        self.start = start
        self.end: Instant = start + scenario.duration
        self.now: Instant = start
        self._lock = Lock()
        self._watch: Callable[[bool], None] = lambda _listening: None
        # Two streams, so that an engine fault does not change who asks what.
        self._world = World(scenario.server, float(start), _stream(scenario, "engine"))
        traffic = Traffic(self._world.agenda, _stream(scenario, "traffic"), self._world.send)
        # Faults first: what breaks at the very instant a phase begins is broken for it.
        for fault in scenario.faults:
            plan(fault, self._world, float(start))
        for phase in scenario.phases:
            traffic.plan(phase, float(start))
        self.advance(start)

    def advance(self, to: Instant) -> None:
        """Live through everything up to `to`. An earlier instant than the last changes nothing."""
        with self._lock:
            self._world.advance(float(to))
            self.now = max(self.now, to)
            listening = self._world.listening
        self._watch(listening)

    def watch(self, changed: Callable[[bool], None]) -> None:
        """Have `changed(listening)` called after each advance, in its thread."""
        self._watch = changed
        changed(self.listening)

    @property
    def listening(self) -> bool:
        """Whether connections to the port are accepted now."""
        with self._lock:
            return self._world.listening

    def page(self) -> str:
        """Return the body of /metrics. Raises RefusedError."""
        return self.answer("/metrics").body

    def health(self) -> int:
        """Return the status of /health. Raises RefusedError."""
        return self.answer("/health").status

    def answer(self, path: str) -> Answer:
        """Return what a GET of `path` is answered now. Raises RefusedError."""
        with self._lock:
            process = self._world.process
            if process is None or not self._world.listening:
                raise RefusedError("connection refused")
            if path == "/metrics":
                return self._metrics(process)
            return _other(path, process)

    def _metrics(self, process: Process) -> Answer:
        world = self._world
        body = process.render(float(self.now))
        bad, slow = world.bad_page, world.slow_page
        if bad:
            # Without a text of its own: nearly the whole page, and half a line.
            body = body[: len(body) * 9 // 10].rpartition(" ")[0] if bad.body is None else bad.body
        answer = Answer(bad.status if bad else 200, body, PAGE_TYPE)
        return replace(answer, delay=slow.delay, drip=slow.drip) if slow else answer


def _other(path: str, process: Process) -> Answer:
    server = process.server
    if path == "/health":
        # source: V0's /health stays 200 while its engine is dead.
        return Answer(_UNAVAILABLE if process.dead and server.v1 else 200)
    if path == "/version":
        return Answer(body=json.dumps({"version": server.version}))
    if path == "/load":
        return Answer(body=json.dumps({"server_load": process.in_flight if server.enable_server_load_tracking else 0}))
    if path == "/v1/models":
        model = {"id": server.model_name, "object": "model", "owned_by": "vllm", "max_model_len": server.max_model_len}
        return Answer(body=json.dumps({"object": "list", "data": [model]}))
    if path == "/ping":
        return Answer()
    return Answer(404, json.dumps({"detail": "Not Found"}))


def _stream(scenario: Scenario, name: str) -> Random:
    return Random(f"{scenario.seed}/{name}")  # noqa: S311 - repeatable on purpose
