"""The timetable, on the real clock: several intervals side by side."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry

from monitor.clock import SystemClock
from monitor.dispatch.dispatcher import Dispatcher, Flush, Integration
from monitor.dispatch.route import Route
from monitor.metrics import Metrics
from monitor.model.alert import Alert
from monitor.model.instant import HOUR, SECOND, Instant
from monitor.model.labels import EMPTY, Labels
from monitor.model.matcher import equal
from monitor.notify.outbox import Outbox
from monitor.pipeline import Pipeline
from monitor.pool import Pool
from monitor.rules.manager import AlertKey, Kept
from monitor.rules.spec import RecordingRule, RuleGroup
from monitor.timetable import Timetable
from monitor.workers import Workers
from tests.rules.life import Life
from tests.waiting import until

INTERVALS = (100, 200, 700)


def test_each_group_is_evaluated_at_the_multiples_of_its_interval_and_once_at_the_start() -> None:
    life = Life([RuleGroup(f"g{ms}", interval=ms, rules=(RecordingRule(f"r{ms}", "time()"),)) for ms in INTERVALS])
    clock = SystemClock()
    dispatcher = Dispatcher(Route("nobody"), {})
    metrics = Metrics(CollectorRegistry(), "test")
    pipeline = Pipeline(
        clock, life.window, Pool((), life.window), life.manager, dispatcher, Outbox({}, lambda _: None), metrics
    )
    timetable = Timetable(pipeline, Workers(), lambda: None)
    timetable.start()

    def written() -> list[tuple[list[Instant], list[float]]]:
        columns = [
            column for group in life.manager.groups for column in life.window.block(group.owners[0]).columns.values()
        ]
        return [(list(times), list(values)) for times, values in (column.between(0, clock.now()) for column in columns)]

    until(lambda: [len(times) > 3 for times, _ in written()] == [True] * len(INTERVALS), within=10)
    timetable.stop()
    for interval, (times, values) in zip(INTERVALS, written(), strict=True):
        _, *slots = times
        assert [round(value * 1000) for value in values] == times
        assert all(slot % interval == 0 for slot in slots)
        # A busy machine may leave slots out; none comes twice.
        assert sorted(set(slots)) == slots
    # The start is the same for all of them.
    assert len({times[0] for times, _ in written()}) == 1


@dataclass
class Told:
    """Keeps the names of the receivers that were told."""

    receivers: list[str] = field(default_factory=list)

    def commit(self, changed: Sequence[Kept], gone: Sequence[AlertKey], flush: Flush, evaluated: Instant = 0) -> None:
        del changed, gone, evaluated
        self.receivers += [delivery.notification.receiver for delivery in flush.deliveries]


class Slow(Dispatcher):
    """A dispatcher that one thread, called so, looks into and then is held up until it may go on."""

    def __init__(self, route: Route, receivers: Sequence[str]) -> None:
        super().__init__(route, {name: [Integration(name, send_resolved=True)] for name in receivers})
        self.looked, self.may_go_on = threading.Event(), threading.Event()

    def next_due(self) -> Instant | None:
        due = super().next_due()
        if threading.current_thread().name == "slow":
            self.looked.set()
            self.may_go_on.wait(60)
        return due


def test_what_somebody_posts_is_told_in_time_although_another_thread_is_just_planning_something_later() -> None:
    def route(name: str, wait: int) -> Route:
        return Route(name, group_wait=wait, matchers=(equal("to", name),), key=f"{{}}/{name}")

    dispatcher = Slow(Route("nobody", routes=(route("later", HOUR), route("soon", 2 * SECOND))), ("later", "soon"))
    life, clock, told = Life([]), SystemClock(), Told()
    outbox, metrics = Outbox({}, lambda _: None), Metrics(CollectorRegistry(), "test")
    pool = Pool((), life.window)
    pipeline = Pipeline(clock, life.window, pool, life.manager, dispatcher, outbox, metrics, told)
    timetable = Timetable(pipeline, Workers(), lambda: None)
    timetable.start()
    assert timetable.first_round_done.wait(60)
    slow, quick = (threading.Thread(target=timetable.look, name=name) for name in ("slow", "quick"))
    dispatcher.insert([Alert(Labels.of(to="later"), EMPTY, clock.now())], clock.now())
    slow.start()
    assert dispatcher.looked.wait(60)
    dispatcher.insert([Alert(Labels.of(to="soon"), EMPTY, clock.now())], clock.now())
    quick.start()
    quick.join(0.5)
    dispatcher.may_go_on.set()
    for thread in (slow, quick):
        thread.join(60)
    until(lambda: told.receivers == ["soon"], within=10)
    timetable.stop()
