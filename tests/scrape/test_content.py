"""What an answer is taken for."""

import pytest

from monitor.clock import monotonic_seconds
from monitor.scrape.content import format_of
from monitor.scrape.errors import Reason, ScrapeError
from monitor.scrape.openmetrics import OPENMETRICS
from monitor.scrape.options import ScrapeProtocol
from monitor.scrape.text import TEXT
from monitor.scrape.whole import Format


@pytest.mark.parametrize(
    ("content_type", "form"),
    [
        ("text/plain", TEXT),
        ("text/plain; version=0.0.4; charset=utf-8", TEXT),
        ("text/plain; version=1.0.0; charset=utf-8", TEXT),
        ("TEXT/Plain ;version=9", TEXT),
        ("text/plain; charset=utf-8;", TEXT),
        ('text/plain; escaping="allow-utf-8"', TEXT),
        ("application/openmetrics-text; version=1.0.0; charset=utf-8", OPENMETRICS),
        ("application/openmetrics-text;version=0.0.1", OPENMETRICS),
    ],
)
def test_the_media_type_decides(content_type: str, form: Format) -> None:
    assert format_of(content_type) is form


@pytest.mark.parametrize(
    "content_type", ["", "text", "text/html", "application/json", "text/plain; charset", "text plain"]
)
def test_another_type_needs_a_fallback(content_type: str) -> None:
    with pytest.raises(ScrapeError) as caught:
        format_of(content_type)
    assert caught.value.reason is Reason.CONTENT_TYPE
    assert format_of(content_type, ScrapeProtocol.PROMETHEUS_TEXT_0_0_4) is TEXT
    assert format_of(content_type, ScrapeProtocol.OPENMETRICS_TEXT_1_0_0) is OPENMETRICS


def test_a_type_that_says_something_is_believed_before_the_fallback() -> None:
    assert format_of("text/plain", ScrapeProtocol.OPENMETRICS_TEXT_1_0_0) is TEXT


@pytest.mark.parametrize("middle", [" ", "; a=b ", ';a="\\" '])
def test_a_header_of_blanks_is_read_once_not_in_every_way(middle: str) -> None:
    began = monotonic_seconds()
    with pytest.raises(ScrapeError):
        format_of("text/plain" + middle + " " * 60_000 + "x")
    # Tried in every way it takes ten, and no other thread moves meanwhile.
    assert monotonic_seconds() - began < 3
