"""What goes wrong: each fault of a script, planned as what it does when it begins and when it is over."""

from collections.abc import Callable, Sequence
from functools import singledispatch

from monitor.simulator.engine import Engine
from monitor.simulator.script import (
    Asleep,
    BadAnswer,
    BadPage,
    Errors,
    Fault,
    Hang,
    Killed,
    NoAdmission,
    RankGone,
    Rejecting,
    Restart,
    Skewed,
    Slowdown,
    SlowPage,
    Unreachable,
)
from monitor.simulator.world import World

Change = Callable[[float], None]


@singledispatch
def plan(fault: Fault, world: World, start: float) -> None:
    """Put a fault of a scenario that begins at `start` on the world's agenda. Raises TypeError for an unknown one."""
    raise TypeError(f"no such fault: {fault!r} ({world!r}, {start})")


def _between(world: World, start: float, fault: Fault, begin: Change, end: Change) -> None:
    world.agenda.at(start + fault.at, begin)
    world.agenda.at(start + fault.at + fault.duration, end)


def _engines(world: World, rank: int | None = None) -> Sequence[Engine]:
    """Return the engines that run now: none while the process is down."""
    engines = world.process.engines if world.process else []
    return engines if rank is None else engines[rank : rank + 1]


@plan.register
def _(fault: Hang, world: World, start: float) -> None:
    def begin(now: float) -> None:
        for engine in _engines(world, fault.engine):
            engine.freeze(now)

    def end(now: float) -> None:
        for engine in _engines(world, fault.engine):
            engine.thaw(now)

    _between(world, start, fault, begin, end)


@plan.register
def _(fault: Asleep, world: World, start: float) -> None:
    def begin(now: float) -> None:
        for engine in _engines(world):
            engine.sleep(now, fault.level)

    def end(now: float) -> None:
        for engine in _engines(world):
            engine.wake_up(now)

    _between(world, start, fault, begin, end)


@plan.register
def _(fault: Slowdown, world: World, start: float) -> None:
    def factor(value: float) -> Change:
        def change(_now: float) -> None:
            for engine in _engines(world):
                engine.slowness = value

        return change

    _between(world, start, fault, factor(fault.factor), factor(1.0))


@plan.register
def _(fault: NoAdmission, world: World, start: float) -> None:
    def begin(_now: float) -> None:
        for engine in _engines(world):
            engine.admitting = False

    def end(now: float) -> None:
        for engine in _engines(world):
            engine.admitting = True
            engine.wake(now)

    _between(world, start, fault, begin, end)


@plan.register
def _(fault: Errors, world: World, start: float) -> None:
    def share(value: float) -> Change:
        def change(_now: float) -> None:
            for engine in _engines(world):
                engine.error_share = value

        return change

    _between(world, start, fault, share(fault.share), share(0.0))


@plan.register
def _(fault: Rejecting, world: World, start: float) -> None:
    def acceptance(value: float) -> Change:
        def change(_now: float) -> None:
            for engine in _engines(world):
                engine.measures.acceptance = value

        return change

    _between(world, start, fault, acceptance(fault.acceptance), acceptance(world.server.acceptance))


@plan.register
def _(fault: Skewed, world: World, start: float) -> None:
    def send_to(rank: int | None) -> Change:
        def change(_now: float) -> None:
            if world.process:
                world.process.only = rank

        return change

    _between(world, start, fault, send_to(fault.engine), send_to(None))


@plan.register
def _(fault: RankGone, world: World, start: float) -> None:
    def hide(rank: int | None) -> Change:
        def change(_now: float) -> None:
            if world.process:
                world.process.gone = rank

        return change

    _between(world, start, fault, hide(fault.engine), hide(None))


@plan.register
def _(fault: Killed, world: World, start: float) -> None:
    world.agenda.at(start + fault.at, world.kill_engine)
    world.agenda.at(start + fault.at + min(fault.stale, fault.duration), world.stop)
    world.agenda.at(start + fault.at + fault.duration, world.start)


@plan.register
def _(fault: Restart, world: World, start: float) -> None:
    def end(now: float) -> None:
        world.server = fault.server or world.server
        world.start(now)

    _between(world, start, fault, world.stop, end)


@plan.register
def _(fault: Unreachable, world: World, start: float) -> None:
    def reachable(value: bool) -> Change:  # noqa: FBT001 - the one value that changes
        def change(_now: float) -> None:
            world.reachable = value

        return change

    _between(world, start, fault, reachable(False), reachable(True))


@plan.register
def _(fault: BadPage, world: World, start: float) -> None:
    def show(page: BadPage | None) -> Change:
        def change(_now: float) -> None:
            world.bad_page = page

        return change

    _between(world, start, fault, show(fault), show(None))


@plan.register
def _(fault: SlowPage, world: World, start: float) -> None:
    def show(page: SlowPage | None) -> Change:
        def change(_now: float) -> None:
            world.slow_page = page

        return change

    _between(world, start, fault, show(fault), show(None))


@plan.register
def _(fault: BadAnswer, world: World, start: float) -> None:
    def begin(_now: float) -> None:
        world.bad_answers[fault.path] = fault

    def end(_now: float) -> None:
        if world.bad_answers.get(fault.path) is fault:
            del world.bad_answers[fault.path]

    _between(world, start, fault, begin, end)
