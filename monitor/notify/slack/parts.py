"""What all messages are made of: header, coloured bar, paragraphs; and the same in plain text."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from monitor.notify.moment import lasted, utc
from monitor.notify.slack.escape import code, line, literal, literal_lines, units
from monitor.notify.slack.signs import COLOURS, MOVED_COLOUR, MOVED_SIGN, RESOLVED_COLOUR, RESOLVED_SIGN, SIGNS
from monitor.notify.summary import Case, Kind, Summary
from monitor.notify.title import title

Block = dict[str, Any]

TRY_FIRST = "Try first:"
# Two signs, at most, and a blank stand before it.
_HEADER = 140
_LONG = 105
_TOTAL_TEXT = 9_000
_TOTAL_JSON = 14_000


@dataclass(frozen=True, slots=True)
class Message:
    """What is posted: `text` is the fallback, escaped but without markup of its own."""

    text: str
    blocks: list[Block]
    attachments: list[dict[str, Any]]


def plain(summary: Summary) -> str:
    """Return the message as text alone: the fallback of a message with blocks, and the last resort without them."""
    lines = [f"{sign_of(summary)} {literal(summary.title, 200)}", *marks(summary)]
    if summary.is_digest or (summary.firing and summary.resolved):
        lines.append(summary.counts)
    for kind in () if summary.has_moved else summary.kinds[:3]:
        first = kind.cases[0]
        when = f"since {utc(first.since)} ({lasted(first.lasted)})"
        if first.ended is not None:
            when = f"resolved after {lasted(first.lasted)}"
        limit = f"(limit {literal(first.threshold, 80)})" if first.threshold else ""
        reading = " ".join(part for part in (value_in(first), limit, when) if part)
        what = kind.what or kind.name
        is_said = len(summary.kinds) == 1 and what in summary.title
        lines.append(reading if is_said else f"{literal(what, 150)}: {reading}")
        if not kind.resolved:
            lines += [literal_lines(kind.description, 300), try_first(literal_lines(kind.remedy, 300))]
    return "\n".join(text for text in lines if text)


def coloured(summary: Summary, inside: list[Block], head: str) -> Message:
    """Return the message with a header of the text `head`, and the blocks `inside` beside a bar of its colour."""
    attachments = [{"color": _colour(summary), "blocks": inside}] if inside else []
    return Message(plain(summary), [_header(sign_of(summary), head)], attachments)


def _colour(summary: Summary) -> str:
    if summary.has_moved:
        return MOVED_COLOUR
    return RESOLVED_COLOUR if summary.is_resolved else COLOURS[summary.severity]


def fits(built: Message) -> bool:
    """Say whether Slack takes so much."""
    content = {"blocks": built.blocks, "attachments": built.attachments}
    if len(json.dumps(content)) > _TOTAL_JSON:
        return False
    return units(built.text) + sum(units(text) for text in texts(content)) <= _TOTAL_TEXT


def header_of(summary: Summary) -> str:
    """
    Return the words of the header, escaped: the title, with more room than a locked phone has.

    Where they would fill half a phone, the place is left to what stands below.
    """
    whole = title(summary.headline, _HEADER)
    if len(whole) > _LONG:
        whole = title(replace(summary.headline, place="", brief_place=""), _HEADER)
    return line(whole, _HEADER)


def _header(sign: str, head: str) -> Block:
    # Without `emoji`, `:fire:` in a label stays what it is.
    return {"type": "header", "text": {"type": "plain_text", "text": f"{sign} {head}", "emoji": False}}


def sign_of(what: Summary | Kind) -> str:
    """Return the sign of a message, or of one kind of alert in it."""
    if isinstance(what, Summary) and what.has_moved:
        return MOVED_SIGN
    over = what.is_resolved if isinstance(what, Summary) else what.resolved
    return RESOLVED_SIGN if over else SIGNS[what.severity]


def numbers(summary: Summary) -> str:
    """Return the numbers that decide: `*Now:* 9 running · 42 waiting`, of the worst place where there are several."""
    first, *others = summary.kinds[0].cases
    heading = "Worst of it" if summary.is_resolved else "Now"
    several = others or summary.is_digest
    heading = f"*{heading} at* {code(first.brief, 120)}:" if several and first.brief else f"*{heading}:*"
    # A number and its unit stay on one line.
    words = (word.replace(" ", "\u00a0") for word in summary.readings.words)
    return f"{heading} {' · '.join(words)}"


def computed(summary: Summary) -> str:
    """Return what follows from the numbers of the worst place, a line each."""
    first, *others = summary.kinds[0].cases
    heading = f"*By the numbers of* {code(first.brief, 120)}" if others and first.brief else "*By its numbers*"
    return "\n".join((heading, *(f"• {literal(line, 250)}" for line in summary.readings.advice)))


def of_several(kind: Kind, case: Case) -> str:
    """Return the place and the value of one of the cases of a kind, without what all of them share."""
    own = f"limit {literal(case.threshold, 80)}" if case.threshold and not kind.threshold else ""
    return " · ".join(part for part in (code(case.brief, 120), value_in(case), own) if part)


def place_of_all(kind: Kind, head: str) -> str:
    """Return the place that all cases of a kind share, unless `head` has said it."""
    place = line(kind.place, 120)
    return "" if place in head else code(kind.place, 120)


def value_in(case: Case, how: Callable[[str, int], str] = literal) -> str:
    value = how(case.value, 80)
    return f"was {value}" if value and case.resolved else value


def section(text: str) -> Block:
    return {"type": "section", "text": _marked(text)}


def context(text: str) -> Block:
    return {"type": "context", "elements": [_marked(text)]}


def _marked(text: str) -> dict[str, Any]:
    # `verbatim`: Slack makes links and mentions of nothing but what is written between < and >.
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def texts(content: Any) -> Iterator[str]:
    """Yield every text that is shown somewhere in a payload."""
    if isinstance(content, dict):
        for key, value in content.items():
            if key == "text" and isinstance(value, str):
                yield value
            else:
                yield from texts(value)
    elif isinstance(content, list):
        for value in content:
            yield from texts(value)


def marks(summary: Summary) -> list[str]:
    """Return the lines about the message itself, escaped."""
    return [literal(mark, 320) for mark in summary.marks]


def try_first(remedy: str) -> str:
    return f"{TRY_FIRST} {remedy}" if remedy else ""
