"""Silences: from one word about them to the next, and what they mute."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import pytest

from monitor.dispatch.matchers import parse_matchers
from monitor.dispatch.silence import (
    RETENTION,
    Silence,
    SilenceError,
    SilenceNotFoundError,
    Silences,
    SilenceState,
)
from monitor.model.instant import SECOND
from monitor.model.labels import Labels

NEW = Silence("", parse_matchers("a=b"), 0, 100 * SECOND, "me", "why")


@dataclass
class Keeper:
    kept: dict[str, Silence] = field(default_factory=dict)

    def keep(self, silence: Silence) -> None:
        self.kept[silence.id] = silence

    def drop(self, silence_id: str) -> None:
        del self.kept[silence_id]


def numbers() -> Callable[[], str]:
    ids = count(1)
    return lambda: str(next(ids))


def silences(keeper: Keeper | None = None) -> Silences:
    return Silences(keeper=keeper, new_id=numbers())


def states(known: Silences, now: int) -> dict[str, str]:
    return {one.id: one.state(now).value for one in known.all(now)}


def test_the_state_is_read_off_the_dates() -> None:
    silence = replace(NEW, starts_at=10, ends_at=20)
    assert [silence.state(at) for at in (9, 10, 19, 20)] == [
        SilenceState.PENDING,
        SilenceState.ACTIVE,
        SilenceState.ACTIVE,
        SilenceState.EXPIRED,
    ]


def test_only_an_active_silence_whose_matchers_all_match_mutes() -> None:
    known = silences()
    known.set(replace(NEW, matchers=parse_matchers("a=b, c=~d.*"), starts_at=10 * SECOND), 0)
    alert = Labels.of(a="b", c="dd")
    assert [known.silencing(alert, at * SECOND) for at in (9, 10, 99, 100)] == [[], ["1"], ["1"], []]
    assert known.silencing(Labels.of(a="b"), 10 * SECOND) == []


def test_a_new_silence_does_not_begin_in_the_past() -> None:
    assert silences().set(replace(NEW, starts_at=5), 30).starts_at == 30


@pytest.mark.parametrize(
    ("old", "change", "now", "after"),
    [
        pytest.param({}, {"ends_at": 200 * SECOND}, 50, {"1": "active"}, id="active-longer"),
        pytest.param({}, {"comment": "other"}, 50, {"1": "active"}, id="active-comment"),
        pytest.param({}, {"starts_at": 999}, 50, {"1": "active"}, id="active-start-in-the-same-second"),
        pytest.param({}, {"starts_at": SECOND}, 50, {"1": "expired", "2": "active"}, id="active-other-start"),
        pytest.param({}, {"matchers": parse_matchers("a=c")}, 50, {"1": "expired", "2": "active"}, id="other-matchers"),
        pytest.param({"starts_at": 90 * SECOND}, {"starts_at": 60 * SECOND}, 50, {"1": "pending"}, id="pending-sooner"),
        pytest.param(
            {"starts_at": 90 * SECOND}, {"starts_at": 0}, 50, {"1": "expired", "2": "active"}, id="pending-to-the-past"
        ),
        pytest.param({"ends_at": 20 * SECOND}, {}, 50, {"1": "expired", "2": "active"}, id="expired-is-not-revived"),
    ],
)
def test_a_change_that_would_rewrite_the_past_is_another_silence(
    old: dict[str, Any], change: dict[str, Any], now: int, after: dict[str, str]
) -> None:
    known = silences()
    known.set(replace(NEW, **old), 0)
    known.set(replace(NEW, id="1", **change), now * SECOND)
    assert states(known, now * SECOND) == after


def test_what_was_pending_when_it_was_expired_never_was() -> None:
    known = silences()
    known.set(replace(NEW, starts_at=60 * SECOND), 0)
    known.expire("1", 30 * SECOND)
    silence = known.get("1")
    assert silence is not None
    assert (silence.starts_at, silence.ends_at) == (30 * SECOND, 30 * SECOND)


def test_expiring_twice_changes_nothing() -> None:
    known = silences()
    known.set(NEW, 0)
    known.expire("1", 30)
    known.expire("1", 40)
    assert [one.ends_at for one in known.all(50)] == [30]


def test_an_unknown_id_is_an_error() -> None:
    known = silences()
    with pytest.raises(SilenceNotFoundError):
        known.expire("1", 0)
    with pytest.raises(SilenceNotFoundError):
        known.set(replace(NEW, id="1"), 0)


@pytest.mark.parametrize(
    ("matchers", "why"),
    [
        ("", "at least one matcher required"),
        ('a=""', "must not match the empty string"),
        ("a=~.*, b=~c*", "must not match the empty string"),
        ("a=~.+", "it would match every alert"),
        ('a!=""', "it would match every alert"),
        ('a!~"", b=~.*', "it would match every alert"),
    ],
)
def test_a_silence_that_mutes_everything_is_refused(matchers: str, why: str) -> None:
    with pytest.raises(SilenceError, match=why):
        silences().set(replace(NEW, matchers=parse_matchers(matchers)), 0)


@pytest.mark.parametrize("matchers", ["a=~.+, b=c", "a!=b", "a!~b|c", "a=~b.+", "a=~[a-z]+"])
def test_a_silence_that_leaves_something_is_taken(matchers: str) -> None:
    assert silences().set(replace(NEW, matchers=parse_matchers(matchers)), 0).id == "1"


def test_the_keeper_hears_of_every_word_and_a_later_life_begins_with_them() -> None:
    keeper = Keeper()
    known = silences(keeper)
    known.set(NEW, 0)
    known.set(replace(NEW, id="1", matchers=parse_matchers("c=d")), 50)
    assert states(Silences(keeper.kept.values()), 60) == {"1": "expired", "2": "active"}


def test_what_expired_long_ago_is_forgotten_and_dropped_by_the_next_word() -> None:
    keeper = Keeper()
    known = silences(keeper)
    known.set(NEW, 0)
    later = NEW.ends_at + RETENTION
    assert len(known.all(later - 1)) == 1
    assert known.all(later) == []
    known.set(replace(NEW, ends_at=2 * later), later)
    assert list(keeper.kept) == ["2"]
