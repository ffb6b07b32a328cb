"""An outbox takes the place of another one: nothing is lost, told twice, or told in the wrong order."""

from collections.abc import Sequence

import pytest

from monitor.dispatch.notification import Notification, NotifyError
from monitor.model.instant import HOUR, MINUTE, SECOND
from monitor.notify.outbox import Outbox
from tests.notify.lanes import LIMITED, UNREACHABLE, FakeNotifier, delivery, lane


def test_another_outbox_goes_on_with_what_waits() -> None:
    old, _ = lane(FakeNotifier([UNREACHABLE]))
    old.put(delivery("a"), 0)
    old.put(delivery("b"), 0)
    notifier = FakeNotifier()
    new, _ = lane(notifier)
    new.take_over(old)
    new.deliver_due(SECOND)
    assert sorted(notification.group_key for notification in notifier.delivered) == ["a", "b"]
    assert old.waiting() == {"slack": 0}


def test_an_attempt_under_way_is_not_made_twice_and_goes_to_the_next_outbox_when_it_fails() -> None:
    successor = FakeNotifier()
    new, _ = lane(successor)

    class HandingOver:
        """Is replaced in the middle of its only attempt."""

        def notify(self, notification: Notification) -> None:
            new.take_over(old)
            new.deliver_due(0)
            assert notification not in successor.delivered
            raise UNREACHABLE

    old = Outbox({"slack": HandingOver()}, lambda _: None)
    old.put(delivery(), 0)
    old.deliver_due(0)
    new.deliver_due(MINUTE)
    assert len(successor.delivered) == 1


def test_an_attempt_that_fails_after_two_reloads_goes_to_the_last_outbox() -> None:
    successor = FakeNotifier()
    between, _ = lane(FakeNotifier())
    last, _ = lane(successor)

    class HandingOver:
        """Is replaced twice in the middle of its only attempt."""

        def notify(self, _: Notification) -> None:
            between.take_over(old)
            last.take_over(between)
            raise UNREACHABLE

    old = Outbox({"slack": HandingOver()}, lambda _: None)
    old.put(delivery(), 0)
    old.deliver_due(0)
    last.deliver_due(MINUTE)
    assert len(successor.delivered) == 1


@pytest.mark.parametrize("reloads", [1, 2])
@pytest.mark.parametrize("error", [None, UNREACHABLE], ids=["arrives", "fails"])
def test_over_a_reload_no_newer_word_of_a_group_overtakes_the_attempt_under_way(
    error: NotifyError | None, reloads: int
) -> None:
    told: list[str] = []

    class Noting:
        """Notes what it is told."""

        def notify(self, notification: Notification) -> None:
            told.append(notification.id)

    class HandingOver(Noting):
        """Is replaced in the middle of its only attempt."""

        def notify(self, notification: Notification) -> None:
            older = old
            for newer in replacements:
                newer.take_over(older)
                newer.deliver_due(MINUTE)
                older = newer
            replacements[-1].put(delivery(at=2), 0)
            replacements[-1].deliver_due(MINUTE)
            if error is not None:
                raise error
            super().notify(notification)

    old, replacements = lane(HandingOver())[0], [lane(Noting())[0] for _ in range(reloads)]
    old.put(delivery(), 0)
    old.put(delivery(at=1, ended=True), 0)
    old.put(delivery("other"), 0)
    old.deliver_due(0)
    replacements[-1].deliver_due(HOUR)
    assert [one for one in told if one != "other0"] == ["g0", "g1", "g2"]
    assert told.index("other0") == 0


def test_over_a_reload_no_two_attempts_are_at_the_messages_of_one_channel() -> None:
    told: list[str] = []

    class Editing:
        """Tells several groups by one message."""

        def notify(self, notification: Notification) -> None:
            self.notify_among(notification, ())

        def notify_among(self, notification: Notification, waiting: Sequence[Notification]) -> bool:
            told.extend(one.id for one in (notification, *waiting))
            return True

        def ready_at(self, notification: Notification) -> int:
            return notification.now

        def has_told(self, notification: Notification) -> bool:
            return notification.id in told

        def has_overtaken(self, notification: Notification) -> bool:
            return self.has_told(notification)

    class HandingOver(Editing):
        """Is replaced in the middle of its only attempt."""

        def notify_among(self, notification: Notification, waiting: Sequence[Notification]) -> bool:
            new.take_over(old)
            new.put(delivery("another"), 0)
            new.deliver_due(MINUTE)
            return super().notify_among(notification, waiting)

    old, new = lane(HandingOver())[0], lane(Editing())[0]
    old.put(delivery("g"), 0)
    old.put(delivery("member"), 0)
    old.deliver_due(0)
    assert told == ["g0", "member0"]
    new.deliver_due(MINUTE)
    assert told[2:] == ["member0", "another0", "another0"]


def test_the_receivers_word_is_obeyed_over_a_reload() -> None:
    old, _ = lane(FakeNotifier([LIMITED]))
    old.put(delivery("a"), 0)
    old.put(delivery("b"), 0)
    old.deliver_due(0)
    notifier = FakeNotifier()
    new, _ = lane(notifier)
    new.take_over(old)
    new.put(delivery("c"), SECOND)
    new.deliver_due(30 * SECOND - 1)
    assert notifier.delivered == []
    new.deliver_due(30 * SECOND)
    assert len(notifier.delivered) == 3
