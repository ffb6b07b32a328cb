"""The timetable, on the real clock: several intervals side by side."""

from prometheus_client import CollectorRegistry

from monitor.clock import SystemClock
from monitor.dispatch.dispatcher import Dispatcher
from monitor.dispatch.route import Route
from monitor.metrics import Metrics
from monitor.model.instant import Instant
from monitor.notify.outbox import Outbox
from monitor.pipeline import Pipeline
from monitor.pool import Pool
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
