"""What is sent when, judged without a network: a history in memory, and a receiver that does as it is told."""

import struct
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as changed

import pytest

from monitor.dispatch.notification import NotifyError
from monitor.model.instant import DAY, HOUR, MINUTE, SECOND, Duration, Instant
from monitor.model.labels import Labels
from monitor.model.matcher import Matcher
from monitor.model.relabel import Action, RelabelConfig
from monitor.model.sample import STALE
from monitor.notify.failure import Reason, failure
from monitor.remotewrite.encode import write_request
from monitor.remotewrite.writer import LOOK, Remote, Writer
from monitor.storage.db import StateError
from monitor.storage.history.reading import Stored, TooManySamplesError

START: Instant = 1_767_571_200_000
QUEUE = Labels.of({"__name__": "queue", "job": "vllm"})
UP = Labels.of({"__name__": "up", "job": "vllm", "cluster": "own"})


@dataclass
class Memory:
    """A sample a minute of two series, up to `until`."""

    until: Instant | None = START
    error: StateError | None = None
    asked: list[tuple[Instant, Instant]] = field(default_factory=list)

    def kept_until(self) -> Instant | None:
        return self.until

    def select(self, matchers: Sequence[Matcher], after: Instant, until: Instant, most: int) -> Sequence[Stored]:
        if self.error is not None:
            raise self.error
        self.asked.append((after, until))
        times = array("q", range(after - after % MINUTE + MINUTE, until + 1, MINUTE))
        if 2 * len(times) > most:
            raise TooManySamplesError
        found = (Stored(labels, (times, array("d", map(float, times)))) for labels in (QUEUE, UP))
        return [stored for stored in found if all(matcher.accepts(stored.labels) for matcher in matchers)]


@dataclass
class House:
    """A writer, and all that it does."""

    remote: Remote = field(default_factory=lambda: Remote("r"))
    past: Memory = field(default_factory=Memory)
    position: Instant | None = START
    errors: list[NotifyError] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    positions: list[Instant] = field(default_factory=list)
    counted: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.writer = Writer(self.remote, self.past, self.post, self, self.positions.append, self.position)

    def post(self, body: bytes, headers: dict[str, str]) -> None:
        if self.errors:
            raise self.errors.pop(0)
        self.bodies.append(body)
        self.headers.append(headers)

    def sent(self, name: str, samples: int) -> None:
        self.counted[f"{name} sent"] = self.counted.get(f"{name} sent", 0) + samples

    def failed(self, name: str, samples: int, reason: str) -> None:
        self.counted[f"{name} {reason}"] = self.counted.get(f"{name} {reason}", 0) + samples

    def retried(self, name: str, reason: str) -> None:
        self.counted[f"{name} again {reason}"] = self.counted.get(f"{name} again {reason}", 0) + 1

    def step(self, until: Instant) -> Duration:
        self.past.until = until
        return self.writer.step(until + 90 * SECOND)


def body(after: Instant, until: Instant, change: Callable[[Labels], Labels] = lambda labels: labels) -> bytes:
    times = range(after + MINUTE, until + 1, MINUTE)
    return write_request((change(labels), times, [float(at) for at in times]) for labels in (QUEUE, UP))


def test_who_is_new_gets_what_comes_and_not_what_was() -> None:
    house = House(position=None)
    assert house.step(START) == LOOK
    assert (house.bodies, house.positions) == ([], [START])
    assert house.step(START + MINUTE) == 0
    assert house.bodies == [body(START, START + MINUTE)]
    assert house.headers[0]["X-Prometheus-Remote-Write-Version"] == "0.1.0"
    assert house.counted == {"r sent": 2}


def test_what_was_missed_is_caught_up_in_order_an_hour_at_a_time() -> None:
    house = House()
    end = START + 2 * HOUR + 5 * MINUTE
    assert [house.step(end) for _ in range(4)] == [0, 0, 0, LOOK]
    assert house.positions == [START + HOUR, START + 2 * HOUR, end]
    assert house.writer.behind() == 0


def test_no_request_is_larger_than_it_may_be_but_for_a_minute_that_is() -> None:
    house = House(Remote("r", max_samples_per_send=20))
    waits = [house.step(START + HOUR) for _ in range(40)]
    assert set(waits) == {0, LOOK}
    assert house.positions[-1] == START + HOUR
    assert house.counted == {"r sent": 120}
    assert all(len(sent) < 20 * 30 + 400 for sent in house.bodies)
    tiny = House(Remote("r", max_samples_per_send=1))
    while tiny.step(START + 3 * MINUTE) != LOOK:
        pass
    assert tiny.positions == [START + MINUTE, START + 2 * MINUTE, START + 3 * MINUTE]


def test_a_receiver_that_is_away_is_asked_more_and_more_seldom_and_misses_nothing() -> None:
    away = failure(Reason.UNREACHABLE, "away")
    house = House(Remote("r", least=100, most=1000), errors=[away] * 8)
    waits = [house.step(START + MINUTE) for _ in range(8)]
    assert all(
        longest / 2 <= wait <= longest for wait, longest in zip(waits, (100, 200, 400, 800, *[1000] * 4), strict=True)
    )
    assert (house.bodies, house.positions) == ([], [])
    assert house.writer.behind() == MINUTE
    assert house.step(START + 2 * MINUTE) == 0
    assert house.bodies == [body(START, START + 2 * MINUTE)]
    assert house.counted == {"r again unreachable": 8, "r sent": 4}


