"""The messages as files, and that no input whatever makes one that Slack refuses or that rings somebody."""

import re
from dataclasses import asdict, replace
from math import nan
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from slack_sdk import WebClient

from monitor.dispatch.notification import Notification, Reason
from monitor.model.alert import Alert
from monitor.model.instant import HOUR, MINUTE, Instant
from monitor.model.labels import EMPTY, Labels
from monitor.notify.readings import Readings
from monitor.notify.slack.digest import assembled
from monitor.notify.slack.drawing import drawn
from monitor.notify.slack.escape import units
from monitor.notify.slack.incident import Incident, Policy, Reply, advance, moved_on
from monitor.notify.slack.overview import everything
from monitor.notify.slack.payload import message, plain
from monitor.notify.summary import summarise
from tests.notify.golden import assert_golden
from tests.notify.samples import NOW, down, ended, note, queue
from tests.slackstub import limits
from tests.slackstub.blocks import problems, texts, too_large
from tests.slackstub.markup import entities_are_whole, markup
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN

HOSTILE = (
    "<!channel> <!here> <!everyone> <!subteam^S0123456> <@U123ABC456> <#C123ABC456> <http://evil.example|x> "
    "`code` *b* _i_ & &amp; &lt;!channel&gt; @here :fire: \u202eevil\u202c zero\u200bwidth \x1b[31m\r\n> quote\0"
)
NOTES = {
    "firing": note(queue()),
    "resolved": note(ended(queue())),
    "advice": note(
        replace(
            queue(),
            annotations=Labels.of(
                summary="vLLM's queue has been long for minutes",
                description="More arrives on *a* than it can finish.\nTry first: add a replica, or --max-num-seqs 64.",
                runbook_url="https://example.com/runbooks",
                dashboard_url="http://localhost:3000/d/vllm",
            ),
        )
    ),
    "two_names": note(queue(), down()),
    "mixed": note(queue("10.0.0.1:8000"), ended(queue("10.0.0.2:8000"))),
    "300_instances": note(*(queue(f"10.0.{n // 100}.{n % 100}:8000", float(n)) for n in range(300))),
    "hostile": note(
        Alert(
            Labels.of(alertname=HOSTILE, instance=HOSTILE, model_name=HOSTILE, severity=HOSTILE, zone=HOSTILE),
            Labels.of(
                summary=HOSTILE,
                description=HOSTILE * 40,
                value=HOSTILE,
                threshold=HOSTILE,
                remedy=HOSTILE,
                runbook_url=f"https://example.com/{HOSTILE}",
                dashboard_url=f"javascript:{HOSTILE}",
            ),
            NOW,
        )
    ),
}


def payload(notification: Notification) -> dict[str, Any]:
    return asdict(message(summarise(notification)))


@pytest.mark.parametrize("name", list(NOTES))
def test_the_message_is_the_one_that_was_looked_at(name: str) -> None:
    assert_golden(f"slack/{name}.json", payload(NOTES[name]))


@pytest.mark.parametrize("name", list(NOTES))
def test_the_message_keeps_slacks_limits(name: str) -> None:
    assert_sound(payload(NOTES[name]))


def test_each_thing_is_said_once() -> None:
    """What the title says whole is not repeated, and what all instances share stands above them."""
    shown = root(INCIDENTS["incident_firing"])
    words = "\n".join(texts({"blocks": shown["blocks"], "attachments": shown["attachments"]}))
    assert [words.count(text) for text in ("vLLM's queue has been long", "limit 10 requests", "llama-3-8b")] == [
        1,
        1,
        1,
    ]


def test_what_a_message_says_of_the_time_stays_true() -> None:
    shown = root(INCIDENTS["incident_firing"])
    assert not re.search(r"\b[0-9]+[smh]\b", str(shown["attachments"]))
    assert str(shown["attachments"]).count("<!date^") == 2


def test_where_there_are_no_buttons_a_command_silences() -> None:
    summary, notes = drawn(INCIDENTS["incident_firing"], Known(), "https://monitor.example.com")
    shown = asdict(message(summary, notes))
    assert_sound(shown)
    (command,) = [text for text in texts(shown) if text.startswith("Silence it: `vllm-monitor silence add alertname=")]
    assert command.endswith("--url https://monitor.example.com`")


