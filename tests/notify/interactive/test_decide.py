"""Who may do what to an incident, what becomes of it, and who is told."""

from dataclasses import replace

import pytest

from monitor.dispatch.silence import Silence
from monitor.model.instant import HOUR, MINUTE
from monitor.notify.interactive.click import Button
from monitor.notify.interactive.decide import Outcome, decide
from monitor.notify.interactive.escalation import Stage
from monitor.notify.silencing import matchers_of
from monitor.notify.slack.incident import Incident, Reply, UpdateRoot
from tests.notify.interactive.given import ALICE, BOB, click, incident, resolved
from tests.notify.samples import NOW, down, queue

LATER = NOW + 5 * MINUTE
SILENCE = Silence("s1", matchers_of(incident().told), NOW, NOW + HOUR, "bob", "from Slack")
SILENCED = incident(silenced_by="bob", silenced_until=NOW + HOUR, silence_id="s1")


@pytest.mark.parametrize(
    ("button", "found", "silence", "outcome", "told"),
    [
        (Button.ACK, incident(), None, Outcome.ACKED, ""),
        (Button.ACK, incident(acked_by="bob", acked_at=NOW), None, Outcome.ALREADY_ACKED, "acknowledged by bob"),
        (Button.ACK, resolved(), None, Outcome.OVER, "over already"),
        (Button.ACK, None, None, Outcome.GONE, "Nothing is known"),
        (Button.SILENCE_1H, incident(), None, Outcome.SILENCED, ""),
        (Button.SILENCE_1H, SILENCED, replace(SILENCE, ends_at=NOW + 2 * HOUR), Outcome.ALREADY_SILENCED, "by bob"),
        (
            Button.SILENCE_1H,
            SILENCED,
            replace(SILENCE, ends_at=LATER + 59 * MINUTE),
            Outcome.ALREADY_SILENCED,
            "by bob",
        ),
        (Button.SILENCE_1H, SILENCED, SILENCE, Outcome.SILENCED, ""),
        (Button.SILENCE_4H, SILENCED, SILENCE, Outcome.SILENCED, ""),
        (Button.SILENCE_1H, SILENCED, None, Outcome.SILENCED, ""),
        (Button.SILENCE_1H, resolved(), None, Outcome.OVER, "over already"),
        (Button.UNSILENCE, SILENCED, SILENCE, Outcome.UNSILENCED, ""),
        (Button.UNSILENCE, resolved(silence_id="s1"), SILENCE, Outcome.UNSILENCED, ""),
        (Button.UNSILENCE, incident(), None, Outcome.NOT_SILENCED, "not silenced"),
    ],
)
def test_what_becomes_of_a_click(
    button: Button, found: Incident | None, silence: Silence | None, outcome: Outcome, told: str
) -> None:
    verdict = decide(click(button), found, silence, LATER, ())
    assert verdict.outcome is outcome
    assert told in verdict.tell
    assert bool(verdict.tell) is not outcome.changes
    assert (verdict.incident is not None) is outcome.changes


def test_an_acknowledged_incident_says_who_and_when_and_owes_message_and_thread() -> None:
    acked = decide(click(), incident(), None, LATER, ()).incident
    assert acked is not None
    assert (acked.acked_by, acked.acked_at) == (ALICE.lower(), LATER)
    root, reply = acked.owed
    assert isinstance(root, UpdateRoot)
    assert isinstance(reply, Reply)
    assert "Acknowledged* by u0alice001" in reply.text
    assert not reply.broadcast


def test_a_silence_matches_the_group_and_what_its_alerts_share() -> None:
    verdict = decide(click(Button.SILENCE_4H), incident(), None, LATER, ())
    silence = verdict.silence
    assert silence is not None
    assert [str(matcher) for matcher in silence.matchers] == [
        'alertname="VLLMQueueLong"',
        'instance="10.0.0.1:8000"',
        'model_name="meta/llama-3-8b"',
    ]
    assert (silence.starts_at, silence.ends_at) == (LATER, LATER + 4 * HOUR)
    assert (silence.created_by, silence.comment) == ("u0alice001 (U0ALICE001)", "from Slack")
    assert silence.matches(queue().labels)
    assert not silence.matches(queue("10.0.0.2:8000").labels)
    assert not silence.matches(down().labels)


def test_a_silence_of_several_instances_matches_all_of_them() -> None:
    silence = decide(click(Button.SILENCE_1H), incident(queue(), queue("b:1")), None, LATER, ()).silence
    assert silence is not None
    assert silence.matches(queue("c:1").labels)


def test_a_longer_silence_takes_the_place_of_a_shorter_one() -> None:
    verdict = decide(click(Button.SILENCE_4H), SILENCED, SILENCE, LATER, ())
    assert verdict.expires == "s1"
    assert verdict.incident is not None
    assert (verdict.incident.silenced_by, verdict.incident.silenced_until) == ("u0alice001", LATER + 4 * HOUR)


@pytest.mark.parametrize(
    ("before", "after"),
    [(Stage.NOT, Stage.NOT), (Stage.MENTIONED, Stage.NOT), (Stage.PASSED_ON, Stage.PASSED_ON)],
)
def test_whoever_ends_a_silence_has_seen_it_and_is_rung_for_no_sooner_than_of_a_new_one(
    before: Stage, after: Stage
) -> None:
    silenced = replace(SILENCED, escalated=before)
    ended = decide(click(Button.UNSILENCE), silenced, SILENCE, LATER, ()).incident
    assert ended is not None
    assert (ended.alarmed_at, ended.escalated) == (LATER, after)


@pytest.mark.parametrize("button", Button)
def test_who_is_not_allowed_is_told_so_and_changes_nothing(button: Button) -> None:
    verdict = decide(click(button, user=BOB), SILENCED, SILENCE, LATER, {ALICE})
    assert (verdict.outcome, verdict.incident, verdict.silence) == (Outcome.NOT_ALLOWED, None, None)
    assert decide(click(button, user=ALICE), SILENCED, SILENCE, LATER, {ALICE}).outcome is not Outcome.NOT_ALLOWED


def test_a_hostile_name_mentions_nobody() -> None:
    named = replace(click(), user_name="<!channel> & co")
    acked = decide(named, incident(), None, LATER, ()).incident
    assert acked is not None
    loser = decide(click(), acked, None, LATER, ())
    texts = [loser.tell, *(reply.text for reply in acked.owed if isinstance(reply, Reply))]
    assert all("&lt;!channel&gt; &amp; co" in text for text in texts)
