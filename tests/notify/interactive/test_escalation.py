"""What happens when nobody answers, on a time line: one letter every five minutes."""

from dataclasses import replace

import pytest

from monitor.dispatch.silence import Silence
from monitor.model.instant import HOUR, MINUTE
from monitor.model.matcher import equal
from monitor.notify.interactive.escalation import Escalation, Stage, due, first_of, mention, ringing
from monitor.notify.silencing import matchers_of
from monitor.notify.slack.incident import Incident, Reply, UpdateRoot
from tests.notify.interactive.given import incident, resolved
from tests.notify.samples import NOW, down, queue

ESCALATION = Escalation(10 * MINUTE, mention="S0ONCALL01", receiver="second line")
SILENCE = Silence("s1", matchers_of(incident().told), NOW, NOW + HOUR, "bob", "from Slack")


def timeline(escalation: Escalation, start: Incident, silence: Silence | None = None, steps: int = 6) -> str:
    """Return what was due: m for a mention, p for passing on, r for telling the receiver the end, u for an update."""
    line, current = "", start
    for number in range(steps):
        step = due(current, silence, NOW + number * 5 * MINUTE, escalation)
        if step is None:
            line += "."
            continue
        if step.passes_on:
            line += "p" if step.incident.is_open else "r"
        else:
            line += "m" if step.rings else "u" if UpdateRoot() in step.incident.owed else "-"
        current = step.incident
    return line


@pytest.mark.parametrize(
    ("start", "escalation", "silence", "expected"),
    [
        pytest.param(incident(), ESCALATION, None, "..m.p.", id="mention-then-receiver"),
        pytest.param(incident(), Escalation(10 * MINUTE, mention="here"), None, "..m...", id="mention-alone"),
        pytest.param(incident(), Escalation(10 * MINUTE, receiver="b"), None, "..-.p.", id="receiver-alone"),
        pytest.param(incident(acked_by="bob", acked_at=NOW), ESCALATION, None, "......", id="acked"),
        pytest.param(resolved(), ESCALATION, None, "......", id="resolved"),
        pytest.param(incident(silence_id="s1"), ESCALATION, SILENCE, "......", id="silenced"),
        pytest.param(incident(silence_id="s1"), ESCALATION, None, "u.m.p.", id="its-silence-has-ended"),
        pytest.param(
            incident(silence_id="s1", escalated=Stage.MENTIONED), ESCALATION, None, "u.m.p.", id="it-begins-anew"
        ),
        pytest.param(
            incident(silence_id="s1", escalated=Stage.PASSED_ON), ESCALATION, None, "u.....", id="the-receiver-knows"
        ),
        pytest.param(incident(escalated=Stage.MENTIONED), ESCALATION, None, "....p.", id="after-a-restart"),
        pytest.param(incident(escalated=Stage.PASSED_ON), ESCALATION, None, "......", id="all-is-done"),
        pytest.param(resolved(escalated=Stage.PASSED_ON), ESCALATION, None, "r.....", id="the-receiver-hears-the-end"),
    ],
)
def test_timeline(start: Incident, escalation: Escalation, silence: Silence | None, expected: str) -> None:
    assert timeline(escalation, start, silence) == expected


def test_only_what_matches_is_escalated() -> None:
    critical = Escalation(MINUTE, mention="here", matchers=(equal("severity", "critical"),))
    assert "m" not in timeline(critical, incident(queue()))
    assert "m" in timeline(critical, incident(queue(), down()))


def test_what_the_next_receiver_was_told_goes_no_further() -> None:
    second = incident()
    second = replace(second, told=replace(second.told, receiver="second line"))
    assert timeline(ESCALATION, second) == "......"


def test_without_escalation_a_silence_that_ended_is_noticed_all_the_same() -> None:
    step = due(incident(silence_id="s1", silenced_by="bob"), None, NOW, None)
    assert step is not None
    assert (step.incident.silence_id, step.incident.silenced_by) == ("", "")


def test_the_mention_rings_for_whom_the_configuration_names() -> None:
    (reply,) = ringing(incident(), 0, NOW + 12 * MINUTE, ESCALATION).owed
    text = "<!subteam^S0ONCALL01> not acknowledged for 12m"
    assert reply == Reply(f"abc123/escalate/{NOW}", text, broadcast=True, calls=True)


def test_one_mention_stands_for_many_in_the_thread_of_the_worst() -> None:
    worst = incident(down(), group_key="b", alarmed_at=NOW + MINUTE)
    assert first_of([incident(group_key="a"), worst, incident(group_key="c")]) is worst
    texts = [ringing(worst, others, NOW + 12 * MINUTE, ESCALATION).owed[0] for others in (1, 7)]
    endings = [text.text.rpartition("for ")[2] for text in texts if isinstance(text, Reply)]
    assert endings == ["11m, and 1 other incident", "11m, and 7 other incidents"]


@pytest.mark.parametrize(
    ("written", "rings"),
    [
        ("U0ALICE001", "<@U0ALICE001>"),
        ("W0ALICE001", "<@W0ALICE001>"),
        ("S0ONCALL01", "<!subteam^S0ONCALL01>"),
        ("here", "<!here>"),
        ("channel", "<!channel>"),
    ],
)
def test_a_mention(written: str, rings: str) -> None:
    assert mention(written) == rings


@pytest.mark.parametrize("written", ["everyone", "@here", "U0ALICE001>", "alice", "S1", "here\n", "<!here>", ""])
def test_what_cannot_be_mentioned(written: str) -> None:
    with pytest.raises(ValueError, match="not a user"):
        mention(written)
