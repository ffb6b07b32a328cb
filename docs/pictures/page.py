"""The page around messages, as a channel shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docs.pictures.blocks import message_html
from monitor.model.instant import Instant
from monitor.notify.moment import utc

_STYLE = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
_NOTE = "rendered from the blocks by vllm-monitor, not a screenshot of Slack · times in UTC"
_REPLIES = '<div class="replies">{}</div>'


@dataclass(frozen=True, slots=True)
class Post:
    """A message of ours: its payload, when it was posted, and when it was edited last (None: it never was)."""

    payload: dict[str, Any]
    at: Instant
    edited_at: Instant | None = None


def page(root: Post, replies: Sequence[Post] = ()) -> str:
    """Return the HTML of a message and of its thread; raises UnknownMarkupError."""
    thread = _REPLIES.format("".join(_post(reply) for reply in replies)) if replies else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>vllm-monitor</title>'
        f"<style>\n{_STYLE}</style></head>\n<body><main>{_post(root)}{thread}<footer>{_NOTE}</footer></main></body></html>\n"
    )


def _post(post: Post) -> str:
    seen_at = post.at if post.edited_at is None else post.edited_at
    clock = utc(post.at).split()[1]
    edited = "" if post.edited_at is None else ' <span class="time">(edited)</span>'
    return (
        '<article><div class="avatar">vM</div><div class="body">'
        f'<div class="author">vllm-monitor <span class="app">APP</span> <span class="time">{clock}</span>{edited}</div>'
        f"{message_html(post.payload, seen_at)}</div></article>\n"
    )