def test_a_link_leads_where_the_annotation_says() -> None:
    assert markup(payload(note(queue()))).links == ("https://example.com/runbooks#vllmqueuelong",)


class Known:
    """Knows one engine, as it is and as it was at its worst."""

    def at(self, labels: Labels, at: Instant) -> Readings:
        del labels, at
        return Readings(9.0, 42.0, 0.987, 0.0533, 512.0, 8.24)

    def worst(self, labels: Labels, since: Instant, until: Instant) -> Readings:
        del labels, since, until
        return Readings(16.0, 43.0, 1.0, 1.36, 996.0, 22.4)


def incident(*alerts: Alert, **more: Any) -> Incident:
    told = replace(note(*alerts), id="1")
    opened, _ = advance("oncall/slack[0]", None, told, Policy())
    return replace(opened, **more)


OVER = ended(queue())
MEMBERS = [
    incident(queue(f"10.0.{n // 100}.{n % 100}:8000", float(n), severity="critical" if n % 3 else "warning"))
    for n in range(300)
]
INCIDENTS = {
    "incident_firing": incident(queue("10.0.0.1:8000", 11.0), queue("10.0.0.2:8000", 42.0)),
    "incident_resolved": incident(OVER),
    "incident_flapping": incident(queue(), episodes=7, opened_at=NOW - HOUR),
    "incident_answered": incident(
        queue(),
        acked_by="Kim <!here>",
        acked_at=NOW - MINUTE,
        silenced_by="Kim",
        silenced_until=NOW + HOUR,
        earlier="https://example.slack.com/archives/C1/p1",
    ),
    "incident_hostile": incident(
        NOTES["hostile"].alerts[0], acked_by=HOSTILE, acked_at=NOW, peak=HOSTILE, earlier=f"https://e.example/{HOSTILE}"
    ),
    "incident_moved": moved_on(incident(queue(), ts="1.0"), NOW),
    "digest": assembled(incident(queue(), group_key="digest/1"), MEMBERS),
    "digest_models": assembled(
        incident(queue(), group_key="digest/1"),
        [
            incident(down()),
            incident(queue("a:1", model_name="qwen")),
            incident(queue("b:1")),
            incident(ended(queue("c:1"))),
        ],
    ),
}


def root(drawn_incident: Incident) -> dict[str, Any]:
    return asdict(message(*drawn(drawn_incident, Known())))


@pytest.mark.parametrize("name", list(INCIDENTS))
def test_the_message_of_an_incident_is_the_one_that_was_looked_at(name: str) -> None:
    assert_golden(f"slack/{name}.json", root(INCIDENTS[name]))


@pytest.mark.parametrize("name", list(INCIDENTS))
def test_the_message_of_an_incident_is_taken_by_slack(name: str) -> None:
    assert_sound(root(INCIDENTS[name]))
    with SlackStub() as stub:
        client = WebClient(token=TOKEN, base_url=stub.base_url, retry_handlers=[])
        posted = client.chat_postMessage(channel=CHANNEL, **root(INCIDENTS[name]))
        client.chat_update(channel=CHANNEL, ts=str(posted["ts"]), **root(INCIDENTS[name]))
        assert len(stub.messages) == 1


class Advised(Known):
    """Knows as well what follows from the numbers."""

    def at(self, labels: Labels, at: Instant) -> Readings:
        return replace(super().at(labels, at), advice=("9 such requests fit.", "--max-num-seqs 8 lets in what fits."))


def test_what_the_numbers_say_to_do_stands_below_what_to_try_first_while_it_fires() -> None:
    firing, over = INCIDENTS["incident_firing"], INCIDENTS["incident_resolved"]
    told = asdict(message(*drawn(firing, Advised())))
    shown = list(texts(told))
    assert_sound(told)
    said = "*By the numbers of* `10.0.0.2:8000`\n• 9 such requests fit.\n• `--max-num-seqs` 8 lets in what fits."
    # What it means, this, and the links.
    assert shown.index(said) == len(shown) - 2
    assert not any("By the" in text for text in texts(asdict(message(*drawn(over, Advised())))))
    one = list(texts(asdict(message(*drawn(incident(queue()), Advised())))))
    assert any(text.startswith("*By its numbers*\n• 9 such") for text in one)


