"""The pictures in the docs: what each of them shows, and whether it still does."""

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from docs.pictures.alerts import BEGIN, flood, overloaded
from docs.pictures.page import page
from docs.pictures.story import Story, digest
from monitor.dispatch.notification import Reason
from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, SECOND, Instant
from monitor.notify.interactive.click import Button

IMAGES = Path(__file__).parent.parent / "images"
MANIFEST = IMAGES / "slack.json"
# CSS pixels: a telephone held upright, and a channel beside its thread.
PHONE, CHANNEL = 375, 600
_WHO = "on-call"


def pages() -> dict[str, tuple[int, str]]:
    """Return the width and the HTML of every picture, by its name."""
    firing = _firing().root
    shown = {
        "slack-phone": (PHONE, page(firing)),
        "slack-firing": (CHANNEL, page(firing)),
        "slack-flapping": (CHANNEL, page(_flapping().root)),
        "slack-resolved": (CHANNEL, page(_resolved().root)),
        "slack-digest": (CHANNEL, page(*digest(flood(), BEGIN + 10 * SECOND))),
    }
    lived = _lived()
    return shown | {"slack-thread": (CHANNEL, page(lived.root, lived.replies))}


def manifest(drawn: Mapping[str, tuple[int, str]]) -> str:
    """Return the file that says from which pages the committed pictures were made: JSON, a hash for each picture."""
    hashes = {name: sha256(f"{width}\n{html}".encode()).hexdigest() for name, (width, html) in drawn.items()}
    return json.dumps(hashes, indent=2) + "\n"


def _firing() -> Story:
    story = Story()
    story.hear(BEGIN, overloaded(42))
    return story


def _flapping() -> Story:
    """Return one that fires for the third time, and that somebody has taken on."""
    story = Story()
    for begin, value in ((BEGIN, 27), (BEGIN + 9 * MINUTE, 31)):
        fires = overloaded(value, at=begin)
        story.hear(begin, fires)
        story.hear(begin + 4 * MINUTE, _over(fires, begin + 4 * MINUTE))
    story.hear(BEGIN + 18 * MINUTE, overloaded(42, at=BEGIN + 18 * MINUTE))
    story.click(BEGIN + 19 * MINUTE, Button.ACK, _WHO)
    return story


def _resolved() -> Story:
    story = _firing()
    story.hear(BEGIN + 14 * MINUTE, _over(overloaded(42), BEGIN + 14 * MINUTE), reason=Reason.ALL_RESOLVED)
    return story


def _lived() -> Story:
    """Return one from its beginning to its end."""
    story = Story()
    first, second = overloaded(34), overloaded(58, "vllm-1:8000", at=BEGIN + 3 * MINUTE)
    story.hear(BEGIN, first)
    story.click(BEGIN + 95 * SECOND, Button.ACK, _WHO)
    story.hear(BEGIN + 3 * MINUTE, first, second, reason=Reason.NEW_ALERTS)
    ended = _over(first, BEGIN + 11 * MINUTE)
    story.hear(BEGIN + 11 * MINUTE, ended, second, reason=Reason.NEW_RESOLVED)
    end = BEGIN + 14 * MINUTE
    story.hear(end, ended, _over(second, end), reason=Reason.ALL_RESOLVED)
    return story


def _over(alert: Alert, at: Instant) -> Alert:
    return replace(alert, ends_at=at)
