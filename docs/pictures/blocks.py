"""
From the payload of a message to HTML: every block that our messages have, and an error for every other.

reference: Slack, Block Kit.
"""

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from docs.pictures.mrkdwn import UnknownMarkupError, mrkdwn, plain
from monitor.model.instant import Instant

Json = Mapping[str, Any]


def message_html(payload: Json, now: Instant) -> str:
    """Return what Slack shows of a message at `now`; raises UnknownMarkupError. `text` stands in for blocks."""
    _only(payload, "text", "blocks", "attachments")
    shown = _blocks(payload.get("blocks") or (), now)
    shown += "".join(_attachment(one, now) for one in payload.get("attachments") or ())
    return shown or f'<div class="section">{mrkdwn(payload["text"], now)}</div>'


def _attachment(attachment: Json, now: Instant) -> str:
    _only(attachment, "color", "blocks", "fallback")
    colour = escape(attachment.get("color", "#dddddd"))
    return f'<div class="attachment" style="border-color: {colour}">{_blocks(attachment["blocks"], now)}</div>'


def _blocks(blocks: Any, now: Instant) -> str:
    return "".join(_of_kind(_BLOCKS, block, now) for block in blocks)


def _of_kind(kinds: Mapping[str, Callable[[Json, Instant], str]], thing: Json, now: Instant) -> str:
    kind = thing.get("type", "")
    if kind not in kinds:
        raise UnknownMarkupError(f"a block or element of type {kind!r}")
    return kinds[kind](thing, now)


def _header(block: Json, now: Instant) -> str:
    _only(block, "type", "text", "block_id")
    return f'<div class="header">{_text(block["text"], now)}</div>'


def _section(block: Json, now: Instant) -> str:
    _only(block, "type", "text", "fields", "block_id")
    text = _text(block["text"], now) if "text" in block else ""
    fields = "".join(f"<div>{_text(field, now)}</div>" for field in block.get("fields") or ())
    return f'<div class="section">{text}{f"""<div class="fields">{fields}</div>""" if fields else ""}</div>'


def _context(block: Json, now: Instant) -> str:
    _only(block, "type", "elements", "block_id")
    elements = "".join(f"<span>{_of_kind(_IN_CONTEXT, element, now)}</span>" for element in block["elements"])
    return f'<div class="context">{elements}</div>'


def _actions(block: Json, now: Instant) -> str:
    _only(block, "type", "elements", "block_id")
    return f'<div class="actions">{"".join(_of_kind(_IN_ACTIONS, one, now) for one in block["elements"])}</div>'


def _button(element: Json, now: Instant) -> str:
    _only(element, "type", "text", "action_id", "value", "style", "url", "accessibility_label")
    return f'<span class="button {escape(element.get("style", ""))}">{_text(element["text"], now)}</span>'


def _divider(block: Json, _: Instant) -> str:
    _only(block, "type", "block_id")
    return "<hr>"


def _image(block: Json, _: Instant) -> str:
    """Return a frame with the description: the picture itself is somewhere else."""
    return f'<div class="image">{escape(block["alt_text"])}</div>'


def _text(text: Json, now: Instant) -> str:
    """Return a text object, of either kind."""
    _only(text, "type", "text", "emoji", "verbatim")
    return _of_kind(_TEXTS, text, now)


def _only(thing: Json, *known: str) -> None:
    unknown = set(thing) - set(known)
    if unknown:
        raise UnknownMarkupError(f"{thing.get('type', 'a part of a message')} with {', '.join(sorted(unknown))}")


_TEXTS: dict[str, Callable[[Json, Instant], str]] = {
    "plain_text": lambda text, _: plain(text["text"]),
    "mrkdwn": lambda text, now: mrkdwn(text["text"], now),
}
_BLOCKS = {
    "header": _header,
    "section": _section,
    "context": _context,
    "actions": _actions,
    "divider": _divider,
    "image": _image,
}
_IN_CONTEXT = {**_TEXTS, "image": _image}
_IN_ACTIONS = {"button": _button}
