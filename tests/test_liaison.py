"""What a real Alertmanager is told and asked: silences by their marks, and what it no longer has."""

import http.server
import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from monitor.clock import SystemClock, VirtualClock
from monitor.config.read import load
from monitor.dispatch.notification import NotifyError
from monitor.dispatch.received import Message, Received
from monitor.dispatch.silence import Silence, Silences
from monitor.inbox import Inbox
from monitor.liaison import ABSENT_FOR, LOOK_EVERY, Liaison
from monitor.model.alert import Alert
from monitor.model.instant import HOUR, MINUTE, Instant
from monitor.model.labels import Labels
from monitor.model.matcher import Matcher, MatchType, equal
from monitor.notify.outbox import Outbox
from monitor.notify.slack.incidents import Incidents
from monitor.notify.their_alertmanager import TheirAlertmanager
from monitor.workers import Workers
from tests.dispatch.alertmanager import alertmanager
from tests.ports import silent_port
from tests.waiting import until

NOW: Instant = 1_796_018_705_000
CONFIG = """\
receivers: [{{name: oncall}}]
alerting: {{webhook: {{alertmanager_url: "{url}", http_config: {{authorization: {{credentials: ours}}}}}}}}
"""
SHOWN = """\
receivers: [{{name: oncall}}]
alerting: {{webhook: {{authorization: {{credentials: theirs}}}}}}
"""


@dataclass
class Theirs:
    """An Alertmanager that has these alerts; `answer` is what it says instead."""

    alerts: list[dict[str, str]] = field(default_factory=list)
    answer: bytes = b""
    asked: list[dict[str, list[str]]] = field(default_factory=list)
    shown: set[str | None] = field(default_factory=set)
    url: str = ""


@contextmanager
def serving(theirs: Theirs) -> Iterator[Theirs]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            theirs.asked.append(parse_qs(urlsplit(self.path).query))
            theirs.shown.add(self.headers["Authorization"])
            body = theirs.answer or json.dumps([{"labels": one} for one in theirs.alerts]).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    theirs.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield theirs
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Forgetful:
    """Keeps nothing."""

    def receive(self, _group: Received, _deliveries: object) -> bool:
        return True


@dataclass
class House:
    folder: Path
    url: str
    config: str = CONFIG
    clock: VirtualClock = field(default_factory=lambda: VirtualClock(NOW))

    def __post_init__(self) -> None:
        (self.folder / "monitor.yaml").write_text(self.config.format(url=self.url))
        config, silences, self.workers = load(self.folder / "monitor.yaml"), Silences(), Workers()
        self.inbox = Inbox((), Forgetful(), silences, self.clock)
        self.inbox.begin(config, Outbox({}, lambda _: None), {"oncall": ()})
        self.liaison = Liaison(self.inbox, Incidents(), silences, self.workers, self.clock)
        self.liaison.begin(config, lambda _: None)

    def hear(self, *names: str, key: str = "k", external_url: str = "", source: str = "") -> None:
        alerts = tuple(Alert(Labels.of(alertname=name, team="x"), Labels(), NOW - MINUTE) for name in names)
        message = Message(key, Labels.of(team="x"), alerts, external_url=external_url, source=source)
        self.inbox.take(message, "oncall")

    def look(self, minutes: int = 1) -> list[str]:
        """Let so many minutes pass, and return what fires."""
        for _ in range(minutes):
            self.clock.advance(LOOK_EVERY)
            self.liaison.tick(self.clock.now())
            until(self.workers.is_idle, within=10)
        return sorted(labels.value("alertname") for group in self.inbox.groups() for labels in group.entry.firing)


def test_what_an_alertmanager_has_not_had_for_five_minutes_is_over(tmp_path: Path) -> None:
    with serving(Theirs([{"alertname": "A", "team": "x"}])) as theirs:
        house = House(tmp_path, theirs.url)
        house.hear("A", "B")
        patience = ABSENT_FOR // LOOK_EVERY
        assert house.look(patience) == ["A", "B"]
        assert house.look() == ["A"]
        assert theirs.asked[0] == {"filter": ['team="x"']}
        theirs.alerts.clear()
        assert house.look(patience) == ["A"]
        assert house.look() == []


def test_what_comes_back_in_time_has_never_been_away(tmp_path: Path) -> None:
    with serving(Theirs()) as theirs:
        house = House(tmp_path, theirs.url)
        house.hear("A")
        house.look(4)
        theirs.alerts = [{"alertname": "A", "team": "x"}]
        house.look()
        theirs.alerts = []
        assert house.look(4) == ["A"]


def test_what_is_still_there_is_not_forgotten_although_nobody_speaks_of_it(tmp_path: Path) -> None:
    with serving(Theirs([{"alertname": "A", "team": "x"}])) as theirs:
        house = House(tmp_path, theirs.url)
        house.hear("A")
        for _ in range(4):
            house.clock.advance(6 * HOUR)
            assert house.look() == ["A"]
            house.inbox.tick(house.clock.now())
        theirs.answer = b"no JSON"
        house.clock.advance(12 * HOUR)
        house.inbox.tick(house.clock.now())
        assert house.look() == []


