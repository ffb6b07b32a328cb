"""What a button or a copied command silences: what the message is about, and nothing else."""

import shlex
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.dispatch.matchers import parse_matchers
from monitor.dispatch.notification import Notification
from monitor.model.labels import EMPTY, Labels
from monitor.notify.silencing import command, matchers_of, matchers_of_all
from tests.notify.samples import down, ended, note, queue

TOLD = replace(note(queue()), group_labels=Labels.of(alertname="VLLMQueueLong"))


def test_the_command_can_be_copied_and_silences_what_the_button_would() -> None:
    assert command(TOLD, "https://monitor.example.com") == (
        "vllm-monitor silence add alertname=VLLMQueueLong instance=10.0.0.1:8000 model_name=meta/llama-3-8b "
        "--duration 1h --comment 'from Slack' --url https://monitor.example.com"
    )
    assert "--url" not in command(TOLD)


@pytest.mark.parametrize(
    "told",
    [
        note(ended(queue())),
        replace(note(queue(alertname=""), down()), group_labels=EMPTY),
        note(queue(instance="a`b")),
        note(queue(instance="two  blanks")),
        note(queue(instance="x" * 600)),
    ],
    ids=["over", "nothing in common", "back-tick", "blanks", "too long"],
)
def test_what_cannot_be_copied_as_it_is_is_left_out(told: Notification) -> None:
    assert command(told) == ""


@given(st.text(st.sampled_from("aZ9 ~=!\"'\\$;|&<>*-"), min_size=1, max_size=12))
def test_the_command_says_to_the_letter_what_is_silenced(instance: str) -> None:
    told = note(queue(instance=instance))
    line = command(told)
    if line:
        words = shlex.split(line)
        read = [parse_matchers(word)[0] for word in words[3 : words.index("--duration")]]
        assert read == list(matchers_of(told))


def test_several_groups_are_silenced_by_what_all_of_them_have() -> None:
    alerts = [queue("a.b:1"), queue("c:1"), queue("c:1", alertname="VLLMKVCacheFull")]
    everything = matchers_of_all(alerts)
    assert [str(matcher) for matcher in everything] == [
        'alertname=~"VLLMKVCacheFull|VLLMQueueLong"',
        'model_name="meta/llama-3-8b"',
        r'instance=~"a\\.b:1|c:1"',
    ]
    for alert in alerts:
        assert all(matcher.accepts(alert.labels) for matcher in everything)
    for other in (queue("axb:1"), down("c:1"), queue("c:1", model_name="other")):
        assert not all(matcher.accepts(other.labels) for matcher in everything)


def test_what_only_some_of_them_have_is_not_asked_for() -> None:
    assert {matcher.name for matcher in matchers_of_all([queue("a:1"), down("a:1")])} == {"alertname", "instance"}
    assert matchers_of_all([]) == ()
