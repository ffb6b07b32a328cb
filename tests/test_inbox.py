"""What an Alertmanager has told us outlives a restart, is told once, and ends when nobody speaks of it any more."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from monitor.clock import VirtualClock
from monitor.config.read import load
from monitor.dispatch.dispatcher import MOST_ALERTS, Integration
from monitor.dispatch.notification import Notification
from monitor.dispatch.received import Message
from monitor.dispatch.silence import Silence, Silences
from monitor.inbox import Inbox
from monitor.journal import Journal
from monitor.model.alert import Alert
from monitor.model.instant import HOUR, MINUTE, SECOND, Duration, Instant
from monitor.model.labels import Labels
from monitor.model.matcher import equal
from monitor.notify.outbox import Outbox
from monitor.storage.db import Database

NOW: Instant = 1_796_018_705_000
NAME = "oncall/pagerduty[0]"
CONFIG = """\
route: {receiver: other, group_interval: 1m}
receivers: [{name: other}, {name: oncall}]
alerting: {webhook: {resolve_after: 1h}}
"""


@dataclass
class Told:
    """Takes everything."""

    notifications: list[Notification] = field(default_factory=list)

    def notify(self, notification: Notification) -> None:
        self.notifications.append(notification)

    @property
    def words(self) -> list[str]:
        return [f"{one.reason.value}: {len(one.firing)}/{len(one.alerts)}" for one in self.notifications]


@dataclass
class House:
    """A folder, and the lives of a daemon in it."""

    folder: Path
    clock: VirtualClock = field(default_factory=lambda: VirtualClock(NOW))
    told: Told = field(default_factory=Told)

    def __post_init__(self) -> None:
        (self.folder / "monitor.yaml").write_text(CONFIG)

    @contextmanager
    def life(self) -> Iterator["Life"]:
        database = Database(self.folder)
        journal = Journal(database, lambda: None)
        silences = Silences(journal.silences(), journal)
        inbox = Inbox(tuple(journal.received()), journal, silences, self.clock)
        outbox = Outbox({NAME: self.told}, lambda _: None, journal)
        for waiting in journal.letters():
            outbox.put(waiting.delivery, self.clock.now(), waiting.attempts)
        inbox.begin(load(self.folder / "monitor.yaml"), outbox, {"oncall": [Integration(NAME, send_resolved=True)]})
        yield Life(inbox, outbox, silences, database)
        journal.close()


@dataclass
class Life:
    inbox: Inbox
    outbox: Outbox
    silences: Silences
    database: Database

    def hear(self, *names: str, over: bool = False) -> bool:
        end = NOW if over else None
        alerts = tuple(Alert(Labels.of(alertname=name), Labels(), NOW - MINUTE, end) for name in names)
        return self.inbox.take(Message("{}:{}", Labels(), alerts, external_url="http://am"), "oncall")


def deliver(house: House, life: Life) -> list[str]:
    life.outbox.deliver_due(house.clock.now())
    return house.told.words


def test_a_kill_between_the_answer_and_the_telling_loses_nothing(tmp_path: Path) -> None:
    house = House(tmp_path)
    with house.life() as killed:
        assert killed.hear("A")
    with house.life() as again:
        assert deliver(house, again) == ["first notification: 1/1"]


def test_a_kill_between_the_writing_and_the_answer_tells_nothing_twice(tmp_path: Path) -> None:
    house = House(tmp_path)
    with house.life() as killed:
        killed.hear("A")
        deliver(house, killed)
    with house.life() as again:
        # Alertmanager has had no answer.
        assert again.hear("A")
        assert deliver(house, again) == ["first notification: 1/1"]
        again.hear("A", over=True)
        again.hear("A", over=True)
        assert deliver(house, again)[1:] == ["all alerts resolved: 0/1"]
    with house.life() as third:
        assert third.hear("A", over=True)
        assert len(deliver(house, third)) == 2


def test_what_cannot_be_written_is_told_and_not_confirmed_until_it_is(tmp_path: Path) -> None:
    house = House(tmp_path)
    with house.life() as life:
        life.database.close()
        assert not life.hear("A")
        assert deliver(house, life) == ["first notification: 1/1"]
        assert not life.hear("A")
        assert len(deliver(house, life)) == 1


def test_what_nobody_speaks_of_any_more_ends(tmp_path: Path) -> None:
    house = House(tmp_path)
    with house.life() as life:
        life.hear("A")
        house.clock.advance(HOUR - SECOND)
        life.inbox.tick(house.clock.now())
        assert len(deliver(house, life)) == 1
        house.clock.advance(SECOND)
        life.inbox.tick(house.clock.now())
        assert deliver(house, life)[1:] == ["all alerts resolved: 0/1"]
        life.hear("A")
        assert deliver(house, life)[2:] == ["first notification: 1/1"]


def test_a_clock_that_is_set_ends_nothing(tmp_path: Path) -> None:
    house, by = House(tmp_path), Duration(48 * HOUR)
    with house.life() as life:
        life.hear("A")
        house.clock.advance(by)
        life.inbox.shift(by)
        life.inbox.tick(house.clock.now())
        assert len(deliver(house, life)) == 1
    with house.life() as again:
        again.inbox.tick(house.clock.now())
        assert len(deliver(house, again)) == 1


def test_what_begins_while_it_is_silenced_here_is_told_when_it_is_heard_of_afterwards(tmp_path: Path) -> None:
    house = House(tmp_path)
    with house.life() as life:
        matchers = (equal("alertname", "A"),)
        life.silences.set(Silence("", matchers, NOW, NOW + MINUTE, "me", "why"), NOW)
        assert life.hear("A")
        assert deliver(house, life) == []
        house.clock.advance(2 * MINUTE)
        life.hear("A")
        assert deliver(house, life) == ["first notification: 1/1"]


def test_the_receiver_is_the_one_of_the_same_name_or_that_of_the_root_route(tmp_path: Path) -> None:
    with House(tmp_path).life() as life:
        receiver = life.inbox.receiver
        assert [receiver("oncall", ""), receiver("", "oncall"), receiver("", "theirs")] == ["oncall", "oncall", "other"]
        assert receiver("theirs", "oncall") is None


def test_there_is_room_for_so_many_alerts_and_always_for_what_is_over(tmp_path: Path) -> None:
    with House(tmp_path).life() as life:
        assert life.inbox.is_open

        def has_room(key: str, firing: int, over: int = 0) -> bool:
            ends = [None] * firing + [NOW] * over
            alerts = (Alert(Labels.of(alertname=f"A{number}"), Labels(), NOW, end) for number, end in enumerate(ends))
            return life.inbox.has_room(Message(key, Labels(), tuple(alerts)), "oncall")

        life.hear(*(f"A{number}" for number in range(MOST_ALERTS - 1)))
        assert [has_room("other", firing) for firing in (1, 2)] == [True, False]
        assert has_room("other", 0, over=100)
        assert [has_room("{}:{}", firing, 1) for firing in (MOST_ALERTS - 1, MOST_ALERTS)] == [True, False]


def test_where_it_is_reached_is_not_believed_of_one_that_shows_no_credentials(tmp_path: Path) -> None:
    with House(tmp_path).life() as life:
        life.hear("A")
        assert [group.external_url for group in life.inbox.groups()] == [""]
