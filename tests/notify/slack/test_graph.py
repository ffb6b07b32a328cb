"""Graphs in the threads of a stub of Slack, over real sockets, and everything that may go wrong with them."""

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pytest

from monitor.clock import monotonic_seconds
from monitor.dispatch.notification import Notification
from monitor.model.instant import SECOND, Duration, Instant
from monitor.notify.secret import Secret
from monitor.notify.slack.channel import Place
from monitor.notify.slack.graph import MOST_WAITING, BotGraphs, Graphs, PaintError
from monitor.notify.slack.incident import Incident
from monitor.notify.slack.upload import Picture, Upload
from monitor.notify.slack.web_api import WebApi
from tests.notify.samples import NOW, ended, note, queue
from tests.notify.slack.bots import NAME, PATIENCE
from tests.slackstub.faults import Answer, Close, Fault, Hang, Reset, SlackError, rate_limited, redirect
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, SCOPES, TOKEN
from tests.waiting import until

PICTURE = Picture(b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "vLLM's queue is long", "a graph")
STEPS = ("files.getUploadURLExternal", "upload", "files.completeUploadExternal")
FAULTS: tuple[Fault, ...] = (rate_limited("2"), Close(applied=False), Reset(applied=False), Answer(503))


@dataclass
class FakePainter:
    """Paints the same each time; with `gate`, only when that is open."""

    picture: Picture | None = PICTURE
    error: Exception | None = None
    gate: threading.Event | None = None
    painted: list[Notification] = field(default_factory=list)
    stopped: bool = False

    def paint(self, told: Notification, at: Instant) -> Picture | None:
        assert at == NOW
        self.painted.append(told)
        if self.gate is not None:
            self.gate.wait(120)
        if self.error is not None:
            raise self.error
        return self.picture

    def stop(self) -> None:
        self.stopped = True


@dataclass
class Hurried(Graphs):
    """Waits between attempts for nothing, and notes how long it would have."""

    pauses: list[Duration] = field(default_factory=list)

    def __init__(self, painter: FakePainter, report: Callable[[str], None]) -> None:
        super().__init__(painter, lambda: NOW, report)
        self.pauses = []

    def pause(self, duration: Duration) -> bool:
        self.pauses.append(duration)
        return True


@dataclass
class Gallery:
    """The graphs of a bot before a stub."""

    stub: SlackStub
    painter: FakePainter = field(default_factory=FakePainter)
    timeout: Duration = PATIENCE
    reports: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.graphs = Hurried(self.painter, self.reports.append)
        api = WebApi(Secret(TOKEN), self.stub.base_url, timeout=self.timeout)
        self.bot = BotGraphs(NAME, Upload(api, self.timeout), self.graphs)
        self.root = self.stub.workspace.post(CHANNEL, {"text": "root"}, "chat.postMessage").ts

    def incident(self) -> Incident:
        return Incident(NAME, "g", "id", NOW, note(queue()), channel=CHANNEL, ts=self.root)

    def shown(self) -> list[tuple[str, str, bytes]]:
        """Return the pictures that stand somewhere: channel, thread, content."""
        files = tuple(self.stub.workspace.files.values())
        return [(file.channel, file.thread_ts, file.content) for file in files if file.channel]

    def calls(self, name: str) -> int:
        return sum(request.name == name for request in self.stub.requests)


def at_work() -> set[threading.Thread]:
    """Return the threads that make graphs; those of an earlier test may be about to end."""
    return {thread for thread in threading.enumerate() if thread.name == "graphs"}


@pytest.fixture
def stub() -> Iterator[SlackStub]:
    with SlackStub() as running:
        running.workspace.tokens[TOKEN] = frozenset((*SCOPES, "files:write"))
        yield running


