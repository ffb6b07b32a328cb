"""What a story is told of: a simulated server, a recorded one, or a page that is not vLLM's."""

import gzip
import json
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol, Self

from monitor.model.instant import Duration, Instant, from_seconds
from monitor.probe.client import Reply as Told
from monitor.probe.errors import ProbeError
from monitor.scrape.errors import Reason, ScrapeError
from monitor.scrape.target import Answer
from monitor.simulator.script import Scenario
from monitor.simulator.simulator import RefusedError, Simulator

RECORDINGS = Path(__file__).parents[1] / "data" / "recordings"
TYPE = "text/plain; version=1.0.0; charset=utf-8"


@dataclass(frozen=True)
class Reply:
    """What a GET was answered: `status` None is no answer at all; `delay` in milliseconds before it came."""

    status: int | None
    body: str = ""
    delay: Duration = 0


class Life(Protocol):
    """A host from its start on; asked for instants that only grow."""

    def get(self, path: str, at: Instant) -> Reply: ...


class Host(Protocol):
    """Something to scrape; `name` is its host:port, `probed` whether it has the other endpoints of vLLM."""

    @property
    def name(self) -> str: ...

    @property
    def job(self) -> str: ...

    @property
    def probed(self) -> bool: ...

    def begin(self, start: Instant) -> Life: ...


@dataclass(frozen=True)
class Simulated:
    """A server of the simulator."""

    scenario: Scenario
    name: str = "vllm-0:8000"
    job: str = "vllm"
    probed: bool = True

    def begin(self, start: Instant) -> Life:
        return _SimulatedLife(Simulator(self.scenario, start))


@dataclass
class _SimulatedLife:
    simulator: Simulator

    def get(self, path: str, at: Instant) -> Reply:
        self.simulator.advance(at)
        try:
            answer = self.simulator.answer(path)
        except RefusedError:
            return Reply(None)
        return Reply(answer.status, answer.body, answer.delay)


@dataclass(frozen=True)
class Recorded:
    """A real server, played back from a recording; its time begins with the story."""

    recording: str
    name: str = "vllm-0:8000"
    job: str = "vllm"
    probed: bool = True

    def begin(self, start: Instant) -> Life:
        return _RecordedLife.load(self.recording, start)


@dataclass
class _RecordedLife:
    start: Instant
    times: list[Instant] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def load(cls, name: str, start: Instant) -> Self:
        life = cls(start)
        with gzip.open(RECORDINGS / f"{name}.jsonl.gz", "rt") as file:
            life.lines = [json.loads(line) for line in file]
        first = from_seconds(life.lines[0]["time"])
        life.times = [from_seconds(line["time"]) - first + start for line in life.lines]
        return life

    def get(self, path: str, at: Instant) -> Reply:
        line = self.lines[max(bisect_right(self.times, at) - 1, 0)]
        if path == "/metrics":
            return Reply(line["status"], line["body"] or "", int(line["latency_ms"] or 0))
        if path == "/health":
            return Reply(line.get("health", line["status"]))
        if path == "/load" and "load" in line:
            return Reply(HTTPStatus.OK, json.dumps({"server_load": line["load"]}))
        return Reply(HTTPStatus.NOT_FOUND)


@dataclass(frozen=True)
class Written:
    """A page that a function writes from the milliseconds since the start: an exporter, or a server on a sketch."""

    page: Callable[[Duration], str]
    name: str
    job: str
    probed: bool = False
    others: Mapping[str, Callable[[Duration], Reply]] = field(default_factory=dict)

    def begin(self, start: Instant) -> Life:
        return _WrittenLife(self, start)


@dataclass
class _WrittenLife:
    host: Written
    start: Instant

    def get(self, path: str, at: Instant) -> Reply:
        if path == "/metrics":
            return Reply(HTTPStatus.OK, self.host.page(at - self.start))
        other = self.host.others.get(path)
        return other(at - self.start) if other else Reply(HTTPStatus.NOT_FOUND)


@dataclass
class Fetching:
    """
    Stands between a host and the loop that scrapes it: no socket, no waiting.

    `seconds` is the stopwatch of the loop: it moves by what the host takes to answer.
    """

    life: Life
    now: Callable[[], Instant]
    timeout: Duration
    passed: float = 0.0

    def __call__(self) -> Answer:
        """Return the page. Raises ScrapeError."""
        reply = self.life.get("/metrics", self.now())
        self.passed += min(reply.delay, self.timeout) / 1000
        if reply.status is None:
            raise ScrapeError("connection refused", reason=Reason.REFUSED)
        if reply.delay >= self.timeout:
            raise ScrapeError("no answer in time", reason=Reason.TIMEOUT)
        if reply.status != HTTPStatus.OK:
            raise ScrapeError(f"HTTP status {reply.status}", reason=Reason.STATUS)
        return Answer(reply.body.encode(), TYPE)

    def seconds(self) -> float:
        return self.passed


@dataclass(frozen=True)
class Asking:
    """The same for probes; to them a host is never this machine."""

    life: Life
    now: Callable[[], Instant]
    timeout: Duration
    is_loopback: bool = False

    def get(self, path: str) -> Told:
        reply = self.life.get(path, self.now())
        if reply.status is None:
            raise ProbeError("connection refused", reason=Reason.REFUSED)
        if reply.delay >= self.timeout:
            raise ProbeError("no answer in time", reason=Reason.TIMEOUT)
        return Told(reply.status, reply.body.encode(), "application/json")

    def post(self, path: str, body: bytes) -> Told:
        raise ProbeError(f"nobody asked for {path} ({len(body)} bytes)", reason=Reason.INTERNAL)

    def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True)
class Edited:
    """A host whose page is changed on the way: `edit` is given the time since the start and the page."""

    host: Host
    edit: Callable[[Duration, str], str]

    @property
    def name(self) -> str:
        return self.host.name

    @property
    def job(self) -> str:
        return self.host.job

    @property
    def probed(self) -> bool:
        return self.host.probed

    def begin(self, start: Instant) -> Life:
        return _EditedLife(self.host.begin(start), self.edit, start)


@dataclass
class _EditedLife:
    life: Life
    edit: Callable[[Duration, str], str]
    start: Instant

    def get(self, path: str, at: Instant) -> Reply:
        reply = self.life.get(path, at)
        return replace(reply, body=self.edit(at - self.start, reply.body)) if path == "/metrics" else reply
