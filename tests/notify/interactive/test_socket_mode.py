"""The real client of the SDK over real sockets: every click is heard, whatever happens to the connection."""

import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from monitor.clock import monotonic_seconds
from monitor.notify.interactive.socket_mode import _ACK_WITHIN_SECONDS, Pace, SocketMode
from monitor.notify.secret import Secret
from tests.slackstub import socket_mode
from tests.slackstub.faults import Answer, SlackError, rate_limited, redirect
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import APP_TOKEN, TOKEN
from tests.waiting import until

# A busy machine is not taken for a Slack that is silent, but where silence is what is tested.
PACE = Pace(ping=10.0, deaf=60.0, patience=60.0)


@dataclass
class Taken:
    """What came over the socket; it is written down at once while `quick`."""

    payloads: list[Any] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    quick: bool = True

    def take_in(self, payload: Any, envelope_id: str, written: Callable[[], None]) -> None:
        del envelope_id
        self.payloads.append(payload)
        if self.quick:
            threading.Thread(target=written).start()


@pytest.fixture
def stub() -> Iterator[SlackStub]:
    with SlackStub() as slack:
        yield slack


@pytest.fixture
def sockets(stub: SlackStub) -> Iterator[socket_mode.SocketMode]:
    with socket_mode.SocketMode(stub) as serving:
        yield serving


@contextmanager
def listening(stub: SlackStub, taken: Taken, token: Secret | None = None, pace: Pace = PACE) -> Iterator[SocketMode]:
    def failed(reason: str) -> None:
        link._pace = PACE
        taken.failures.append(reason)

    link = SocketMode(token or Secret(APP_TOKEN), stub.base_url, taken.take_in, failed, pace)
    link.start()
    try:
        yield link
    finally:
        link.stop()


def opens(stub: SlackStub) -> int:
    return sum(request.name == "apps.connections.open" for request in stub.requests)


def test_an_envelope_is_taken_and_acknowledged(stub: SlackStub, sockets: socket_mode.SocketMode) -> None:
    taken = Taken()
    with listening(stub, taken) as link:
        until(lambda: link.is_connected, within=5)
        first, other = sockets.send({"a": 1}), sockets.send({"a": 2}, kind="events_api")
        until(lambda: sockets.acks.get(first) and sockets.acks.get(other), within=3)
        assert taken.payloads == [{"a": 1}]
        assert (link.last_event_age or 0) < PACE.deaf
    until(lambda: not link.is_connected, within=5)
    assert link.last_event_age is None
    assert sockets.late() == []


def test_slack_does_not_wait_for_a_disk_that_is_slow(stub: SlackStub, sockets: socket_mode.SocketMode) -> None:
    with listening(stub, Taken(quick=False)) as link:
        until(lambda: link.is_connected, within=5)
        envelopes = [sockets.send({"number": number}) for number in range(60)]
        until(lambda: all(sockets.acks.get(envelope) for envelope in envelopes), within=10)
    # One after the other they would take half a minute.
    assert max(sockets.acks[envelope][0] for envelope in envelopes) < len(envelopes) * _ACK_WITHIN_SECONDS / 2
    assert _ACK_WITHIN_SECONDS < socket_mode.ACK_SECONDS / 2


@pytest.mark.parametrize(("fault", "within"), [("disconnect", 3.0), ("close", 5.0), ("reset", 5.0), ("freeze", 10.0)])
def test_whatever_ends_a_connection_another_one_takes_its_place(
    stub: SlackStub, sockets: socket_mode.SocketMode, fault: str, within: float
) -> None:
    taken = Taken()
    with listening(stub, taken, pace=replace(PACE, ping=0.5, deaf=3.0) if fault == "freeze" else PACE) as link:
        until(lambda: link.is_connected, within=5)
        # Only the first link takes silence for its end.
        link._pace = PACE
        getattr(sockets, fault)()
        until(lambda: sockets.opened >= 2 and link.is_connected and sockets.links == 1, within=within)
        envelope = sockets.send({"after": fault})
        until(lambda: sockets.acks.get(envelope), within=3)
    assert taken.payloads == [{"after": fault}]