def test_a_graph_stands_in_the_thread_of_its_incident(stub: SlackStub) -> None:
    gallery = Gallery(stub)
    gallery.bot.make(gallery.incident())
    assert gallery.shown() == [(CHANNEL, gallery.root, PICTURE.png)]
    assert gallery.reports == [""]
    assert [request.name for request in stub.requests] == ["auth.test", *STEPS]
    (sent,) = [request for request in stub.requests if request.name == "upload"]
    assert "authorization" not in sent.headers
    assert sent.headers["content-type"] == "image/png"


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        *((step, fault) for step in STEPS for fault in FAULTS),
        (STEPS[0], SlackError("internal_error")),
        (STEPS[2], SlackError("internal_error")),
    ],
)
def test_a_step_that_fails_costs_no_more_than_the_graph_and_never_shows_it_twice(
    stub: SlackStub, step: str, fault: Fault
) -> None:
    gallery = Gallery(stub)
    stub.fail_next(fault, method=step)
    gallery.bot.make(gallery.incident())
    doubtful = step == STEPS[2] and fault != rate_limited("2")
    assert len(gallery.shown()) == (0 if doubtful else 1)
    assert gallery.reports == (["ambiguous"] if doubtful else [""])


@pytest.mark.parametrize("fault", [Close(applied=True), Reset(applied=True), SlackError("fatal_error", applied=True)])
def test_what_may_have_been_shared_is_not_shared_again(stub: SlackStub, fault: Fault) -> None:
    gallery = Gallery(stub)
    stub.fail_next(fault, method=STEPS[2])
    gallery.bot.make(gallery.incident())
    assert gallery.calls(STEPS[2]) == 1
    assert len(gallery.shown()) == 1


def test_three_attempts_are_all(stub: SlackStub, caplog: pytest.LogCaptureFixture) -> None:
    gallery = Gallery(stub)
    stub.fail_next(*[Answer(500)] * 6, method="upload")
    with caplog.at_level(logging.WARNING):
        gallery.bot.make(gallery.incident())
        gallery.bot.make(gallery.incident())
    assert gallery.calls("upload") == 6
    assert gallery.graphs.pauses == [SECOND, 2 * SECOND] * 2
    assert gallery.reports == ["ambiguous"] * 2
    assert [record.message for record in caplog.records] == ["no graph: Slack failed (status 500)"]


def test_slack_s_wait_is_obeyed_unless_it_is_longer_than_a_graph_is_worth(stub: SlackStub) -> None:
    gallery = Gallery(stub)
    stub.fail_next(rate_limited("7"), rate_limited("120"), method=STEPS[0])
    gallery.bot.make(gallery.incident())
    assert gallery.graphs.pauses == [7 * SECOND]
    assert gallery.reports == ["rate_limited"]


def test_bytes_that_nobody_takes_end_in_time(stub: SlackStub) -> None:
    gallery = Gallery(stub, timeout=300)
    stub.fail_next(*[Hang(applied=False)] * 3, method="upload")
    began = monotonic_seconds()
    gallery.bot.make(gallery.incident())
    assert monotonic_seconds() - began < 60
    assert gallery.reports == ["ambiguous"]


def test_a_redirect_takes_the_picture_nowhere(stub: SlackStub) -> None:
    with SlackStub() as elsewhere:
        gallery = Gallery(stub)
        for step in STEPS:
            stub.fail_next(*[redirect(f"{elsewhere.origin}/upload/v1/F0STUB00000")] * 3, method=step)
            gallery.bot.make(gallery.incident())
        assert elsewhere.requests == []
    assert gallery.reports == ["redirect"] * 3


@pytest.mark.parametrize("address", ["", "file:///etc/passwd", "ftp://a/b", "http://a b/"])
def test_an_address_that_is_none_gets_no_bytes(stub: SlackStub, address: str) -> None:
    gallery = Gallery(stub)
    answer = f'{{"ok": true, "upload_url": "{address}", "file_id": "F0STUB00000"}}'
    stub.fail_next(*[Answer(200, answer, {"Content-Type": "application/json"})] * 3, method=STEPS[0])
    gallery.bot.make(gallery.incident())
    assert gallery.calls("upload") == 0
    assert gallery.reports == ["ambiguous"]


def test_a_bot_without_the_scope_draws_nothing_and_says_so_once(
    stub: SlackStub, caplog: pytest.LogCaptureFixture
) -> None:
    stub.workspace.tokens[TOKEN] = frozenset(SCOPES)
    gallery = Gallery(stub)
    for _ in range(3):
        gallery.bot.make(gallery.incident())
    assert gallery.painter.painted == []
    assert [request.name for request in stub.requests] == ["auth.test"]
    (record,) = caplog.records
    assert "lacks the scope files:write: add it to the app" in record.message
    assert gallery.reports == ["credential"]