PIECES = st.sampled_from(
    ["<!channel>", "<@U123ABC456>", "<", ">", "&", "|", "`", "\n", "😀", "\u202e", "\u200b", "\0", "\ud800", "a", "ω"]
)
TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(PIECES, max_size=30).map("".join),
    # As long as anybody may write it.
    st.builds(lambda piece, count: piece * count, PIECES, st.integers(1, 6_000)),
)
URLS = st.one_of(TEXTS, TEXTS.map(lambda text: f"https://example.com/{text}"))
ANNOTATIONS = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("summary", "description", "message", "value", "threshold", "remedy"), TEXTS),
        **dict.fromkeys(("runbook_url", "dashboard_url"), URLS),
    },
)
LABELS = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("alertname", "severity", "instance", "model_name", "job", "zone", "<!here>"), TEXTS)
)
INSTANTS = st.integers(0, NOW)
ALERTS = st.builds(
    lambda labels, annotations, starts, ends, active, value: Alert(
        Labels.of(labels), Labels.of(annotations), starts, ends, active, value
    ),
    LABELS,
    ANNOTATIONS,
    INSTANTS,
    st.none() | INSTANTS,
    st.none() | INSTANTS,
    st.just(nan) | st.floats(),
)
NOTIFICATIONS = st.lists(ALERTS, max_size=12).map(
    lambda alerts: Notification("r", "g", EMPTY, tuple(alerts), NOW, Reason.FIRST)
)


@given(notification=NOTIFICATIONS)
@example(notification=note(Alert(EMPTY, Labels.of(runbook_url="https://e.example/" + "&" * 1_000), NOW)))
@example(notification=note(*(queue(f"{'&' * 3_000}{n}", float(n)) for n in range(60))))
def test_nothing_makes_a_message_that_breaks_a_limit_or_rings_anybody(notification: Notification) -> None:
    assert_sound(payload(notification))
    assert_sound({"text": plain(summarise(notification))})


@given(first=NOTIFICATIONS, second=NOTIFICATIONS, person=TEXTS, url=URLS, episodes=st.integers(1, 10**6))
def test_nothing_makes_an_incident_that_breaks_a_limit_or_rings_anybody(
    first: Notification, second: Notification, person: str, url: str, episodes: int
) -> None:
    opened, _ = advance("slack", None, first, Policy())
    answered = replace(opened, ts="1.0", acked_by=person, acked_at=NOW, silenced_by=person, silenced_until=NOW + HOUR)
    later = replace(second, now=NOW + MINUTE, reason=Reason.REPEAT)
    moved, actions = advance("slack", replace(answered, earlier=url, episodes=episodes), later, Policy())
    assert_sound(root(moved))
    assert_sound(root(replace(answered, earlier=url)))
    for action in actions:
        if isinstance(action, Reply):
            assert_sound({"text": action.text})


@settings(max_examples=25)
@given(told=NOTIFICATIONS, person=TEXTS)
@example(told=note(*(queue(f"{'😀&' * 60}{n}", alertname=f"{'<' * 300}{n % 9}") for n in range(60))), person="")
def test_nothing_makes_a_digest_that_breaks_a_limit_or_rings_anybody(told: Notification, person: str) -> None:
    whole = incident(queue(), group_key="digest/1", acked_by=person, acked_at=NOW)
    whole = assembled(whole, [replace(whole, told=told)])
    assert_sound(root(whole))
    assert_sound({"text": everything(summarise(told))})


def assert_sound(sent: dict[str, Any]) -> None:
    assert sent["text"]
    assert units(sent["text"]) <= limits.UPDATE_TEXT
    assert problems(sent) == []
    assert not too_large(sent)
    assert sum(units(text) for text in texts(sent)) <= 9_500
    assert entities_are_whole(sent)
    found = markup(sent)
    assert found.mentions == ()
    assert all(link.startswith(("https://", "http://")) and not set(link) & set('<>| "\n') for link in found.links)
    assert not any("\u202e" in text or "\u200b" in text or "\0" in text for text in texts(sent))