def test_one_that_says_where_it_is_reached_is_asked_there_and_shown_nothing(tmp_path: Path) -> None:
    with serving(Theirs()) as theirs:
        house = House(tmp_path, "", SHOWN)
        house.hear("A", external_url=f"{theirs.url}/")
        house.look()
        assert theirs.shown == {None}
        for number, end in enumerate(("/?x=", "/#", "/?")):
            house.hear("A", key=f"odd {number}", external_url=theirs.url + end)
        house.hear("A", key="user", external_url=theirs.url.replace("//", "//me:secret@"))
        house.hear("A", key="file", external_url="file:///etc/hostname")
        house.look()
        assert len(theirs.asked) == 2


def test_one_of_another_source_is_not_asked_for_where_only_one_is_reached(tmp_path: Path) -> None:
    with serving(Theirs()) as theirs:
        house = House(tmp_path, theirs.url)
        house.hear("A", source="eu")
        house.hear("B")
        assert house.look(6) == ["A"]
        assert theirs.shown == {"Bearer ours"}


def test_one_that_does_not_answer_is_asked_once_a_minute_and_not_for_every_group(tmp_path: Path) -> None:
    with serving(Theirs(answer=b"no JSON")) as theirs:
        house = House(tmp_path, theirs.url)
        for number in range(100):
            house.hear("A", key=str(number))
        assert len(house.look()) == 100
        assert len(theirs.asked) == 1


@pytest.mark.parametrize("answer", [b"no JSON", b"{}", b"[1]", b'[{"labels": 1}]'])
def test_an_answer_that_is_none_says_nothing(tmp_path: Path, answer: bytes) -> None:
    with serving(Theirs(answer=answer)) as theirs:
        house = House(tmp_path, theirs.url)
        house.hear("A")
        assert house.look(6) == ["A"]
        assert len(theirs.asked) == 6


def test_one_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    with silent_port() as port:
        house = House(tmp_path, f"http://127.0.0.1:{port}")
        house.hear("A")
        assert house.look(8) == ["A"]


def silence(*matchers: Matcher) -> Silence:
    return Silence(str(uuid.uuid4()), matchers, NOW, NOW + HOUR, "alice (U1)", "from Slack")


@pytest.mark.parametrize("suite", ["", "newer"], ids=["0.25", "0.33"])
def test_a_real_alertmanager_silences_the_same_once_until_it_is_told_to_end_it(tmp_path: Path, suite: str) -> None:
    with alertmanager(tmp_path, "route: {receiver: x}\nreceivers: [{name: x}]\n", suite) as url:
        theirs = TheirAlertmanager(url)
        given = (equal("alertname", 'A "b"'), Matcher("instance", MatchType.REGEX, "a|b"))
        ours = silence(*given, Matcher("team", MatchType.NOT_EQUAL, "y"))
        other = silence(equal("alertname", "B"))
        ahead = [one_hour_from_now(one) for one in (ours, other)]
        for one in (*ahead, *ahead):
            theirs.silence(one)
        assert len(active(url)) == 2
        (first,) = [one for one in active(url) if ahead[0].id in one["comment"]]
        shown = [(one["name"], one["value"], one["isRegex"], one["isEqual"]) for one in first["matchers"]]
        assert sorted(shown) == [
            ("alertname", 'A "b"', False, True),
            ("instance", "a|b", True, True),
            ("team", "y", False, False),
        ]
        assert first["createdBy"] == "alice (U1)"
        theirs.unsilence(ahead[0])
        theirs.unsilence(ahead[0])
        assert [ahead[1].id in one["comment"] for one in active(url)] == [True]


def test_of_many_silences_only_those_that_might_be_ours_are_asked_for() -> None:
    with serving(Theirs(answer=b"[]")) as theirs:
        given = (equal("alertname", "A"), Matcher("instance", MatchType.REGEX, "a|b"), equal("team", "x"))
        TheirAlertmanager(theirs.url).unsilence(silence(*given))
        assert theirs.asked == [{"filter": ['alertname="A"', 'team="x"']}]


def one_hour_from_now(one: Silence) -> Silence:
    """A real Alertmanager has a clock of its own."""
    now = SystemClock().now()
    return replace(one, starts_at=now, ends_at=now + HOUR)


def active(url: str) -> list[Any]:
    found = requests.get(f"{url}/api/v2/silences", timeout=60).json()
    return [one for one in found if one["status"]["state"] == "active"]


def test_one_that_is_not_there_is_an_error_that_names_no_address() -> None:
    with silent_port() as port, pytest.raises(NotifyError) as error:
        TheirAlertmanager(f"http://127.0.0.1:{port}").silence(silence(equal("a", "b")))
    assert str(port) not in str(error.value)