@pytest.mark.parametrize(
    ("error", "wait"),
    [
        pytest.param(failure(Reason.RATE_LIMITED, "429", 17 * SECOND), 17 * SECOND, id="its own word is obeyed"),
        pytest.param(failure(Reason.CREDENTIAL, "401"), MINUTE, id="a wrong password is waited for"),
        pytest.param(failure(Reason.DESTINATION, "404"), MINUTE, id="a wrong address is waited for"),
    ],
)
def test_what_somebody_must_mend_loses_nothing(error: NotifyError, wait: Duration) -> None:
    house = House(errors=[error])
    assert house.step(START + MINUTE) == wait
    assert house.step(START + MINUTE) == 0
    assert house.bodies == [body(START, START + MINUTE)]


def test_what_is_refused_for_good_is_counted_and_does_not_hold_up_the_rest() -> None:
    house = House(errors=[failure(Reason.MESSAGE, "out of order")])
    assert house.step(START + MINUTE) == house.remote.least
    assert house.step(START + 2 * MINUTE) == 0
    assert house.bodies == [body(START + MINUTE, START + 2 * MINUTE)]
    assert house.counted == {"r message": 2, "r sent": 2}


def test_of_an_hour_that_is_refused_only_the_minutes_are_lost_that_are_refused_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Killed between the answer and the note, it sends again what is there already, and a receiver refuses it whole."""
    caplog.set_level("INFO")
    there = START + 7 * MINUTE
    house = House(errors=[])

    def post(sent: bytes, headers: dict[str, str]) -> None:
        after = house.past.asked[-1][0]
        if after < there:
            raise failure(Reason.MESSAGE, "out of order")
        house.post(sent, headers)

    house.writer = Writer(house.remote, house.past, post, house, house.positions.append, START)
    while house.step(START + HOUR) != LOOK:
        pass
    assert house.bodies[0] == body(there, house.past.asked[house.past.asked.index((there, house.positions[7]))][1])
    assert house.counted == {"r message": 14, "r sent": 106}
    assert [one.getMessage() for one in caplog.records if one.name == "monitor.remotewrite.writer"] == [
        "remote write refused",
        "remote write goes on",
    ]


def test_while_nobody_knows_what_is_kept_nothing_is_skipped() -> None:
    house = House()
    house.past.until = None
    assert house.writer.step(START + HOUR) == LOOK
    assert house.writer.behind() == 0
    assert house.step(START + MINUTE) == 0
    assert house.bodies == [body(START, START + MINUTE)]


def test_a_position_that_is_ahead_of_all_that_is_kept_begins_anew(caplog: pytest.LogCaptureFixture) -> None:
    house = House(position=START + 365 * DAY)
    assert [house.step(START), house.step(START)] == [LOOK, LOOK]
    assert house.positions == [START]
    assert house.step(START + MINUTE) == 0
    assert house.bodies == [body(START, START + MINUTE)]
    assert [one.getMessage() for one in caplog.records if one.name == "monitor.remotewrite.writer"] == [
        "remote write begins anew: its position is ahead"
    ]


def test_a_clock_that_moves_what_is_kept_before_the_position_is_no_such_thing() -> None:
    house = House()
    house.step(START - HOUR)
    house.writer.shift(-HOUR)
    house.step(START - HOUR)
    assert house.positions == [START - HOUR]


def test_what_waited_longer_than_it_may_is_left_out() -> None:
    house = House(Remote("r", age_limit=10 * MINUTE))
    assert house.step(START + HOUR) == 0
    assert house.past.asked == [(START + HOUR + 90 * SECOND - 10 * MINUTE, START + HOUR)]


def test_labels_of_ours_stand_beside_theirs_and_rules_change_or_drop_series() -> None:
    rules = (
        RelabelConfig(Action.DROP, ("__name__",), regex="queue"),
        RelabelConfig(target_label="job", replacement="other"),
    )
    remote = Remote("r", Labels.of({"cluster": "ours", "region": "eu"}), rules)
    house = House(remote)
    house.step(START + MINUTE)
    wanted = Labels.of({"__name__": "up", "job": "other", "cluster": "own", "region": "eu"})
    assert house.bodies == [write_request([(wanted, [START + MINUTE], [float(START + MINUTE)])])]
    nothing = House(changed(remote, write_relabel_configs=(RelabelConfig(Action.DROP, ("job",), regex="vllm"),)))
    assert nothing.step(START + MINUTE) == 0
    assert (nothing.bodies, nothing.positions) == ([], [START + MINUTE])


def test_a_clock_that_is_set_moves_what_is_known_along() -> None:
    house = House()
    house.writer.shift(-HOUR)
    assert house.step(START - HOUR + MINUTE) == 0
    assert house.past.asked == [(START - HOUR, START - HOUR + MINUTE)]
    assert house.positions == [START - HOUR, START - HOUR + MINUTE]


def test_a_history_that_cannot_be_read_is_asked_again_later() -> None:
    house = House(past=Memory(error=StateError("disk")))
    assert house.step(START + MINUTE) == MINUTE
    house.past.error = None
    assert house.step(START + MINUTE) == 0
    assert house.positions == [START + MINUTE]


def test_the_message_is_as_the_specification_has_it() -> None:
    labels = Labels.of({"a": "é"})
    sample = bytes((0x09,)) + struct.pack("<d", STALE) + bytes((0x10, 0xE8, 0x07))
    label = bytes((0x0A, 1)) + b"a" + bytes((0x12, 2)) + "é".encode()
    series = bytes((0x0A, len(label))) + label + bytes((0x12, len(sample))) + sample
    message = bytes((0x0A, len(series))) + series
    assert write_request([(labels, [1000], [STALE])]) == (
        bytes((len(message), 61 << 2)) + struct.pack("<H", len(message) - 1) + message
    )
