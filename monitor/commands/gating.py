"""`vllm-monitor gate`: lets a deployment go on, or not, by what fits at once."""

import time
from collections.abc import Iterable, Iterator

from monitor.capacity.gate import Judgement, judged, unknown
from monitor.capacity.startup import Fact, Startup
from monitor.clock import monotonic_seconds
from monitor.commands.oneserver import Server, told
from monitor.commands.startuplog import followed
from monitor.scrape.errors import ScrapeError

_PAUSE_SECONDS = 1


def gated(judgements: Iterable[Judgement], floor: float) -> Judgement:
    """Return the first judgement that is final, or the last one when the time is over."""
    last = unknown("nothing was said", floor)
    for last in judgements:
        if last.known:
            break
    return last


def of_server(asked: Server, floor: float, timeout_seconds: float) -> Iterator[Judgement]:
    """Yield how a server stands, again and again until the time is over; at least once."""
    end = monotonic_seconds() + timeout_seconds
    while True:
        try:
            yield judged(((pool.engine, pool.max_concurrency) for pool in told(asked).pools), floor)
        except ScrapeError as err:
            yield unknown(f"{asked.target.url}: {err}", floor)
        if monotonic_seconds() >= end:
            return
        time.sleep(_PAUSE_SECONDS)


def of_log(path: str, floor: float, timeout_seconds: float) -> Iterator[Judgement]:
    """Yield how a start-up stands while its log grows. Raises LogError."""
    for startup in followed(path, timeout_seconds):
        yield of_startup(startup, floor)


def of_startup(startup: Startup, floor: float) -> Judgement:
    """Judge a start-up by what its log says so far."""
    if startup.illness is not None:
        return Judgement(False, f"it does not start: {startup.illness.ill}", floor)
    engines = {name: each[Fact.CONCURRENCY] for name, each in startup.engines.items() if Fact.CONCURRENCY in each}
    if not engines:
        return unknown(f"{startup.lines} lines of the log do not say how many requests fit at once", floor)
    judgement = judged(engines.items(), floor)
    # Engines of one server say it one after the other: that enough fits is certain when all have come up.
    certain = startup.ready or not judgement.passes
    return Judgement(judgement.passes, judgement.reason, floor, certain, engines)
