"""What happens to letters that cannot be delivered where they should, on a clock that is moved by hand."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import StringIO

import pytest
from rich.console import Console

from monitor.dispatch.dispatcher import Delivery, Integration
from monitor.dispatch.notification import Notification, NotifyError, Reason
from monitor.model.alert import Alert
from monitor.model.instant import HOUR, MINUTE, SECOND
from monitor.model.labels import EMPTY, Labels
from monitor.notify.console import ConsoleNotifier
from monitor.notify.fallback import copies
from monitor.notify.interactive.nudge import nudge
from monitor.notify.letter import DeadLetter
from monitor.notify.outbox import Outbox
from monitor.notify.pagerduty import event
from monitor.notify.slack.payload import message
from monitor.notify.summary import summarise
from monitor.notify.webhook import payload

DEAD_TOKEN = NotifyError("Slack refused: token_revoked", reason="credential", retryable=False)
DOWN = NotifyError("no route", reason="unreachable", retryable=True)
REFUSED = NotifyError("Slack refused: invalid_blocks", reason="message", retryable=False, hopeless=True)
SLACK, PAGER = "oncall/slack[0]", "pager/webhook[0]"


@dataclass
class Place:
    """Fails while it has an error; remembers what arrived."""

    error: NotifyError | None = None
    arrived: list[Notification] = field(default_factory=list)

    def notify(self, notification: Notification) -> None:
        if self.error is not None:
            raise self.error
        self.arrived.append(notification)

    def heard(self) -> list[str]:
        return [f"{one.group_key}{'-' if one.is_resolved else '+'}" for one in self.arrived]


@dataclass
class Kept:
    """What a state file would hold."""

    diverted: dict[str, tuple[int, tuple[Delivery, ...]]] = field(default_factory=dict)
    dead: list[DeadLetter] = field(default_factory=list)

    def attempt(self, letter: str) -> None:
        """Of no interest here."""

    def settle(self, letter: str) -> None:
        """Of no interest here."""

    def bury(self, dead: DeadLetter) -> None:
        self.dead.append(dead)

    def divert(self, delivery: Delivery, copies: Sequence[Delivery], now: int) -> None:
        assert delivery.notification.id not in self.diverted
        self.diverted[delivery.notification.id] = now, tuple(copies)


@dataclass
class Stage:
    """Slack, and a pager for when it fails."""

    slack: Place = field(default_factory=Place)
    pager: Place = field(default_factory=Place)
    kept: Kept = field(default_factory=Kept)
    send_resolved: bool = True

    def __post_init__(self) -> None:
        self.outbox = self.fresh()

    def fresh(self) -> Outbox:
        fallbacks = {SLACK: [Integration(PAGER, self.send_resolved)]}
        places = {SLACK: self.slack, PAGER: self.pager}
        return Outbox(places, lambda _: None, self.kept, chance=lambda: 1.0, fallbacks=fallbacks)

    def put(self, group: str, now: int, *, over: bool = False) -> None:
        self.outbox.put(letter(group, now, over=over), now)
        self.outbox.deliver_due(now)

    def wait(self, start: int, end: int) -> None:
        for now in range(start, end + 1, SECOND):
            self.outbox.deliver_due(now)


def webhook_text(notification: Notification) -> str:
    return json.dumps(payload(notification))


def pagerduty_text(notification: Notification) -> str:
    return json.dumps(event(notification, {}))


def console_text(notification: Notification) -> str:
    printed = StringIO()
    ConsoleNotifier(Console(file=printed, width=200)).notify(notification)
    return printed.getvalue()


def slack_text(notification: Notification) -> str:
    built = message(summarise(notification))
    assert "allback" not in built.text or "allback" in json.dumps(built.attachments)
    return built.text


def letter(group: str, now: int, *, over: bool = False) -> Delivery:
    alert = Alert(Labels.of(alertname="Down"), EMPTY, 0, now if over else None)
    told = Notification("oncall", group, EMPTY, (alert,), now, Reason.FIRST, id=f"{group}{now}")
    return Delivery(SLACK, told)


def test_a_dead_token_is_told_to_the_fallback_at_once_and_marked() -> None:
    stage = Stage(Place(DEAD_TOKEN))
    stage.put("a", 0)
    (told,) = stage.pager.arrived
    assert told.fallback == "oncall/slack[0] cannot be told: Slack refused: token_revoked"
    assert (told.receiver, told.group_key) == ("pager", "a")
    stage.wait(0, HOUR)
    assert len(stage.pager.arrived) == 1
    assert stage.outbox.waiting() == {SLACK: 1, PAGER: 0}


def test_what_comes_while_the_token_is_dead_does_not_wait_for_the_next_knock() -> None:
    stage = Stage(Place(DEAD_TOKEN))
    stage.put("a", 0)
    stage.put("a", SECOND, over=True)
    stage.put("b", SECOND)
    assert stage.pager.heard() == ["a+", "a-", "b+"]


def test_when_it_is_mended_everything_comes_there_too_and_nothing_goes_around_any_more() -> None:
    stage = Stage(Place(DEAD_TOKEN))
    stage.put("a", 0)
    stage.slack.error = None
    stage.wait(0, 5 * MINUTE)
    stage.put("b", 6 * MINUTE)
    assert stage.slack.heard() == ["a+", "b+"]
    assert stage.pager.heard() == ["a+"]


def test_who_heard_of_the_beginning_hears_of_the_end_although_the_first_is_back() -> None:
    stage = Stage(Place(DEAD_TOKEN))
    stage.put("a", 0)
    stage.slack.error = None
    stage.wait(0, 5 * MINUTE)
    stage.put("a", 6 * MINUTE, over=True)
    stage.put("a", 7 * MINUTE)
    assert stage.slack.heard() == ["a+", "a-", "a+"]
    assert stage.pager.heard() == ["a+", "a-"]


def test_what_fails_only_now_and_then_stays_here() -> None:
    stage = Stage(Place(DOWN))
    stage.put("a", 0)
    stage.wait(0, 2 * MINUTE - SECOND)
    stage.slack.error = None
    stage.wait(2 * MINUTE, 3 * MINUTE)
    assert (stage.slack.heard(), stage.pager.heard()) == (["a+"], [])


def test_what_has_failed_for_two_minutes_goes_around_and_what_comes_then_at_once() -> None:
    stage = Stage(Place(DOWN))
    stage.put("a", 0)
    stage.wait(0, 2 * MINUTE - SECOND)
    assert stage.pager.heard() == []
    stage.wait(2 * MINUTE, 3 * MINUTE)
    assert stage.pager.heard() == ["a+"]
    stage.put("b", 10 * MINUTE)
    assert stage.pager.heard() == ["a+", "b+"]


def test_a_message_that_is_refused_for_what_it_is_goes_around_and_is_kept() -> None:
    stage = Stage(Place(REFUSED))
    stage.put("a", 5)
    assert stage.pager.heard() == ["a+"]
    (dead,) = stage.kept.dead
    assert (dead.delivery.notification.id, dead.attempts, dead.error, dead.at) == (
        "a5",
        1,
        "Slack refused: invalid_blocks",
        5,
    )
    stage.slack.error = None
    stage.outbox.put_again(dead.delivery, MINUTE)
    stage.wait(MINUTE, MINUTE)
    assert (stage.slack.heard(), stage.pager.heard()) == (["a+"], ["a+"])
    assert (stage.outbox.has(SLACK), stage.outbox.has("gone/slack[0]")) == (True, False)


@pytest.mark.parametrize("mended", [True, False])
def test_a_restart_knows_what_went_around(mended: object) -> None:
    stage = Stage(Place(DEAD_TOKEN))
    stage.put("a", 0)
    stage.outbox = stage.fresh()
    stage.outbox.recall([(SLACK, "a"), ("gone/slack[0]", "b")])
    stage.slack.error = None if mended else DEAD_TOKEN
    stage.outbox.put(letter("a", 0), MINUTE, attempts=1, diverted=True)
    stage.wait(MINUTE, MINUTE)
    assert stage.pager.heard() == ["a+"]
    stage.put("a", 2 * MINUTE, over=True)
    assert stage.pager.heard() == ["a+", "a-"]


def test_a_reload_knows_it_too_but_tries_anew_what_needed_mending() -> None:
    stage = Stage(Place(DEAD_TOKEN))
    stage.put("a", 0)
    fresh = stage.fresh()
    fresh.take_over(stage.outbox)
    stage.outbox, stage.slack.error = fresh, None
    stage.put("b", SECOND)
    assert (stage.slack.heard(), stage.pager.heard()) == (["b+"], ["a+"])
    stage.wait(SECOND, 5 * MINUTE)
    stage.put("a", 6 * MINUTE, over=True)
    assert stage.pager.heard() == ["a+", "a-"]


def test_a_reload_does_not_begin_the_two_minutes_anew() -> None:
    stage = Stage(Place(DOWN))
    stage.put("a", 0)
    stage.wait(0, MINUTE)
    fresh = stage.fresh()
    fresh.take_over(stage.outbox)
    stage.outbox = fresh
    stage.put("b", MINUTE)
    stage.wait(MINUTE, 2 * MINUTE + 30 * SECOND)
    assert sorted(stage.pager.heard()) == ["a+", "b+"]


@pytest.mark.parametrize("error", [DEAD_TOKEN, REFUSED], ids=["kept", "given up"])
def test_an_attempt_that_fails_during_a_reload_goes_around_all_the_same(error: NotifyError) -> None:
    stage = Stage()
    fresh = stage.fresh()

    @dataclass
    class HandingOver(Place):
        def notify(self, notification: Notification) -> None:
            assert notification.group_key == "a"
            fresh.take_over(old)
            raise error

    before = Stage(HandingOver())
    old = before.outbox
    old.put(letter("a", 0), 0)
    old.deliver_due(0)
    fresh.deliver_due(0)
    assert stage.pager.heard() == ["a+"]


def test_a_clock_that_is_set_does_not_count_as_waiting() -> None:
    stage = Stage(Place(DOWN))
    stage.put("a", 0)
    stage.outbox.shift(HOUR)
    stage.wait(HOUR, HOUR + MINUTE)
    assert stage.pager.heard() == []
    stage.wait(HOUR + MINUTE, HOUR + 3 * MINUTE)
    assert stage.pager.heard() == ["a+"]


def test_a_fallback_may_have_one_of_its_own() -> None:
    slack, pager, phone = Place(DEAD_TOKEN), Place(DEAD_TOKEN), Place()
    outbox = Outbox(
        {SLACK: slack, PAGER: pager, "phone/webhook[0]": phone},
        lambda _: None,
        fallbacks={
            SLACK: [Integration(PAGER, send_resolved=True)],
            PAGER: [Integration("phone/webhook[0]", send_resolved=True)],
        },
    )
    outbox.put(letter("a", 0), 0)
    outbox.deliver_due(0)
    assert [one.fallback for one in phone.arrived] == ["pager/webhook[0] cannot be told: Slack refused: token_revoked"]


def test_a_fallback_that_wants_no_ends_gets_none() -> None:
    stage = Stage(Place(DEAD_TOKEN), send_resolved=False)
    stage.put("a", 0)
    stage.put("a", SECOND, over=True)
    assert stage.pager.heard() == ["a+"]


@pytest.mark.parametrize("show", [webhook_text, pagerduty_text, console_text, slack_text])
def test_every_receiver_is_shown_that_it_stands_in_for_another(show: Callable[[Notification], str]) -> None:
    (copy,) = copies(letter("a", 0), [Integration(PAGER, send_resolved=True)], "Slack refused: token_revoked")
    assert "oncall/slack[0] cannot be told: Slack refused: token_revoked" in show(copy.notification)
    assert "allback" not in show(letter("a", 0).notification)


def test_what_has_nothing_to_say_to_others_is_not_logged_as_told_to_them(caplog: pytest.LogCaptureFixture) -> None:
    stage = Stage(Place(DEAD_TOKEN))
    stage.put("a", 0)
    caplog.clear()
    answered = Delivery(SLACK, nudge(letter("a", 0).notification))
    stage.outbox.put(answered, MINUTE)
    stage.outbox.deliver_due(MINUTE)
    assert (stage.pager.heard(), caplog.messages) == (["a+"], [])


def test_copies_have_ids_of_their_own_that_are_always_the_same() -> None:
    to = [Integration(PAGER, send_resolved=True), Integration("pager/pagerduty[0]", send_resolved=True)]
    first, second = copies(letter("a", 0), to, "why")
    assert [first, second] == list(copies(letter("a", 0), to, "why"))
    assert len({first.notification.id, second.notification.id, "a0"}) == 3


def test_a_letter_can_be_hastened_and_shows_its_last_error() -> None:
    stage = Stage(Place(DEAD_TOKEN))
    stage.put("a", 0)
    (waiting,) = stage.outbox.letters()[SLACK]
    assert (waiting.attempts, waiting.not_before, waiting.error) == (1, MINUTE, "Slack refused: token_revoked")
    assert stage.outbox.hasten({"a0", "unknown"}, SECOND) == 1
    stage.slack.error = None
    stage.wait(SECOND, SECOND)
    assert stage.slack.heard() == ["a+"]


def test_what_the_receiver_asked_for_is_not_hastened() -> None:
    stage = Stage(Place(NotifyError("slow down", reason="rate_limited", retryable=True, retry_after=MINUTE)))
    stage.put("a", 0)
    stage.slack.error = None
    stage.outbox.hasten({"a0"}, SECOND)
    stage.wait(SECOND, MINUTE - SECOND)
    assert stage.slack.heard() == []
    stage.wait(MINUTE, MINUTE)
    assert stage.slack.heard() == ["a+"]
