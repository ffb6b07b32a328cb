"""What an incident looks like to Slack from its first word to its last: what each request says, and how many."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from monitor.dispatch.dispatcher import Dispatcher, Integration
from monitor.dispatch.route import Route
from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, SECOND, Instant
from monitor.model.labels import Labels
from monitor.notify.readings import Change
from monitor.notify.slack.incident import Policy
from tests.notify.samples import NOW, ended, queue
from tests.notify.slack.bots import NAME
from tests.notify.slack.channels import Line
from tests.notify.slack.test_payload import HOSTILE
from tests.slackstub import limits
from tests.slackstub.blocks import texts
from tests.slackstub.clicks import button_of
from tests.slackstub.judge import assert_invariants
from tests.slackstub.markup import markup
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL

ACK = "vllm_monitor_ack"


@pytest.fixture
def stub() -> Iterator[SlackStub]:
    with SlackStub() as running:
        yield running
        assert_invariants(running, allowed_links=r"https://(example\.com|stub\.slack\.com)/.*")


@pytest.fixture
def line(stub: SlackStub) -> Line:
    return Line(stub, policy=Policy(has_buttons=True))


def annotated(alert: Alert, **more: str) -> Alert:
    return replace(alert, annotations=Labels.of({**alert.annotations.as_dict(), **more}))


def flapping(line: Line, times: int, apart: int) -> None:
    """Let an alert fire and end so often, each time for half of `apart`."""
    for _ in range(times):
        fires = replace(queue("a:1"), starts_at=line.clock.at, active_at=line.clock.at)
        line.tell(fires)
        line.pass_time(apart // 2)
        line.tell(ended(fires, line.clock.at))
        line.pass_time(apart // 2)


def test_one_alert_is_one_post_that_says_everything(stub: SlackStub, line: Line) -> None:
    told = line.tell(
        annotated(
            queue("a:1"),
            summary="The queue is > 10 & grows",
            dashboard_url="https://example.com/d/1",
            silence_url="https://example.com/silence",
        )
    )
    line.pass_time(MINUTE)
    (request,) = stub.requests
    sent = request.payload
    assert (request.name, sent["channel"]) == ("chat.postMessage", CHANNEL)
    assert sent["metadata"]["event_payload"]["id"] == told.id
    assert (sent["unfurl_links"], sent["unfurl_media"]) == (False, False)
    (header,) = [block for block in sent["blocks"] if block["type"] == "header"]
    assert len(header["text"]["text"]) <= limits.HEADER_TEXT
    for word in ("WARNING", "llama-3-8b", "42 requests waiting", "10 requests", "15m", "&gt; 10 &amp; grows"):
        assert word in sent["text"]
    assert set(markup(sent).links) == {
        "https://example.com/runbooks#vllmqueuelong",
        "https://example.com/d/1",
        "https://example.com/silence",
    }


def test_thirty_values_in_a_minute_are_a_dozen_edits_of_one_message_at_most(stub: SlackStub, line: Line) -> None:
    line.tell(queue("a:1", 1.0))
    line.pass_time()
    for value in range(30):
        line.tell(queue("a:1", float(value)))
        line.pass_time(2 * SECOND)
    assert 6 <= line.calls.count("update") <= 12
    line.pass_time(5 * SECOND)
    (root,) = stub.messages
    assert {request.payload["ts"] for request in stub.requests if request.name == "chat.update"} == {root.ts}
    assert "29 requests waiting" in root.text


def test_an_end_turns_the_same_message_green_and_takes_its_buttons(stub: SlackStub, line: Line) -> None:
    line.tell(queue("a:1", 42.0))
    line.pass_time(MINUTE)
    (before,) = stub.messages
    assert button_of(before, ACK) is not None
    line.tell(queue("a:1", 97.0))
    line.pass_time(MINUTE)
    line.tell(ended(queue("a:1", 3.0), line.clock.at))
    line.pass_time(MINUTE)
    (root,), (reply,) = line.roots, line.replies
    assert (root.ts, root.payload["attachments"][0]["color"]) == (before.ts, "#2eb67d")
    shown = " ".join(texts(root.payload))
    assert "lasted 17m" in shown
    assert "97 requests waiting" in shown
    assert not any(button_of(root, f"vllm_monitor_{name}") for name in ("ack", "silence_1h", "silence_4h"))
    assert reply.thread_ts == root.ts


def test_what_hostile_labels_say_rings_nobody_and_leads_nowhere(stub: SlackStub, line: Line) -> None:
    hostile = HOSTILE + "x" * 5_000
    evil = Alert(
        Labels.of(alertname=hostile, instance=hostile, model_name=hostile, severity="critical", zone=hostile),
        Labels.of(
            summary=hostile,
            description=hostile + "\nTry first: " + hostile,
            value=hostile,
            threshold=hostile,
            runbook_url=f"https://example.com/{hostile}",
            dashboard_url=f"javascript:{hostile}",
        ),
        NOW,
    )
    line.tell(evil)
    line.pass_time(MINUTE)
    line.tell(evil, *(replace(evil, labels=evil.labels.with_({"zone": f"{n}{hostile}"})) for n in range(8)))
    line.pass_time(MINUTE)
    line.tell(ended(evil, line.clock.at))
    line.pass_time(MINUTE)
    # In a digest as well.
    for number in range(12):
        line.tell(replace(evil, labels=evil.labels.with_({"zone": f"{number}{hostile}"})), group=f"{number}")
    line.pass_time(3 * MINUTE)
    assert len(line.roots) == 2
    assert len(line.replies) > 10
    for message in stub.messages:
        assert markup(message.payload).mentions == ()
        assert all(len(text) <= limits.SECTION_TEXT or text == message.text for text in texts(message.payload))


def test_sixty_alerts_with_long_labels_are_a_few_lines_and_a_list_in_the_thread(line: Line) -> None:
    alerts = [queue(f"host-{n:02}-{'x' * 300}", float(n), zone="z" * 300) for n in range(60)]
    line.tell(*alerts)
    line.pass_time(MINUTE)
    (root,), (whole,) = line.roots, line.replies
    assert sum(map(len, texts(root.payload))) <= 9_500
    assert "+55 more" in " ".join(texts(root.payload))
    assert "host-59" in " ".join(texts(root.payload))
    assert whole.text.startswith("*All 60*, the worst first")
    assert whole.payload["reply_broadcast"] is False
    line.tell(*alerts[:-1], ended(alerts[-1], line.clock.at))
    line.pass_time(MINUTE)
    assert len([one for one in line.replies if "*All" in one.text]) == 1


def test_the_list_in_the_thread_names_every_alert_that_the_message_does_not(line: Line) -> None:
    line.tell(*(queue(f"host-{n:02}:8000", float(n)) for n in range(30)))
    line.pass_time(MINUTE)
    (whole,) = line.replies
    assert all(f"host-{n:02}:8000" in whole.text for n in range(30))


def test_five_alerts_need_no_list(line: Line) -> None:
    line.tell(*(queue(f"host-{n}:8000", float(n)) for n in range(5)))
    line.pass_time(MINUTE)
    assert line.replies == []


def test_what_flaps_is_one_message_that_is_over_when_it_has_been_for_a_while(
    line: Line,
) -> None:
    flapping(line, 20, 30 * SECOND)
    (root,) = line.roots
    assert root.edits <= 40
    # The third time and all that follow.
    assert root.text.startswith("🟠")
    line.pass_time(2 * MINUTE)
    (root,) = line.roots
    assert root.text.startswith("✅")
    assert "fired 20 times" in " ".join(texts(root.payload))
    assert [reply.text for reply in line.replies if "Resolved" in reply.text][2:] == [line.replies[-1].text]
    assert not any(reply.payload["reply_broadcast"] for reply in line.replies)


def test_what_ends_for_the_first_time_is_over_at_once(line: Line) -> None:
    flapping(line, 1, 40 * SECOND)
    assert line.roots[0].text.startswith("✅")


class Upgraded:
    """Knows of an upgrade."""

    def before(self, labels: Labels, at: Instant) -> Sequence[Change]:
        del labels
        return [Change(at - 3 * MINUTE, "version 0.10.0 → 0.11.0"), Change(at - 4 * MINUTE, f"model {HOSTILE}")]


def test_a_change_of_version_three_minutes_before_stands_in_the_message_until_it_is_over(line: Line) -> None:
    object.__setattr__(line.workspace, "changes", Upgraded())
    line.tell(queue("a:1"))
    line.pass_time(MINUTE)
    assert "changed 3m before: version 0.10.0 → 0.11.0" in json.dumps(line.roots[0].payload, ensure_ascii=False)
    line.tell(ended(queue("a:1"), line.clock.at))
    line.pass_time(MINUTE)
    assert "changed" not in json.dumps(line.roots[0].payload)


def test_a_payload_of_the_bot_is_no_larger_than_slack_takes_whatever_is_done_to_it(line: Line) -> None:
    """Buttons, notes and a change come on top of what was measured."""
    object.__setattr__(line.workspace, "changes", Upgraded())
    kinds: list[dict[str, Any]] = [{"alertname": f"Alert{kind}" + "&" * 200} for kind in range(8)]
    line.tell(*(queue(f"{'&' * 300}{n}", float(n), **kinds[n % 8]) for n in range(60)))
    line.pass_time(MINUTE)
    assert line.calls.count("postMessage") == 2


def test_what_ends_before_anybody_was_told_of_it_is_not_told(stub: SlackStub, line: Line) -> None:
    route = Route("oncall", group_wait=30 * SECOND)
    dispatcher = Dispatcher(route, {"oncall": [Integration(NAME, send_resolved=True, edits=True)]})
    fires = replace(queue("a:1"), starts_at=line.clock.at)
    dispatcher.insert([fires], line.clock.at)
    dispatcher.insert([ended(fires, line.clock.at + SECOND)], line.clock.at + SECOND)
    line.clock.at += MINUTE
    for delivery in dispatcher.due(line.clock.at).deliveries:
        line.outbox.put(delivery, line.clock.at)
    line.pass_time(MINUTE)
    assert stub.requests == []


def test_three_hundred_alerts_in_ten_seconds_are_one_digest_the_worst_first(stub: SlackStub, line: Line) -> None:
    for number in range(300):
        severity = "critical" if number % 10 == 9 else "warning"
        line.tell(queue(f"10.0.{number // 100}.{number % 100}:8000", severity=severity), group=f"{number}")
        if number % 30 == 29:
            line.pass_time(SECOND)
    assert len(line.roots) <= 3
    line.pass_time(5 * SECOND)
    (digest,) = line.roots
    assert digest.text.startswith("🔴 CRITICAL: 300 alerts at once")
    assert not [error for attempt in line.attempts if (error := attempt.error)]
    assert stub.workspace.rates.violations == []


GROUP = "<!subteam^S0ONCALL01>"


def test_what_is_critical_rings_until_somebody_has_it_and_the_rest_does_not() -> None:
    critical = replace(queue("a:1", severity="critical"), starts_at=NOW)
    with SlackStub() as stub:
        line = Line(stub, policy=Policy(has_buttons=True, mention=GROUP))
        line.tell(queue("w:1"), group="warning")
        line.tell(critical)
        line.pass_time(MINUTE)
        line.tell(critical, replace(critical, labels=critical.labels.with_({"instance": "b:1"})))
        line.pass_time(MINUTE)
        rings = [GROUP in str(message.payload) for message in stub.messages]
        assert [(message.text[0], ring) for message, ring in zip(stub.messages, rings, strict=True)] == [
            ("🔴", True),
            ("🟠", False),
            ("🔴", True),
        ]
        mine = line.roots[0]
        assert [block["type"] for block in mine.payload["blocks"]] == ["header", "section"]
        line.workspace.incidents.put(replace(line.incident(), acked_by="kim", acked_at=line.clock.at))
        line.tell(replace(critical, value=50.0))
        line.pass_time(MINUTE)
        assert GROUP not in str(line.roots[0].payload)
        assert_invariants(stub, allowed_mentions=[GROUP.strip("<>")])


def test_a_digest_rings_once() -> None:
    with SlackStub() as stub:
        line = Line(stub, policy=Policy(mention=GROUP, digest_above=3))
        for number in range(6):
            line.tell(queue(f"{number}:1", severity="critical"), group=f"{number}")
        line.pass_time(5 * MINUTE)
        assert len(line.replies) >= 6
        assert [GROUP in str(message.payload) for message in stub.messages].count(True) == 1
        assert_invariants(stub, allowed_mentions=[GROUP.strip("<>")])
