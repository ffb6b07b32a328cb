"""What Slack would make of a text: whom it rings, and where its links lead."""

import re
from dataclasses import dataclass
from typing import Any

from tests.slackstub.blocks import texts

_ANGLE = re.compile(r"<([^<>]*)>")


@dataclass(frozen=True, slots=True)
class Markup:
    """`mentions` are users, groups, channels and broadcasts; `links` are URLs."""

    mentions: tuple[str, ...]
    links: tuple[str, ...]


def markup(payload: dict[str, Any]) -> Markup:
    """Return what is written between < and > in all texts of a payload."""
    found = [inside for text in texts(payload) for inside in _ANGLE.findall(text)]
    live = [inside for inside in found if not inside.startswith("!date^")]
    return Markup(
        tuple(inside for inside in live if inside[:1] in ("!", "@", "#")),
        tuple(inside.partition("|")[0] for inside in live if inside[:1] not in ("!", "@", "#", "")),
    )


def entities_are_whole(payload: dict[str, Any]) -> bool:
    """Say whether every `&` begins one of the three entities and every < is closed: nothing was cut in the middle."""
    return all(
        not re.search(r"&(?!(?:amp|lt|gt);)", text)
        and "<" not in _ANGLE.sub("", text)
        and ">" not in _ANGLE.sub("", text)
        for text in texts(payload)
    )
