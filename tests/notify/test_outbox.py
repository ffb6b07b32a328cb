"""The outbox on a clock that is moved by hand."""

import threading
from dataclasses import replace

import pytest

from monitor.dispatch.dispatcher import Delivery
from monitor.dispatch.notification import Notification, NotifyError, Reason
from monitor.model.alert import Alert
from monitor.model.instant import HOUR, MINUTE, SECOND
from monitor.model.labels import EMPTY, Labels
from monitor.notify.lane import Lane
from monitor.notify.letter import Letter
from monitor.notify.outbox import Outbox
from monitor.notify.retry import wait_after
from tests.notify.lanes import LIMITED, UNREACHABLE, FakeLedger, FakeNotifier, delivery, lane


def test_what_fails_is_tried_again_with_growing_waits() -> None:
    notifier = FakeNotifier([UNREACHABLE] * 3)
    outbox, attempts = lane(notifier)
    outbox.put(delivery(), 0)
    tried = []
    for second in range(12):
        before = len(attempts)
        outbox.deliver_due(second * SECOND)
        if len(attempts) > before:
            tried.append(second)
    assert tried == [0, 1, 3, 7]
    assert len(notifier.delivered) == 1
    assert outbox.waiting() == {"slack": 0}


def test_the_receivers_word_is_obeyed_for_the_whole_lane() -> None:
    notifier = FakeNotifier([LIMITED])
    outbox, _ = lane(notifier)
    outbox.put(delivery("a"), 0)
    outbox.put(delivery("b"), 0)
    outbox.deliver_due(0)
    outbox.deliver_due(30 * SECOND - 1)
    assert notifier.delivered == []
    outbox.deliver_due(30 * SECOND)
    assert len(notifier.delivered) == 2


def test_a_newer_word_replaces_what_could_not_be_said() -> None:
    notifier = FakeNotifier([UNREACHABLE])
    outbox, _ = lane(notifier)
    outbox.put(delivery(at=0), 0)
    outbox.deliver_due(0)
    outbox.put(delivery(at=5), 5)
    outbox.deliver_due(MINUTE)
    assert [notification.now for notification in notifier.delivered] == [5]


def test_nobody_is_replaced_who_says_that_an_alert_of_the_group_is_over() -> None:
    notifier = FakeNotifier([UNREACHABLE])
    outbox, _ = lane(notifier)
    a, b, c = (Alert(Labels.of(alertname=name), EMPTY, 0) for name in "abc")
    b_over = replace(b, ends_at=5)
    for now, alerts in ((0, (a, b)), (5, (a, b_over)), (9, (a, c))):
        note = Notification("oncall", "g", EMPTY, alerts, now, Reason.NEW_ALERTS, id=str(now))
        outbox.put(Delivery("slack", note), now)
        outbox.deliver_due(now)
    outbox.deliver_due(MINUTE)
    assert [notification.alerts for notification in notifier.delivered] == [(a, b), (a, b_over), (a, c)]


def test_the_end_is_not_told_before_the_beginning() -> None:
    notifier = FakeNotifier([UNREACHABLE])
    outbox, _ = lane(notifier)
    outbox.put(delivery(at=0), 0)
    outbox.deliver_due(0)
    outbox.put(delivery(at=5, ended=True), 5)
    outbox.deliver_due(5)
    assert notifier.delivered == []
    outbox.deliver_due(MINUTE)
    assert [notification.is_resolved for notification in notifier.delivered] == [False, True]


def test_the_ledger_hears_of_each_attempt_before_it_and_of_the_end() -> None:
    ledger = FakeLedger()
    outbox, _ = lane(FakeNotifier([UNREACHABLE]), ledger)
    outbox.put(delivery(), 0)
    outbox.deliver_due(0)
    outbox.put(delivery(at=1), SECOND)
    outbox.deliver_due(MINUTE)
    assert ledger.heard == ["attempt g0", "settle g0", "attempt g1", "settle g1"]


def test_what_no_lane_can_tell_any_more_is_settled() -> None:
    ledger = FakeLedger()
    outbox, _ = lane(FakeNotifier(), ledger)
    outbox.put(delivery(to="gone"), 0)
    outbox.put(delivery("stays"), 0)
    Outbox({}, lambda _: None, ledger).take_over(outbox)
    assert ledger.heard == ["settle g0", "settle stays0"]


