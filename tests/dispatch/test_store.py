"""The newest word of an alert, and what the words before it knew better."""

from dataclasses import replace

import pytest

from monitor.dispatch.store import AlertStore
from monitor.model.alert import Alert
from monitor.model.labels import EMPTY, Labels

LABELS = Labels.of(alertname="Down")
NOW = 100


def word(starts_at: int, ends_at: int | None = None) -> Alert:
    return Alert(LABELS, EMPTY, starts_at, ends_at)


@pytest.mark.parametrize(
    ("old", "timeout", "new", "merged"),
    [
        pytest.param((10, 200), False, (50, 300), (10, 300), id="the-earliest-start-and-the-later-end"),
        pytest.param((10, 300), False, (50, 200), (10, 300), id="an-earlier-end-does-not-count"),
        pytest.param((10, 300), True, (50, 200), (10, 200), id="unless-the-later-one-was-but-a-timeout"),
        pytest.param((10, None), False, (50, 200), (10, None), id="no-end-is-the-latest"),
        pytest.param((10, 300), False, (10, 90), (10, 90), id="over-is-over"),
        pytest.param((10, 40), False, (50, 200), (50, 200), id="activities-that-do-not-touch-are-two"),
    ],
)
def test_words_about_the_same_activity_are_merged(
    old: tuple[int, int | None], new: tuple[int, int | None], merged: tuple[int, int | None], *, timeout: bool
) -> None:
    store = AlertStore()
    store.put(word(*old), 20, timeout=timeout)
    after = store.put(word(*new), NOW)
    assert (after.starts_at, after.ends_at) == merged


def test_an_alert_is_forgotten_when_it_is_over_or_its_time_ran_out() -> None:
    store = AlertStore()
    store.put(word(0, 150), NOW)
    assert [store.firing(at) != [] for at in (NOW, 149, 150)] == [True, True, False]
    store.expire(150)
    assert store.get(LABELS) is None
    store.put(word(0), NOW)
    store.put(word(0, 99), NOW)
    assert store.get(LABELS) is None


def test_a_clock_that_is_set_moves_everything() -> None:
    store = AlertStore()
    store.put(replace(word(20, 150), active_at=10), NOW, timeout=True)
    store.shift(1_000)
    stored = store.get(LABELS)
    assert stored is not None
    alert = stored.alert
    assert (alert.active_at, alert.starts_at, alert.ends_at, stored.updated_at) == (1_010, 1_020, 1_150, 1_100)
