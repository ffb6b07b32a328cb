"""A simulated vLLM: a scenario, played up to the instant that the caller names."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from threading import Lock

from monitor.model.instant import Instant
from monitor.simulator.endpoints import (
    UNAUTHORIZED,
    Answer,
    Question,
    completion,
    guarded,
    no_such_model,
    other,
)
from monitor.simulator.faults import plan
from monitor.simulator.process import Process
from monitor.simulator.request import Request
from monitor.simulator.script import Scenario
from monitor.simulator.traffic import Traffic
from monitor.simulator.world import World

# A Monday morning, 2026-01-05 09:00 UTC: scenarios that nobody starts elsewhere start here.
DEFAULT_START: Instant = 1_767_603_600_000

# source: recorded; vLLM answers so whatever the scraper accepts.
PAGE_TYPE = "text/plain; version=1.0.0; charset=utf-8"


class RefusedError(Exception):
    """Nobody listens on the port."""


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

    @property
    def in_flight(self) -> int:
        """How many requests the process has now."""
        with self._lock:
            return self._world.process.in_flight if self._world.process else 0

    def page(self) -> str:
        """Return the body of /metrics. Raises RefusedError."""
        return self.answer("/metrics").body

    def health(self) -> int:
        """Return the status of /health. Raises RefusedError."""
        return self.answer("/health").status

    def answer(self, path: str, key: str = "") -> Answer:
        """Return what a GET of `path` by somebody who shows `key` is answered now. Raises RefusedError."""
        with self._lock:
            process = self._listening_process()
            if path == "/metrics":
                return self._metrics(process)
            bad = self._world.bad_answers.get(path)
            if bad is not None:
                return Answer(bad.status, bad.body, bad.content_type, bad.delay, bad.drip)
            if guarded(path, key, process.server.api_key):
                return UNAUTHORIZED
            return other(path, process, float(self.now))

    def complete(self, question: Question, answered: Callable[[Answer], None], key: str = "") -> None:
        """
        Ask for a completion; `answered` is called with its end, at once or while the simulator advances.

        Status 0 is a connection that breaks. Raises RefusedError.
        """
        with self._lock:
            server = self._listening_process().server
            if guarded("/v1/completions", key, server.api_key):
                answered(UNAUTHORIZED)
                return
            if question.model != server.model_name:
                answered(no_such_model(question.model))
                return
            end = question.prompt + question.max_tokens
            request = Request(float(self.now), question.prompt, max_tokens=question.max_tokens, end=end)
            self._world.send(request, lambda _, status: answered(completion(question, status)), float(self.now), None)

    def _listening_process(self) -> Process:
        process = self._world.process
        if process is None or not self._world.listening:
            raise RefusedError("connection refused")
        return process

    def _metrics(self, process: Process) -> Answer:
        world = self._world
        body = process.render(float(self.now))
        bad, slow = world.bad_page, world.slow_page
        if bad:
            # Without a text of its own: nearly the whole page, and half a line.
            body = body[: len(body) * 9 // 10].rpartition(" ")[0] if bad.body is None else bad.body
        answer = Answer(bad.status if bad else 200, body, PAGE_TYPE)
        return replace(answer, delay=slow.delay, drip=slow.drip) if slow else answer


def _stream(scenario: Scenario, name: str) -> Random:
    return Random(f"{scenario.seed}/{name}")  # noqa: S311 - repeatable on purpose
