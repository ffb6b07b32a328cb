"""The pipeline on a clock that is moved: for the demo, recordings and tests."""

from collections.abc import Callable, Iterable

from monitor.clock import VirtualClock
from monitor.model.instant import Instant
from monitor.pipeline import Pipeline


def replay(
    pipeline: Pipeline,
    clock: VirtualClock,
    slots: Iterable[Instant],
    before: Callable[[Instant], None] = lambda _: None,
) -> None:
    """
    Do a round at each of `slots`, and between them whatever a timer would have done: flushes and further attempts.

    `before` is called with each slot before its scrapes: to move the world that is scraped.
    """
    for slot in slots:
        catch_up(pipeline, clock, slot)
        before(slot)
        clock.at = slot
        pipeline.round(slot)


def catch_up(pipeline: Pipeline, clock: VirtualClock, until: Instant) -> None:
    """Move the clock to `until`, stopping wherever a group or a lane is due before."""
    while (due := _next(pipeline)) is not None and due < until:
        clock.at = max(clock.at, due)
        pipeline.tell()
        pipeline.outbox.deliver_due(clock.now())
    clock.at = max(clock.at, until)


def _next(pipeline: Pipeline) -> Instant | None:
    timers = (pipeline.dispatcher.next_due(), pipeline.outbox.next_due())
    return min((due for due in timers if due is not None), default=None)
