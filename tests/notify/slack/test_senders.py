"""Both senders, through the real SDK and real sockets, against each kind of answer there is."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from monitor.dispatch.notification import Notifier, NotifyError
from monitor.model.instant import SECOND
from monitor.notify.failure import Reason
from monitor.notify.secret import Secret
from monitor.notify.slack.bot import SlackBot
from monitor.notify.slack.webhook import SlackWebhook
from tests.notify.samples import note, queue
from tests.notify.slack.bots import PATIENCE, bot_of
from tests.slackstub.faults import (
    Answer,
    Close,
    Cut,
    Drip,
    Fault,
    Hang,
    Reset,
    SlackError,
    rate_limited,
    redirect,
)
from tests.slackstub.markup import markup
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN
from tests.waiting import until

NOTE = note(queue())
# Short, where silence is what is tested.
IMPATIENCE = 1_500
Make = Callable[..., Notifier]


@pytest.fixture
def stub() -> Iterator[SlackStub]:
    with SlackStub() as running:
        yield running


def bot(stub: SlackStub, timeout: int = PATIENCE) -> SlackBot:
    return bot_of(stub, timeout=timeout)


def webhook(stub: SlackStub, timeout: int = PATIENCE) -> SlackWebhook:
    return SlackWebhook(Secret(stub.webhook_url), timeout=timeout)


both = pytest.mark.parametrize("make", [bot, webhook])


def failing(notifier: Notifier) -> NotifyError:
    with pytest.raises(NotifyError) as caught:
        notifier.notify(NOTE)
    return caught.value


@both
def test_a_notification_becomes_one_message(stub: SlackStub, make: Make) -> None:
    make(stub).notify(NOTE)
    (message,) = stub.messages
    assert message.channel == CHANNEL
    assert "WARNING" in message.text
    assert message.payload["blocks"][0]["type"] == "header"
    assert message.payload["unfurl_links"] is False
    assert message.payload["unfurl_media"] is False


@both
@pytest.mark.parametrize(
    ("fault", "reason", "stands"),
    [
        pytest.param(rate_limited("7"), Reason.RATE_LIMITED, 0, id="429"),
        pytest.param(Answer(500, "<html>"), Reason.AMBIGUOUS, 0, id="500"),
        pytest.param(Answer(503, "upstream"), Reason.AMBIGUOUS, 0, id="503"),
        pytest.param(Answer(200, "<html>sign in</html>"), Reason.AMBIGUOUS, 0, id="a page of a proxy"),
        pytest.param(Answer(200, ""), Reason.AMBIGUOUS, 0, id="empty"),
        pytest.param(Answer(200, "[1]"), Reason.AMBIGUOUS, 0, id="JSON but no object"),
        pytest.param(Answer(200, '{"ok": true}'), Reason.AMBIGUOUS, 0, id="no time stamp"),
        pytest.param(Answer(403, "forbidden"), Reason.CREDENTIAL, 0, id="403"),
        pytest.param(Answer(404, "<html>"), Reason.DESTINATION, 0, id="404"),
        pytest.param(Reset(applied=False), Reason.AMBIGUOUS, 0, id="reset before"),
        pytest.param(Reset(applied=True), Reason.AMBIGUOUS, 1, id="reset after"),
        pytest.param(Close(applied=True), Reason.AMBIGUOUS, 1, id="closed after"),
        pytest.param(Hang(applied=True), Reason.AMBIGUOUS, 1, id="silence after"),
        pytest.param(Cut(), Reason.AMBIGUOUS, 1, id="half an answer"),
        pytest.param(Drip(20.0), Reason.AMBIGUOUS, 1, id="byte by byte"),
    ],
)
def test_an_answer_that_is_not_success_says_whether_to_try_again(
    stub: SlackStub, make: Make, fault: Fault, reason: Reason, stands: int
) -> None:
    stub.fail_next(fault)
    error = failing(make(stub, IMPATIENCE if isinstance(fault, Hang | Drip) else PATIENCE))
    assert error.reason == reason
    assert error.retryable is reason.retryable
    # Whoever has lost patience may have done so before it was posted.
    until(lambda: len(stub.messages) >= stands, within=5)
    # Never twice: neither the SDK nor a sender tries again by itself.
    assert len(stub.requests) == 1
    assert len(stub.messages) == stands


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("ratelimited", Reason.RATE_LIMITED),
        ("internal_error", Reason.AMBIGUOUS),
        ("request_timeout", Reason.UNREACHABLE),
        ("is_archived", Reason.DESTINATION),
        ("token_revoked", Reason.CREDENTIAL),
        ("something_new", Reason.UNKNOWN),
    ],
)
def test_an_error_of_the_web_api_comes_with_status_200(stub: SlackStub, code: str, reason: Reason) -> None:
    stub.fail_next(SlackError(code))
    error = failing(bot(stub))
    assert error.reason == reason
    assert code in str(error)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("7", 7 * SECOND),
        ("1.5", 1_500),
        ("0", 1),
        ("86400", 300 * SECOND),
        ("abc", None),
        ("-3", None),
        ("nan", None),
        (None, None),
    ],
)
@both
def test_retry_after_is_obeyed_within_reason(
    stub: SlackStub, make: Make, header: str | None, expected: int | None
) -> None:
    stub.fail_next(rate_limited(header))
    assert failing(make(stub)).retry_after == expected


@both
def test_a_redirect_is_not_followed_so_no_other_host_sees_the_token(stub: SlackStub, make: Make) -> None:
    with SlackStub() as other:
        stub.fail_next(redirect(f"{other.base_url}chat.postMessage"))
        error = failing(make(stub))
        assert other.requests == []
    assert error.reason == Reason.REDIRECT
    assert error.retryable


@both
def test_what_slack_refuses_for_its_form_is_said_in_plain_words(stub: SlackStub, make: Make) -> None:
    refusal = Answer(400, "invalid_blocks") if make is webhook else SlackError("invalid_blocks")
    stub.fail_next(refusal)
    make(stub).notify(NOTE)
    stub.fail_next(refusal, refusal)
    make(stub).notify(replace(NOTE, group_key="other"))
    simple, plain = stub.messages
    assert [block["type"] for block in simple.payload["blocks"]] == ["section"]
    assert not simple.payload.get("attachments")
    assert not plain.payload.get("blocks")
    assert all("42 requests waiting" in message.text for message in (simple, plain))


@both
def test_a_form_that_is_refused_even_in_plain_words_is_given_up(stub: SlackStub, make: Make) -> None:
    stub.fail_next(*[Answer(400, "no_text") if make is webhook else SlackError("no_text")] * 3)
    error = failing(make(stub))
    assert error.reason == Reason.MESSAGE
    assert not error.retryable


def test_a_webhook_that_answers_200_with_another_word_than_ok_has_not_posted(stub: SlackStub) -> None:
    stub.fail_next(Answer(200, "no_service"))
    assert failing(webhook(stub)).reason == Reason.DESTINATION


@pytest.mark.parametrize(
    ("status", "word"), [(403, "invalid_token"), (404, "no_service"), (410, "channel_is_archived")]
)
def test_a_dead_webhook_is_not_worth_another_try_soon(stub: SlackStub, status: int, word: str) -> None:
    stub.fail_next(Answer(status, word))
    error = failing(webhook(stub))
    assert not error.retryable
    assert word in str(error)


def test_a_channel_the_bot_is_not_in_is_named_as_the_reason(stub: SlackStub) -> None:
    stub.workspace.channels[CHANNEL] = replace(stub.workspace.channels[CHANNEL], member=False)
    error = failing(bot(stub))
    assert (error.reason, str(error)) == (Reason.DESTINATION, "Slack refused: not_in_channel")


def test_nothing_listens() -> None:
    with SlackStub() as gone:
        makers: list[Notifier] = [bot(gone), webhook(gone)]
    for notifier in makers:
        error = failing(notifier)
        assert error.reason == Reason.UNREACHABLE
        assert "ConnectionRefusedError" in str(error)


@both
def test_a_proxy_of_the_environment_is_used_only_when_asked(
    stub: SlackStub, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    make(stub).notify(NOTE)
    assert len(stub.messages) == 1


def test_a_token_in_a_file_is_read_again_when_it_changes(stub: SlackStub, tmp_path: Path) -> None:
    file = tmp_path / "token"
    notifier = bot_of(stub, Secret(file=file))
    for content in (None, "\n", "xoxb-an-old-one\n"):
        if content is not None:
            file.write_text(content)
        assert failing(notifier).reason == Reason.CREDENTIAL
    file.write_text(f"{TOKEN}\n")
    notifier.notify(NOTE)
    assert len(stub.messages) == 1


def test_a_webhook_url_in_a_file_is_read(stub: SlackStub, tmp_path: Path) -> None:
    file = tmp_path / "url"
    file.write_text(f"{stub.webhook_url}\n")
    SlackWebhook(Secret(file=file)).notify(NOTE)
    assert len(stub.messages) == 1


SECRETS = ("notARealSecret", "xoxb-stub-token", "services/T0STUB00000")


@both
@pytest.mark.parametrize(
    "fault",
    [Answer(500, "x"), Reset(applied=True), Cut(), redirect("http://127.0.0.1:9/"), SlackError("invalid_auth"), None],
)
def test_no_secret_is_logged_shown_or_kept_in_an_error(
    stub: SlackStub,
    make: Make,
    fault: Fault | None,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(0)
    notifier = make(stub)
    if fault is None:
        notifier.notify(NOTE)
        shown: list[Any] = [notifier]
    else:
        stub.fail_next(fault)
        error = failing(notifier)
        shown = [error, error.args, error.reason, error.__cause__, notifier]
    texts = [caplog.text, *capfd.readouterr(), *(f"{thing!r} {thing}" for thing in shown)]
    assert not [secret for secret in SECRETS if any(secret in text for text in texts)]


@pytest.mark.parametrize("url", ["", "hooks.slack.com/x", "file:///etc/passwd", "http://bad host/", "http://[::1"])
def test_a_webhook_that_is_no_url_is_refused_without_showing_it(url: str) -> None:
    error = failing(SlackWebhook(Secret(url), timeout=PATIENCE))
    assert not error.retryable
    assert not url or url not in str(error)


@both
def test_a_label_rings_nobody(stub: SlackStub, make: Make) -> None:
    make(stub).notify(note(queue("<!channel> <@U123ABC456>", zone="<!here>")))
    (message,) = stub.messages
    assert markup(message.payload).mentions == ()
