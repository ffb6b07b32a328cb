"""Clicks one after the other: one change each, written before Slack hears that it came, whoever clicks at once."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from monitor.dispatch.silence import Silence, Silences
from monitor.model.alert import Alert
from monitor.model.instant import HOUR, MINUTE
from monitor.model.labels import EMPTY, Labels
from monitor.notify.interactive.click import Button, Click
from monitor.notify.interactive.decide import Outcome, Verdict
from monitor.notify.interactive.desk import Desk, Hooks
from monitor.notify.slack.incident import Incident, Key
from monitor.notify.slack.incidents import Incidents
from tests.notify.interactive.given import ALICE, BOB, click, incident, resolved
from tests.notify.samples import NOW, queue
from tests.waiting import until

LATER = NOW + MINUTE


@dataclass
class Kept:
    """The state file; what was written, in order. It writes only while `open`."""

    written: list[str] = field(default_factory=list)
    open: threading.Event = field(default_factory=threading.Event)

    def keep_incidents(self, incidents: Sequence[Incident], forgotten: Sequence[Key]) -> None:
        del forgotten
        assert self.open.wait(60)
        self.written += [f"acked by {one.acked_by}" if one.acked_by else "incident" for one in incidents]

    def keep(self, silence: Silence) -> None:
        self.written.append(f"silence until {(silence.ends_at - LATER) // HOUR}h")

    def drop(self, silence_id: str) -> None:
        del silence_id


class Watched(Desk):
    """Counts the clicks that are done with, and all that follows from them."""

    done = 0

    def _follow(self, click: Click, verdict: Verdict) -> None:
        super()._follow(click, verdict)
        self.done += 1


@dataclass
class Stage:
    """A desk with everything around it."""

    kept: Kept
    incidents: Incidents
    silences: Silences
    touched: list[Incident] = field(default_factory=list)
    told: list[tuple[str, str]] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)

    def __post_init__(self) -> None:
        hooks = Hooks(
            self.touched.append,
            lambda by, _, text: self.told.append((by.user_id, text)),
            self.outcomes.append,
            lambda: LATER,
        )
        self.desk = Watched(self.incidents, self.silences, hooks)

    def clicked(self, *clicks: Click) -> None:
        """Send the clicks, and wait until all are done with."""
        expected = self.desk.done + len(clicks)
        for one in clicks:
            self.desk.take_in(payload(one), one.envelope_id, lambda: None)
        until(lambda: self.desk.done == expected, within=5)

    @property
    def now(self) -> Incident:
        found = self.incidents.find("abc123")
        assert found is not None
        return found


def payload(one: Click) -> dict[str, Any]:
    return {
        "type": "block_actions",
        "user": {"id": one.user_id, "username": one.user_name},
        "channel": {"id": one.channel},
        "message": {"ts": one.message_ts},
        "actions": [{"action_id": one.button.action_id, "value": one.incident, "action_ts": one.action_ts}],
    }


@contextmanager
def stage(*incidents: Incident) -> Iterator[Stage]:
    kept = Kept()
    kept.open.set()
    set_up = Stage(kept, Incidents(incidents or (incident(),), kept), Silences(keeper=kept))
    set_up.desk.start()
    try:
        yield set_up
    finally:
        kept.open.set()
        set_up.desk.stop()


def test_of_two_people_at_once_one_acknowledges_and_the_other_hears_who() -> None:
    with stage() as at:
        at.clicked(click(user=ALICE), click(user=BOB, action_ts="1796018700.000200"))
        assert at.outcomes == [Outcome.ACKED, Outcome.ALREADY_ACKED]
        assert at.now.acked_by == ALICE.lower()
        assert [(user, "acknowledged by u0alice001" in text) for user, text in at.told] == [(BOB, True)]
        assert (at.kept.written, len(at.touched)) == (["acked by u0alice001"], 1)


@pytest.mark.parametrize("button", Button)
def test_the_same_click_again_changes_nothing_and_tells_nobody(button: Button) -> None:
    with stage() as at:
        at.clicked(click(button), click(button), click(button))
        assert at.outcomes[1:] == [Outcome.REPEATED] * 2
        assert len(at.kept.written) <= 2
        assert len(at.now.owed) <= 2


def test_a_silence_mutes_from_now_on_until_it_is_taken_back() -> None:
    with stage() as at:
        at.clicked(click(Button.SILENCE_1H))
        assert at.silences.silencing(queue().labels, LATER) == [at.now.silence_id]
        assert at.now.silenced_until == LATER + HOUR
        at.clicked(click(Button.UNSILENCE, user=BOB, action_ts="1796018800.000100"))
        assert at.outcomes == [Outcome.SILENCED, Outcome.UNSILENCED]
        assert at.silences.silencing(queue().labels, LATER) == []
        assert at.now.silence_id == at.now.silenced_by == ""
        assert len(at.touched) == 2


def test_a_longer_silence_leaves_one_that_is_in_force() -> None:
    with stage() as at:
        at.clicked(click(Button.SILENCE_1H), click(Button.SILENCE_4H, action_ts="1796018800.000100"))
        assert at.silences.silencing(queue().labels, LATER) == [at.now.silence_id]
        assert at.now.silenced_until == LATER + 4 * HOUR


def test_a_silence_that_somebody_ended_elsewhere_can_be_set_again() -> None:
    with stage() as at:
        at.clicked(click(Button.SILENCE_1H))
        at.silences.expire(at.now.silence_id, LATER)
        at.clicked(click(Button.SILENCE_1H, action_ts="1796018800.000100"))
        assert at.outcomes == [Outcome.SILENCED, Outcome.SILENCED]


def test_only_the_allowed_may_click() -> None:
    with stage() as at:
        at.desk.allowed_users = frozenset((BOB,))
        at.clicked(click(user=ALICE))
        assert (at.outcomes, at.now.acked_by, at.kept.written) == ([Outcome.NOT_ALLOWED], "", [])


@pytest.mark.parametrize(("found", "outcome"), [(incident(id="other"), Outcome.GONE), (resolved(), Outcome.OVER)])
def test_a_click_on_an_old_message_is_answered(found: Incident, outcome: Outcome) -> None:
    with stage(found) as at:
        at.clicked(click())
        assert at.outcomes == [outcome]
        assert len(at.told) == 1


def test_what_is_not_a_click_is_counted_and_done_with_at_once() -> None:
    with stage() as at:
        done = threading.Event()
        at.desk.take_in({"type": "block_actions", "actions": [None]}, "e", done.set)
        assert done.is_set()
        assert at.outcomes == [Outcome.FOREIGN]


def test_a_click_is_written_before_slack_hears_that_it_came_and_a_slow_disk_keeps_nobody_waiting() -> None:
    with stage() as at:
        at.kept.open.clear()
        done = threading.Event()
        at.desk.take_in(payload(click()), "e", done.set)
        assert not done.wait(0.2)
        assert at.kept.written == []
        at.kept.open.set()
        assert done.wait(60)
        assert at.kept.written == ["acked by u0alice001"]


def test_a_click_that_breaks_something_does_not_take_the_desk_with_it() -> None:
    class Broken(Incidents):
        def change(self, key: Key, how: Callable[[Incident | None], Incident]) -> Incident:
            raise OSError(key, how)

    with stage() as at:
        broken = Stage(at.kept, Broken([incident()]), at.silences)
        broken.desk.start()
        broken.clicked(click(), click(action_ts="1796018800.000100"))
        assert broken.outcomes == [Outcome.REFUSED] * 2
        broken.desk.stop()


def test_what_follows_from_a_click_and_breaks_does_not_take_the_desk_with_it() -> None:
    def broken(incident: Incident) -> None:
        raise OSError(incident.id)

    with stage() as at:
        at.desk._hooks = replace(at.desk._hooks, touched=broken)
        at.desk.take_in(payload(click()), "e", lambda: None)
        at.clicked(click(user=BOB, action_ts="1796018800.000100"))
        assert at.outcomes == [Outcome.ACKED, Outcome.ALREADY_ACKED]


def digest_of(*members: Incident) -> tuple[Incident, ...]:
    """Return a digest that stands, with the id that is clicked on, and its members."""
    told = [replace(one, id=f"m{n}", group_key=f"g{n}", digest="digest/1") for n, one in enumerate(members)]
    whole = incident(group_key="digest/1")
    return (replace(whole, told=replace(whole.told, group_key="digest/1", alerts=())), *told)


def test_whoever_takes_on_a_digest_takes_on_all_that_is_in_it() -> None:
    members = (
        incident(queue("a:1")),
        incident(queue("b:1"), ts=""),
        incident(queue("c:1"), acked_by="bob", acked_at=NOW),
    )
    with stage(*digest_of(*members, resolved())) as at:
        at.clicked(click())
        after = {one.id: one.acked_by for one in at.incidents.all()}
        assert after == {"abc123": "u0alice001", "m0": "u0alice001", "m1": "u0alice001", "m2": "bob", "m3": ""}
        # The digest, and the one member that has a message of its own and is shown otherwise now.
        assert [one.id for one in at.touched] == ["abc123", "m0"]


def test_a_digest_is_silenced_as_a_whole_and_by_nothing_more() -> None:
    with stage(*digest_of(incident(queue("a:1")), incident(queue("b:1")))) as at:
        at.clicked(click(Button.SILENCE_1H))
        (silence,) = at.silences.all(LATER)
        assert [str(matcher) for matcher in silence.matchers] == [
            'alertname="VLLMQueueLong"',
            'model_name="meta/llama-3-8b"',
            'instance=~"a:1|b:1"',
        ]
        assert {one.silence_id for one in at.incidents.all()} == {silence.id}
        at.clicked(click(Button.UNSILENCE, action_ts="2.0"))
        assert {one.silence_id for one in at.incidents.all()} == {""}


def test_a_longer_silence_of_its_own_outlives_that_of_the_digest_and_is_shown() -> None:
    own = {"silence_id": "own", "silenced_by": "bob", "silenced_until": LATER + 4 * HOUR}
    with stage(*digest_of(incident(queue("a:1"), **own), incident(queue("b:1")))) as at:
        for number, button in enumerate((Button.SILENCE_1H, Button.UNSILENCE)):
            at.clicked(click(button, action_ts=f"{number}.0"))
            found = at.incidents.find("m0")
            assert found is not None
            assert (found.silence_id, found.silenced_by, found.silenced_until) == ("own", "bob", LATER + 4 * HOUR)
        assert at.outcomes == [Outcome.SILENCED, Outcome.UNSILENCED]


def test_what_has_nothing_in_common_cannot_be_silenced_together() -> None:
    nameless = Alert(Labels.of(job="x"), EMPTY, NOW)
    with stage(*digest_of(incident(nameless), incident(queue("b:1")))) as at:
        at.clicked(click(Button.SILENCE_1H))
        assert at.outcomes == [Outcome.REFUSED]
        assert at.told == [(ALICE, "These alerts have nothing in common that a silence could match.")]