def test_a_click_between_two_connections_has_somewhere_to_go(stub: SlackStub, sockets: socket_mode.SocketMode) -> None:
    with listening(stub, Taken()) as link:
        until(lambda: link.is_connected, within=5)
        sockets.disconnect("warning")
        until(lambda: sockets.opened == 2, within=5)
        # Noted when the first link has ended; 0 if that was before there was another.
        assert until(lambda: sockets.fewest <= 1 and [sockets.fewest], within=5) == [1]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Answer(500, "oops"), "ambiguous"),
        (SlackError("internal_error"), "ambiguous"),
        (rate_limited("1"), "rate_limited"),
        (redirect("http://127.0.0.1:9/"), "redirect"),
        (Answer(200, '{"ok": true}'), "unreachable"),
        (Answer(200, '{"ok": true, "url": "ws://127.0.0.1:9/"}'), "unreachable"),
    ],
)
def test_whatever_slack_answers_the_next_attempt_comes_and_comes_through(
    stub: SlackStub, sockets: socket_mode.SocketMode, fault: Any, reason: str
) -> None:
    taken = Taken()
    stub.fail_next(fault, method="apps.connections.open")
    # What nobody answers at an address takes all the patience there is.
    with listening(stub, taken, pace=replace(PACE, patience=0.5) if reason == "unreachable" else PACE) as link:
        until(lambda: sockets.links and link.is_connected, within=10)
    assert taken.failures == [reason]


def test_links_that_end_at_once_are_not_opened_in_a_storm(stub: SlackStub, sockets: socket_mode.SocketMode) -> None:
    sockets.most_links = 0
    with listening(stub, Taken()):
        until(lambda: sockets.opened >= 3, within=5)
    second, third = sockets.openings[1:3]
    assert third - second > 0.9


@pytest.mark.parametrize("wrong", ["xapp-wrong", TOKEN])
def test_a_wrong_token_is_told_once_not_hammered_and_replaced_in_its_file(
    stub: SlackStub, tmp_path: Path, wrong: str, caplog: pytest.LogCaptureFixture
) -> None:
    file, taken = tmp_path / "token", Taken()
    file.write_text(wrong)
    with (
        caplog.at_level(logging.DEBUG),
        socket_mode.SocketMode(stub),
        listening(stub, taken, Secret(file=file)) as link,
    ):
        until(lambda: taken.failures, within=5)
        threading.Event().wait(0.5)
        assert opens(stub) == 1
        # In one step: it is read all the time.
        (tmp_path / "new").write_text(f"{APP_TOKEN}\n")
        (tmp_path / "new").replace(file)
        until(lambda: link.is_connected, within=5)
    assert taken.failures == ["credential"]
    assert [record.levelname for record in caplog.records if "not connected" in record.message] == ["ERROR"]
    assert not any(secret in caplog.text for secret in (wrong, APP_TOKEN, "ticket"))


def test_without_aiohttp_it_says_what_to_install(
    stub: SlackStub, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("monitor.notify.interactive.link", "slack_sdk.socket_mode.aiohttp"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    taken = Taken()
    with listening(stub, taken):
        until(lambda: taken.failures, within=5)
    assert taken.failures == ["no_aiohttp"]
    assert "vllm-monitor[buttons]" in caplog.text


def test_it_stops_at_once_while_nothing_answers(stub: SlackStub) -> None:
    taken = Taken()
    stub.fail_next(rate_limited("120"), method="apps.connections.open")
    before = set(threading.enumerate())
    with listening(stub, taken):
        until(lambda: taken.failures, within=5)
        began = monotonic_seconds()
    until(lambda: set(threading.enumerate()) <= before, within=5)
    assert monotonic_seconds() - began < 60