def test_a_scope_that_slack_does_not_tell_is_missed_at_the_upload(stub: SlackStub) -> None:
    stub.workspace.tokens[TOKEN] = frozenset(SCOPES)
    gallery = Gallery(stub)
    stub.fail_next(Answer(200, '{"ok": true}', {"Content-Type": "application/json"}), method="auth.test")
    for _ in range(3):
        gallery.bot.make(gallery.incident())
    assert gallery.calls(STEPS[0]) == 1
    assert gallery.reports == ["credential"]


def test_no_picture_and_a_painter_that_fails_touch_nothing_in_slack(
    stub: SlackStub, caplog: pytest.LogCaptureFixture
) -> None:
    gallery = Gallery(stub, FakePainter(picture=None))
    gallery.bot.make(gallery.incident())
    gallery.painter.error = PaintError("drawing_timeout", "not drawn within 10 s")
    gallery.bot.make(gallery.incident())
    assert [request.name for request in stub.requests] == ["auth.test"]
    assert gallery.reports == ["drawing_timeout"]
    assert [record.message for record in caplog.records] == ["no graph: not drawn within 10 s"]


def test_a_digest_what_it_tells_and_another_message_of_an_incident_have_none(stub: SlackStub) -> None:
    gallery = Gallery(stub, FakePainter(gate=threading.Event()))
    before = at_work()
    one = gallery.incident()
    for none in (
        replace(one, digest="digest"),
        replace(one, roots=1),
        replace(one, resolved_at=NOW, told=note(ended(queue()))),
    ):
        gallery.bot.opened(none)
    assert at_work() <= before


def test_nobody_waits_for_a_painter_that_hangs_and_too_many_are_left_out(stub: SlackStub) -> None:
    gallery = Gallery(stub, FakePainter(gate=(gate := threading.Event())))
    before, began = at_work(), monotonic_seconds()
    gallery.bot.opened(gallery.incident())
    until(lambda: gallery.painter.painted, within=5)
    for _ in range(MOST_WAITING + 3):
        gallery.bot.opened(gallery.incident())
    assert monotonic_seconds() - began < 60
    assert gallery.reports == ["too_many"] * 3
    gallery.graphs.stop()
    assert gallery.painter.stopped
    gate.set()
    until(lambda: at_work() <= before, within=5)
    assert len(gallery.painter.painted) == 1


def test_what_nobody_expects_ends_one_graph_and_not_the_next(stub: SlackStub) -> None:
    gallery, before = Gallery(stub), at_work()
    gallery.painter.error = ZeroDivisionError()
    gallery.bot.opened(gallery.incident())
    until(lambda: gallery.reports == ["internal"], within=5)
    gallery.painter.error = None
    gallery.bot.opened(gallery.incident())
    until(gallery.shown, within=5)
    gallery.graphs.stop()
    until(lambda: at_work() <= before, within=5)


def test_the_place_is_that_of_the_root(stub: SlackStub) -> None:
    upload = Upload(WebApi(Secret(TOKEN), stub.base_url))
    upload.share(PICTURE, Place(CHANNEL, "1700000001.000001"))
    (file,) = stub.workspace.files.values()
    assert (file.channel, file.thread_ts) == (CHANNEL, "1700000001.000001")


def test_each_step_fails_once_and_the_file_is_processed_late_and_there_is_one_picture_and_the_alert(
    stub: SlackStub,
) -> None:
    gallery = Gallery(stub)
    stub.workspace.processing = 10.0
    stub.fail_next(rate_limited("2"), method=STEPS[0])
    stub.fail_next(Answer(500), method=STEPS[1])
    stub.fail_next(Close(applied=True), method=STEPS[2])
    gallery.bot.make(gallery.incident())
    assert [message.ts for message in stub.messages] == [gallery.root]
    assert gallery.shown() == [(CHANNEL, gallery.root, PICTURE.png)]
    assert gallery.graphs.pauses == [2 * SECOND, 2 * SECOND]
    # It is shared as a file: no block shows it, so nobody has to wait until it has been processed.
    assert gallery.calls("files.info") == 0
