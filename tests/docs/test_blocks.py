"""Messages as HTML: all that the daemon sends can be shown, and what nobody has thought of is an error."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from docs.pictures.blocks import message_html
from docs.pictures.mrkdwn import UnknownMarkupError
from monitor.notify.interactive.buttons import buttons
from tests.docs.samples import GOLDEN, golden
from tests.notify.samples import NOW
from tests.slackstub.blocks import texts

TEXT = {"type": "mrkdwn", "text": "*text*"}
# Of each element that a message may hold, how many there are.
OURS = {"div", "span", "b", "i", "q", "code", "a", "br", "hr", "svg", "circle", "ellipse", "g", "path", "rect"}


class Read(HTMLParser):
    """What a browser would make of it: the names of the elements, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.handlers: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.handlers |= {name for name, _ in attrs if name.startswith("on")}

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("name", GOLDEN)
def test_every_message_that_was_looked_at_can_be_shown(name: str) -> None:
    payload = golden(name)
    seen = Read(message_html(payload, NOW))
    assert seen.names <= OURS
    assert not seen.handlers
    # The header's words, without its sign, stand there as a person reads them.
    header = payload["blocks"][0]["text"]["text"].split(" ", 1)[1]
    assert header.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") in seen.text


def test_hostile_labels_are_shown_and_do_nothing() -> None:
    payload = golden("hostile")
    html = message_html(payload, NOW)
    assert "<!channel>" in Read(html).text
    assert 'class="mention"' not in html
    assert re.findall(r'href="(\w+):', html) == ["https"]


@pytest.mark.parametrize(
    ("block", "html"),
    [
        ({"type": "divider"}, "<hr>"),
        ({"type": "section", "fields": [TEXT, TEXT]}, "<div><b>text</b></div><div><b>text</b></div>"),
        ({"type": "image", "image_url": "https://example.com/a.png", "alt_text": "<graph>"}, "&lt;graph&gt;"),
        ({"type": "context", "elements": [{"type": "plain_text", "text": "*as it is*"}]}, "*as it is*"),
        (buttons("incident", acked=False, silenced=True), '<span class="button primary">Ack</span>'),
    ],
)
def test_a_block_is_shown(block: dict[str, Any], html: str) -> None:
    assert html in message_html({"text": "fallback", "blocks": [block]}, NOW)


def test_an_attachment_has_its_colour() -> None:
    attachment = {"color": "#d72b3f", "blocks": [{"type": "section", "text": TEXT}]}
    assert "#d72b3f" in message_html({"text": "", "blocks": [], "attachments": [attachment]}, NOW)


def test_text_is_shown_only_where_there_are_no_blocks() -> None:
    assert "<b>Resolved</b>" in message_html({"text": "*Resolved*", "blocks": [], "attachments": []}, NOW)
    assert "fallback" not in message_html({"text": "fallback", "blocks": [{"type": "divider"}]}, NOW)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "rich_text", "elements": []},
        {},
        {"type": "section", "text": TEXT, "accessory": {"type": "button"}},
        {"type": "section", "text": {"type": "markdown", "text": "x"}},
        {"type": "context", "elements": [{"type": "button"}]},
        {"type": "actions", "elements": [{"type": "static_select"}]},
        {"type": "header", "text": TEXT, "level": 2},
    ],
    ids=str,
)
def test_what_is_not_known_is_an_error(block: dict[str, Any]) -> None:
    with pytest.raises(UnknownMarkupError):
        message_html({"text": "fallback", "blocks": [block]}, NOW)


def test_the_longest_message_loses_no_text() -> None:
    payload = golden("300_instances")
    seen = Read(message_html(payload, NOW)).text
    numbers = {found for text in texts(payload["attachments"]) for found in re.findall(r"10\.0\.\d+\.\d+:\d+", text)}
    assert numbers
    assert all(number in seen for number in numbers)
