"""
From a summary to a Slack message: a header, and one coloured attachment that holds the rest.

The header and the fallback text are what a phone shows. Pure: the same summary gives the same message.
reference: Slack, Block Kit. The limits are kept with a margin, because Slack counts in ways it does not publish.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from monitor.notify.moment import lasted, utc
from monitor.notify.slack.escape import code, date, line, link, shown, units
from monitor.notify.slack.signs import COLOURS, RESOLVED_COLOUR, RESOLVED_SIGN, SIGNS
from monitor.notify.summary import Case, Kind, Summary

Block = dict[str, Any]

_HEADER = 140
_TOTAL_TEXT = 9_000
_TOTAL_JSON = 14_000


@dataclass(frozen=True, slots=True)
class Detail:
    """How much is shown; a message that is too large is built again with less."""

    kinds: int
    cases: int
    text: int


_DETAILS = (Detail(5, 5, 900), Detail(4, 5, 400), Detail(3, 3, 250), Detail(2, 2, 150), Detail(1, 1, 100))


@dataclass(frozen=True, slots=True)
class Message:
    """What is posted: `text` is the fallback, escaped but without markup of its own."""

    text: str
    blocks: list[Block]
    attachments: list[dict[str, Any]]


def message(summary: Summary, notes: Sequence[str] = ()) -> Message:
    """
    Return the message with as much detail as Slack takes.

    `notes` are short lines about the incident itself, escaped already.
    """
    for detail in _DETAILS:
        built = _message(summary, notes, detail)
        if _fits(built):
            return built
    # The last form is small whatever the input: its texts and links are all cut.
    return Message(plain(summary), [_header(summary)], [])


def plain(summary: Summary) -> str:
    """Return the message as text alone: the fallback of a message with blocks, and the last resort without them."""
    lines = [f"{_sign(summary)} {line(summary.title, 200)}", *_mark(summary), line(summary.counts, 50)]
    for kind in summary.kinds[:3]:
        first = kind.cases[0]
        when = f"since {utc(first.since)}" if first.ended is None else f"resolved after {lasted(first.lasted)}"
        reading = " ".join(part for part in (_reading(kind, first), when) if part)
        lines.append(f"{line(kind.what or kind.name, 150)}: {reading}")
        if not kind.resolved:
            lines.append(shown(kind.description, 300))
    return "\n".join(text for text in lines if text)


def _message(summary: Summary, notes: Sequence[str], detail: Detail) -> Message:
    notes = [*_mark(summary), *notes]
    inside = [_context(" · ".join(notes))] if notes else []
    inside += [block for kind in summary.kinds[: detail.kinds] for block in _kind(kind, summary, detail)]
    hidden = summary.kinds[detail.kinds :]
    if hidden:
        names = ", ".join(line(kind.name, 60) for kind in hidden[:5])
        inside.append(_context(f"+{len(hidden)} more: {names}{', …' if hidden[5:] else ''}"))
    colour = RESOLVED_COLOUR if summary.is_resolved else COLOURS[summary.severity]
    attachment = {"color": colour, "blocks": inside}
    return Message(plain(summary), [_header(summary)], [attachment] if inside else [])


def _mark(summary: Summary) -> list[str]:
    """Return the line that says why this stands here, if it should stand elsewhere."""
    return [f"Fallback: {line(summary.fallback, 300)}"] if summary.fallback else []


def _header(summary: Summary) -> Block:
    text = f"{_sign(summary)} {line(summary.title, _HEADER - 3)}"
    # Without `emoji`, `:fire:` in a label stays what it is.
    return {"type": "header", "text": {"type": "plain_text", "text": text, "emoji": False}}


def _numbers(summary: Summary) -> str:
    """Return the numbers that decide: `*Now:* 9 running · 42 waiting`, of the worst place where there are several."""
    first, *others = summary.kinds[0].cases
    place = f" at {code(first.where, 120)}" if others and first.where else ""
    heading = "Worst of it" if summary.is_resolved else "Now"
    return f"*{heading}{place}:* {' · '.join(summary.readings.words)}"


def _sign(summary: Summary) -> str:
    return RESOLVED_SIGN if summary.is_resolved else SIGNS[summary.severity]


def _kind(kind: Kind, summary: Summary, detail: Detail) -> Iterator[Block]:
    sign = RESOLVED_SIGN if kind.resolved else SIGNS[kind.severity]
    heading = f"{sign} *{line(kind.what or kind.name, 200)}* {kind.counts}".rstrip()
    # What was true while it fired would only confuse afterwards.
    description = "" if kind.resolved else shown(kind.description, detail.text)
    yield _section("\n".join(part for part in (heading, description) if part))
    lines = [_case(kind, case, summary) for case in kind.cases[: detail.cases]]
    hidden = len(kind.cases) - len(lines)
    yield _section("\n".join([*lines, f"+{hidden} more"] if hidden else lines))
    if kind is summary.kinds[0] and summary.readings.words:
        yield _section(_numbers(summary))
    if kind.remedy and not kind.resolved:
        yield _section(f"*What to do:* {shown(kind.remedy, detail.text)}")
    links = [link(kind.runbook, "Runbook"), link(kind.dashboard, "Dashboard"), link(kind.silence, "Silence")]
    yield _context(" · ".join([*(part for part in links if part), line(kind.name, 100)]))


def _case(kind: Kind, case: Case, summary: Summary) -> str:
    place = code(case.where, 120)
    if case.ended is not None:
        when = f"resolved {date(case.ended)} after {lasted(case.lasted)}"
        mark = f"{RESOLVED_SIGN} " if not summary.is_resolved else "• "
    else:
        when = f"since {date(case.since)} ({lasted(case.lasted)})"
        mark = "• "
    return mark + " · ".join(part for part in (place, _reading(kind, case), when) if part)


def _reading(kind: Kind, case: Case) -> str:
    """Return the value against the threshold: `42 requests (limit 10 requests)`."""
    value = line(case.value, 80)
    if value and case.resolved:
        value = f"was {value}"
    limit = f"(limit {line(kind.threshold, 80)})" if kind.threshold else ""
    return " ".join(part for part in (value, limit) if part)


def _section(text: str) -> Block:
    return {"type": "section", "text": _marked(text)}


def _context(text: str) -> Block:
    return {"type": "context", "elements": [_marked(text)]}


def _marked(text: str) -> dict[str, Any]:
    # `verbatim`: Slack makes links and mentions of nothing but what is written between < and >.
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _fits(built: Message) -> bool:
    content = {"blocks": built.blocks, "attachments": built.attachments}
    if len(json.dumps(content)) > _TOTAL_JSON:
        return False
    return units(built.text) + sum(units(text) for text in texts(content)) <= _TOTAL_TEXT


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
