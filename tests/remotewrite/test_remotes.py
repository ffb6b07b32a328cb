"""The threads: a receiver that hangs holds up nobody, and who comes after it goes on where it stopped."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from monitor.clock import monotonic_seconds
from monitor.model.instant import MINUTE, SECOND, Duration, Instant
from monitor.remotewrite.remotes import PATIENCE_SECONDS, Remotes
from monitor.remotewrite.writer import Remote, Writer
from tests.remotewrite.test_writer import START, House, Memory
from tests.waiting import until


@dataclass
class Hanging:
    """A receiver that answers when it is let go; `at_once` is how many requests it had at the same time, at most."""

    let_go: threading.Event = field(default_factory=threading.Event)
    asked: int = 0
    at_once: int = 0
    inside: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def post(self, _body: bytes, _headers: dict[str, str]) -> None:
        with self._lock:
            self.asked += 1
            self.inside += 1
            self.at_once = max(self.at_once, self.inside)
        self.let_go.wait(120)
        with self._lock:
            self.inside -= 1


@dataclass
class Behind:
    told: dict[str, Duration] = field(default_factory=dict)

    def show(self, name: str, behind: Duration) -> None:
        self.told[name] = behind


@contextmanager
def remotes(behind: Behind) -> Iterator[Remotes]:
    made = Remotes(lambda: START + 5 * MINUTE, behind.show)
    try:
        yield made
    finally:
        made.stop()


def writer(name: str, receiver: Hanging, noted: list[Instant], kept_until: Instant = START + MINUTE) -> Writer:
    return Writer(Remote(name), Memory(kept_until), receiver.post, House(), noted.append, START)


def test_a_reload_waits_for_nobody_and_two_never_write_to_one_receiver_at_once() -> None:
    receiver, behind, noted, later = Hanging(), Behind(), list[Instant](), list[Instant]()
    with remotes(behind) as writing:
        writing.begin([writer("a", receiver, noted)])
        until(lambda: receiver.inside, within=10)
        writing.begin([writer("a", receiver, later, START + 2 * MINUTE)])
        # It still hangs.
        assert receiver.inside == 1
        assert behind.told == {}
        receiver.let_go.set()
        until(lambda: later == [START + 2 * MINUTE], within=10)
        until(lambda: behind.told, within=10)
    assert noted == [START + MINUTE]
    assert (receiver.asked, receiver.at_once) == (2, 1)
    assert behind.told == {"a": 0}


def test_what_is_told_of_a_receiver_ends_with_it() -> None:
    receiver, behind, others = Hanging(), Behind(), set(threading.enumerate())
    with remotes(behind) as writing:
        writing.begin([writer("a", receiver, [])])
        until(lambda: receiver.inside, within=10)
        (thread,) = (one for one in threading.enumerate() if one.name == "remote write" and one not in others)
        writing.begin([])
        receiver.let_go.set()
        thread.join(60)
        assert not thread.is_alive()
    assert behind.told == {}


def test_the_end_waits_for_all_that_hang_together() -> None:
    receiver = Hanging()
    with remotes(Behind()) as writing:
        writing.begin([writer(str(number), receiver, []) for number in range(60)])
        until(lambda: receiver.inside == 60, within=10)
        begun = monotonic_seconds()
        writing.stop()
        took = monotonic_seconds() - begun
        receiver.let_go.set()
    # One after the other they would be waited for for a minute.
    assert took < 30 * PATIENCE_SECONDS


def test_a_writer_that_goes_on_for_another_knows_that_the_clock_was_set_meanwhile() -> None:
    receiver = Hanging()
    first, second = writer("a", receiver, []), writer("a", receiver, [])
    first.shift(-30 * SECOND)
    second.follow(first)
    assert second.position == START - 30 * SECOND
