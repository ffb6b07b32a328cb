"""What of an Alertmanager's messages is news: a time line of messages in, what each integration is told out."""

from collections.abc import Sequence

import pytest

from monitor.dispatch.dispatcher import Delivery, Integration
from monitor.dispatch.notification import Reason
from monitor.dispatch.received import Message, Received, deliveries, group_key, heard, is_received, refresh
from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, SECOND, Duration, Instant
from monitor.model.labels import Labels

NOW: Instant = 1_796_018_705_000
BOT = Integration("oncall/slack[0]", send_resolved=True, edits=True)
PAGER = Integration("oncall/pagerduty[0]", send_resolved=True)
QUIET = Integration("oncall/webhook[0]", send_resolved=False)
WORDS = {
    Reason.FIRST: "first",
    Reason.NEW_ALERTS: "new",
    Reason.NEW_RESOLVED: "fewer",
    Reason.ALL_RESOLVED: "over",
    Reason.REPEAT: "again",
    Reason.REFRESH: "edit",
}


def alert(letter: str, at: Instant) -> Alert:
    """A capital letter fires, a small one is over."""
    labels = Labels.of(alertname="A", instance=letter.lower())
    return Alert(labels, Labels(), NOW - MINUTE, None if letter.isupper() else at - SECOND)


def said(letters: str, at: Instant, truncated: int = 0) -> Message:
    alerts = tuple(alert(letter, at) for letter in letters)
    return Message('{}:{alertname="A"}', Labels.of(alertname="A"), alerts, truncated=truncated)


def told(
    integration: Integration, messages: Sequence[tuple[Duration, str]], muted: str = "", truncated: int = 0
) -> list[str]:
    """Return for each message, so long after the first, what is told: a reason and the alerts, or "-"."""
    old: Received | None = None
    out = []
    for after, letters in messages:
        at = NOW + after
        new = heard(old, said(letters, at, truncated), "oncall", at, lambda labels: labels.value("instance") in muted)
        firing = [one for one in new.alerts if one.ends_at is None]
        silenced = bool(firing) and all(one.labels.value("instance") in muted for one in firing)
        found = tuple(deliveries(old, new, [integration], is_silenced=silenced))
        out.append(_shown(found))
        new = new.after(old, found)
        old = None if new.is_over else new
    return out


def _shown(found: Sequence[Delivery]) -> str:
    if not found:
        return "-"
    (one,) = found
    letters = sorted(
        name if alert.resolved(one.notification.now) else name.upper()
        for alert in one.notification.alerts
        for name in [alert.labels.value("instance")]
    )
    return f"{WORDS[one.notification.reason]} {''.join(letters)}"


FIRES = (0, "A")


@pytest.mark.parametrize(
    ("messages", "bot", "pager", "quiet"),
    [
        pytest.param(
            [FIRES, (1000, "A"), (4 * MINUTE, "A")],
            ["first A", "edit A", "edit A"],
            ["first A", "-", "-"],
            ["first A", "-", "-"],
            id="tried-again-is-no-news",
        ),
        pytest.param(
            [FIRES, (4 * 60 * MINUTE, "A")],
            ["first A", "again A"],
            ["first A", "again A"],
            ["first A", "again A"],
            id="repeated",
        ),
        pytest.param(
            [FIRES, (1000, "AB"), (2000, "AB")],
            ["first A", "new AB", "edit AB"],
            ["first A", "new AB", "-"],
            ["first A", "new AB", "-"],
            id="joined",
        ),
        pytest.param(
            [(0, "AB"), (1000, "Ab"), (2000, "A"), (3000, "a"), (4000, "a")],
            ["first AB", "fewer Ab", "edit A", "over a", "-"],
            ["first AB", "fewer Ab", "-", "over a", "-"],
            ["first AB", "-", "-", "-", "-"],
            id="over-one-by-one",
        ),
        pytest.param([(0, "a")], ["-"], ["-"], ["-"], id="the-end-of-what-nobody-heard-of"),
        pytest.param(
            [FIRES, (1000, "a"), (2000, "A")],
            ["first A", "over a", "first A"],
            ["first A", "over a", "first A"],
            ["first A", "-", "first A"],
            id="fires-anew",
        ),
    ],
)
def test_timeline(messages: list[tuple[Duration, str]], bot: list[str], pager: list[str], quiet: list[str]) -> None:
    assert told(BOT, messages) == bot
    assert told(PAGER, messages) == pager
    assert told(QUIET, messages) == quiet


@pytest.mark.parametrize(
    ("messages", "bot"),
    [
        pytest.param([FIRES], ["-"], id="begins"),
        pytest.param([(0, "AB"), (1000, "AB")], ["first B", "edit B"], id="begins-among-others"),
        pytest.param([(0, "B"), (1000, "A"), (2000, "A")], ["first B", "over b", "-"], id="alone-after-another"),
    ],
)
def test_what_begins_while_it_is_silenced_here_is_news_when_the_silence_has_ended(
    messages: list[tuple[Duration, str]], bot: list[str]
) -> None:
    assert told(BOT, messages, muted="a") == bot


def test_what_is_silenced_after_it_was_told_is_not_told_again_and_its_end_is() -> None:
    old = heard(None, said("A", NOW), "oncall", NOW, lambda _: False).after(None, ())
    later = NOW + 60 * MINUTE
    new = heard(old, said("A", later), "oncall", later, lambda _: True)
    assert _shown(tuple(deliveries(old, new, [PAGER], is_silenced=True))) == "-"
    assert _shown(tuple(deliveries(old, new, [BOT], is_silenced=True))) == "edit A"
    over = heard(new, said("a", later), "oncall", later, lambda _: True)
    assert _shown(tuple(deliveries(new, over, [PAGER], is_silenced=False))) == "over a"


def test_of_what_alertmanager_left_out_the_last_word_holds() -> None:
    old = heard(None, said("AB", NOW), "oncall", NOW, lambda _: False).after(None, ())
    new = heard(old, said("C", NOW + 1, truncated=3), "oncall", NOW + 1, lambda _: False)
    (delivery,) = deliveries(old, new, [BOT], is_silenced=False)
    assert _shown([delivery]) == "new ABC"
    assert delivery.notification.left_out == 1


def test_numbers_are_brought_up_to_date_where_messages_are_edited() -> None:
    group = heard(None, said("A", NOW), "oncall", NOW, lambda _: False).after(None, ())
    assert [one.notification.reason for one in refresh(group, [BOT, PAGER], NOW + 9 * MINUTE)] == [Reason.REFRESH]


def test_the_key_is_none_of_ours_and_names_its_source() -> None:
    message = said("A", NOW)
    assert group_key(message) == 'alertmanager:{}:{alertname="A"}'
    assert is_received(group_key(message))
    assert not is_received(message.group_key)


def test_an_end_for_want_of_words_is_the_end_of_all() -> None:
    group = heard(None, said("AB", NOW), "oncall", NOW, lambda _: False)
    over = group.without(group.entry.firing, NOW + MINUTE)
    assert over.is_over
    assert {one.ends_at for one in over.alerts} == {NOW + MINUTE}
    assert over.shifted(SECOND).alerts[0].ends_at == NOW + MINUTE + SECOND
