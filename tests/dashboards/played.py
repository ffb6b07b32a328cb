"""
A daemon that has lived through what dashboards are drawn of: some hours of three servers, and a recorded overload.

One server is simulated until it is restarted; from then on it is the real vLLM of the recording. The others stay
simulated: one has a healthy day, one runs two data-parallel ranks of another version, with speculative decoding.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from monitor.clock import VirtualClock
from monitor.model.instant import HOUR, MINUTE, SECOND, Duration, Instant
from monitor.shipped import shipped_rules
from monitor.simulator.scenarios import HEALTHY_BURSTY, OVERLOAD
from monitor.simulator.script import Lengths, Phase, Scenario, Server
from tests.incidents.hosts import Host, Life, Recorded, Reply, Simulated
from tests.incidents.play import Stage
from tests.incidents.story import Story, Tell
from tests.web.serving import Served, StandIn, serve

RECORDING = "vllm-0.32.0-overload-1s"
MODEL = "tiny-llama"
PAST: Duration = 3 * HOUR
# Near the end of the recorded overload, which begins 112 s into the recording and ends 100 s later: it is told by then.
LATE: Duration = 215 * SECOND
# The recording plays at about the time that it was made: its pages say since when the process runs.
RECORDED_AT: Instant = 1_796_006_984_719
BEGIN: Instant = (RECORDED_AT - PAST) // MINUTE * MINUTE
END: Instant = BEGIN + PAST + LATE
# Rates of a minute want two scrapes in it; what the pictures are about is seen as closely as a daemon sees it.
SHORT, INTERVAL = 20 * MINUTE, 15 * SECOND
SELDOM, OFTEN = 30 * SECOND, 5 * SECOND
CLOSELY: Duration = 30 * MINUTE


@dataclass(frozen=True)
class Followed:
    """A server whose pages are those of another one from `at` on; the rest it answers itself."""

    first: Host
    then: Host
    at: Duration
    job: str = "vllm"
    probed: bool = True

    @property
    def name(self) -> str:
        return self.first.name

    def begin(self, start: Instant) -> Life:
        return _FollowedLife(self.first.begin(start), self.then.begin(start + self.at), start + self.at)


@dataclass(frozen=True)
class _FollowedLife:
    first: Life
    then: Life
    at: Instant

    def get(self, path: str, at: Instant) -> Reply:
        own = self.first.get(path, at)
        return self.then.get(path, at) if at >= self.at and path in ("/metrics", "/health") else own


def story() -> Story:
    """Return it; the recording begins at PAST."""
    hosts = (
        Followed(Simulated(_ordinary("vllm-0", 1), "vllm-0:8000"), Recorded(RECORDING), PAST),
        Simulated(_bursty(), "vllm-1:8000"),
        Simulated(_two_ranks(), "vllm-2:8000"),
    )
    return Story("dashboards", Tell.PAGE, hosts, PAST + LATE)


def short_story() -> Story:
    """Return less of it: twenty minutes before the recording, seen every 15 s."""
    hosts = (
        Followed(Simulated(_ordinary("vllm-0", 1), "vllm-0:8000"), Recorded(RECORDING), SHORT),
        Simulated(_bursty(), "vllm-1:8000"),
        Simulated(_two_ranks(), "vllm-2:8000"),
    )
    return Story("dashboards", Tell.PAGE, hosts, SHORT + LATE // INTERVAL * INTERVAL, interval=INTERVAL)


@contextmanager
def played() -> Iterator[Served]:
    """Yield a daemon, as the HTTP API shows it, at END."""
    with tempfile.TemporaryDirectory(prefix="vllm-monitor-played-") as folder:
        stage = Stage(story(), list(shipped_rules()), Path(folder), start=BEGIN, clock=VirtualClock(BEGIN))
        pipeline = stage.live(_slots())
        daemon = StandIn(list(pipeline.loops), list(pipeline.manager.groups))
        with serve(stage.window, daemon, now=END) as served:
            yield served


def _slots() -> Iterator[Instant]:
    close = END - CLOSELY
    yield from range(BEGIN, close, SELDOM)
    yield from range(close // SELDOM * SELDOM, END + 1, OFTEN)


def _ordinary(name: str, seed: int) -> Scenario:
    server = replace(OVERLOAD.server, model_name=MODEL)
    return Scenario(name, PAST + LATE, server, _hours(2, 5), seed=seed)


def _bursty() -> Scenario:
    server = replace(HEALTHY_BURSTY.server, model_name=MODEL)
    bursts = tuple(
        Phase(at, 30 * SECOND, clients=30, prompt=Lengths(32, 128), output=Lengths(60, 120))
        for at in range(40 * MINUTE, PAST, 55 * MINUTE)
    )
    return Scenario("vllm-1", PAST + LATE, server, (*_hours(3, 6), *bursts), seed=2)


def _two_ranks() -> Scenario:
    server = Server(
        "0.31.0", model_name="llama-3.1-8b", data_parallel_size=2, num_gpu_blocks=401, num_speculative_tokens=3,
        cost=OVERLOAD.server.cost,
    )  # fmt: skip
    return Scenario("vllm-2", PAST + LATE, server, _hours(4, 9), seed=3)


def _hours(few: int, many: int) -> tuple[Phase, ...]:
    """Return traffic of people, more of them in every second hour."""
    return tuple(
        Phase(
            at,
            HOUR,
            clients=many if at // HOUR % 2 else few,
            prompt=Lengths(32, 160),
            output=Lengths(60, 240),
            think=Lengths(500, 3000),
            stops=0.6,
            shared_prefix=32,
            timeout=2 * MINUTE,
        )
        for at in range(0, PAST + LATE, HOUR)
    )