def test_a_message_that_the_receiver_will_never_take_does_not_block_the_lane() -> None:
    notifier = FakeNotifier([NotifyError("invalid_blocks", reason="message", retryable=False, hopeless=True)])
    outbox, attempts = lane(notifier)
    outbox.put(delivery("bad"), 0)
    outbox.put(delivery("good"), 0)
    outbox.deliver_due(0)
    assert [notification.group_key for notification in notifier.delivered] == ["good"]
    assert outbox.waiting() == {"slack": 0}
    assert attempts[0].error is not None


def test_a_dead_token_is_knocked_at_now_and_then_and_nothing_is_lost() -> None:
    notifier = FakeNotifier([NotifyError("invalid_auth", reason="credential", retryable=False)])
    outbox, _ = lane(notifier)
    outbox.put(delivery(), 0)
    outbox.deliver_due(0)
    outbox.deliver_due(MINUTE - 1)
    assert notifier.delivered == []
    outbox.deliver_due(MINUTE)
    assert len(notifier.delivered) == 1


def test_a_notifier_that_breaks_its_promise_does_not_break_the_lane() -> None:
    notifier = FakeNotifier([KeyError("ts")])
    outbox, attempts = lane(notifier)
    outbox.put(delivery(), 0)
    outbox.deliver_due(0)
    outbox.deliver_due(MINUTE)
    assert len(notifier.delivered) == 1
    assert [attempt.error.reason if attempt.error else "" for attempt in attempts] == ["internal", ""]


@pytest.mark.parametrize(("attempts", "longest"), [(1, 1), (2, 2), (6, 32), (7, 60), (400, 60)])
def test_waits_double_up_to_a_minute_and_half_of_them_is_chance(attempts: int, longest: int) -> None:
    assert wait_after(UNREACHABLE, attempts, 1.0) == longest * SECOND
    assert wait_after(UNREACHABLE, attempts, 0.0) == longest * SECOND / 2


def test_started_it_delivers_from_its_own_thread_and_stops() -> None:
    notifier = FakeNotifier()
    outbox, _ = lane(notifier)
    outbox.start(lambda: 0)
    outbox.put(delivery(), 0)
    assert outbox.stop(patience=60)
    assert len(notifier.delivered) == 1


def test_what_is_put_in_right_before_the_stop_still_goes_out() -> None:
    class Late(threading.Event):
        """Whoever looks for the first time looks just before a letter comes and the outbox is stopped."""

        looked = False

        def is_set(self) -> bool:
            if not self.looked:
                self.looked = True
                outbox.put(delivery(), 0)
                self.set()
            return super().is_set()

    notifier = FakeNotifier()
    outbox, _ = lane(notifier)
    outbox._stopping = Late()
    outbox.start(lambda: 0)
    assert outbox.stop(patience=60)
    assert len(notifier.delivered) == 1


@pytest.mark.parametrize(("error", "wait"), [(UNREACHABLE, SECOND), (LIMITED, 30 * SECOND)], ids=["own", "asked for"])
def test_a_clock_that_is_set_back_during_an_attempt_does_not_delay_the_next(error: NotifyError, wait: int) -> None:
    class Moving:
        """The clock is set in the middle of an attempt that fails."""

        def notify(self, _: Notification) -> None:
            one.shift(-HOUR)
            raise error

    one = Lane(Moving(), lambda _: None, lambda: 1.0, FakeLedger())
    one.put(Letter(delivery(), HOUR))
    assert one.deliver_due(HOUR)
    assert one.next_due() == wait


def test_what_waits_moves_with_the_clock_and_so_does_what_it_tells() -> None:
    one, _ = lane(FakeNotifier())
    one.put(delivery(at=HOUR, ended=True), HOUR)
    one.shift(-HOUR)
    (letters,) = one.letters().values()
    told = letters[0].delivery.notification
    assert (letters[0].not_before, letters[0].since, told.now) == (0, 0, 0)
    assert told.is_resolved
