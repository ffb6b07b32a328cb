"""One person is told once; a Slack that fails or hangs is counted, and holds nobody up."""

import threading
from collections.abc import Iterator

import pytest

from monitor.clock import monotonic_seconds
from monitor.model.instant import MINUTE
from monitor.notify.interactive.whisper import Whisper, Whisperer
from monitor.notify.secret import Secret
from monitor.notify.slack.web_api import WebApi
from tests.slackstub.faults import Answer, Hang
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN
from tests.waiting import until


@pytest.fixture
def stub() -> Iterator[SlackStub]:
    with SlackStub() as slack:
        yield slack


def whisperer(stub: SlackStub, failed: list[str]) -> Whisperer:
    # More patient than any busy machine is slow.
    found = Whisperer({"bot": WebApi(Secret(TOKEN), stub.base_url, timeout=2 * MINUTE)}, failed.append)
    found.start()
    return found


def test_what_fails_is_counted_and_the_next_one_is_told(stub: SlackStub) -> None:
    failed: list[str] = []
    stub.fail_next(Answer(500), method="chat.postEphemeral")
    telling = whisperer(stub, failed)
    for text in ("lost", "told"):
        telling.tell(Whisper("bot", CHANNEL, "U0ALICE001", text))
    # Of an incident that nobody knows any more, any bot tells.
    telling.tell(Whisper("", CHANNEL, "U0BOB00001", "gone"))
    until(lambda: len(stub.workspace.whispers) == 2, within=5)
    assert [(told.user, told.text) for told in stub.workspace.whispers] == [
        ("U0ALICE001", "told"),
        ("U0BOB00001", "gone"),
    ]
    assert failed == ["ambiguous"]
    telling.stop()


def test_while_slack_hangs_nobody_who_tells_waits_and_what_is_too_much_is_dropped(stub: SlackStub) -> None:
    failed: list[str] = []
    stub.fail_next(Hang(applied=False), method="chat.postEphemeral")
    before = set(threading.enumerate())
    telling = whisperer(stub, failed)
    began = monotonic_seconds()
    for number in range(150):
        telling.tell(Whisper("bot", CHANNEL, "U0ALICE001", str(number)))
    telling.stop()
    assert monotonic_seconds() - began < 60
    # One may have been taken out of the hundred that have room.
    assert failed.count("full") in (49, 50)
    stub.let_go()
    until(lambda: set(threading.enumerate()) <= before, within=5)


def test_a_whisperer_that_has_too_much_to_say_ends_all_the_same(stub: SlackStub) -> None:
    telling = Whisperer({"bot": WebApi(Secret(TOKEN), stub.base_url)}, lambda _: None)
    for number in range(100):
        telling.tell(Whisper("bot", CHANNEL, "U0ALICE001", str(number)))
    telling.stop()
    before = set(threading.enumerate())
    telling.start()
    until(lambda: set(threading.enumerate()) <= before, within=5)
    assert stub.workspace.whispers == []
