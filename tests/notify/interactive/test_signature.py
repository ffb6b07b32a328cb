"""A request is Slack's when its signature says so, now; and only once."""

from pathlib import Path

import pytest

from monitor.model.instant import MINUTE, SECOND
from monitor.notify.interactive.signature import Seen, is_signed
from monitor.notify.secret import Secret
from tests.slackstub.clicks import SIGNING_SECRET, headers

NOW = 1_796_018_705_000
STAMP = "1796018705"
BODY = b"payload=%7B%7D"
SECRET = Secret(SIGNING_SECRET)


def test_the_example_of_slacks_documentation_is_signed() -> None:
    # reference: Slack, verifying requests from Slack, step by step.
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
        b"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
        b"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
        b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    signed = {
        "X-Slack-Request-Timestamp": "1531420618",
        "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    }
    secret = Secret("8f742231b10e8888abcd99yyyzzz85a5")
    assert is_signed(secret, body, signed, 1_531_420_618_000)
    assert not is_signed(secret, body + b"x", signed, 1_531_420_618_000)


@pytest.mark.parametrize(
    ("given", "body", "now", "signed"),
    [
        pytest.param(headers(BODY, STAMP), BODY, NOW, True, id="good"),
        pytest.param(headers(BODY, STAMP), BODY, NOW + 5 * MINUTE, True, id="five minutes old"),
        pytest.param(headers(BODY, STAMP), BODY, NOW + 5 * MINUTE + SECOND, False, id="too old"),
        pytest.param(headers(BODY, STAMP), BODY, NOW - 5 * MINUTE - SECOND, False, id="from the future"),
        pytest.param(headers(BODY, STAMP), BODY + b"x", NOW, False, id="another body"),
        pytest.param(headers(BODY, STAMP, "other"), BODY, NOW, False, id="another secret"),
        pytest.param(headers(BODY, "abc"), BODY, NOW, False, id="no number"),
        pytest.param(headers(BODY, "9" * 5_000), BODY, NOW, False, id="no number that Python reads"),
        pytest.param(headers(b"\xff", STAMP), b"\xff", NOW, False, id="not UTF-8"),
        pytest.param(headers(BODY, STAMP) | {"X-Slack-Signature": "v0=é"}, BODY, NOW, False, id="not ASCII"),
        pytest.param({}, BODY, NOW, False, id="nothing"),
    ],
)
def test_what_is_signed(given: dict[str, str], body: bytes, now: int, signed: bool) -> None:  # noqa: FBT001 - a column
    assert is_signed(SECRET, body, given, now) is signed


def test_nothing_is_signed_with_a_secret_that_cannot_be_read(tmp_path: Path) -> None:
    assert not is_signed(Secret(file=tmp_path / "gone"), BODY, headers(BODY, STAMP), NOW)
    assert not is_signed(Secret(""), BODY, headers(BODY, STAMP, " "), NOW)


def test_a_signature_is_new_once_as_long_as_it_is_good() -> None:
    seen, first, second = Seen(), headers(BODY, STAMP), headers(b"other", STAMP)
    assert [seen.is_new(first, NOW), seen.is_new(first, NOW), seen.is_new(second, NOW)] == [True, False, True]
    assert not seen.is_new(first, NOW + 10 * MINUTE)
    assert seen.is_new(first, NOW + 11 * MINUTE)
