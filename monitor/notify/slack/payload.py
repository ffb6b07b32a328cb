"""
From a summary to a Slack message: a header, and one coloured attachment that holds the rest.

The header and the fallback text are what a phone shows. Pure: the same summary gives the same message.
reference: Slack, Block Kit. The limits are kept with a margin, because Slack counts in ways it does not publish.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from monitor.notify.moment import lasted, utc
from monitor.notify.severity import Severity
from monitor.notify.slack.escape import code, date, line, link, shown, units
from monitor.notify.summary import Case, Kind, Summary

Block = dict[str, Any]

_HEADER = 140
_TOTAL_TEXT = 9_000
_TOTAL_JSON = 14_000
_COLOURS = {Severity.CRITICAL: "#d72b3f", Severity.WARNING: "#e8912d", Severity.INFO: "#4a7fb5"}
_RESOLVED_COLOUR = "#2eb67d"
_SIGNS = {Severity.CRITICAL: "🔴", Severity.WARNING: "🟠", Severity.INFO: "🔵"}
_RESOLVED_SIGN = "✅"


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


def message(summary: Summary) -> Message:
    """Return the message with as much detail as Slack takes."""
    for detail in _DETAILS:
        built = _message(summary, detail)
        if _fits(built):
            return built
    # The last form is small whatever the input: its texts and links are all cut.
    return Message(plain(summary), [_header(summary)], [])


def plain(summary: Summary) -> str:
    """Return the message as text alone: the fallback of a message with blocks, and the last resort without them."""
    lines = [f"{_sign(summary)} {line(summary.title, 200)}", line(summary.counts, 50)]
    for kind in summary.kinds[:3]:
        first = kind.cases[0]
        when = f"since {utc(first.since)}" if first.ended is None else f"resolved after {lasted(first.lasted)}"
        reading = " ".join(part for part in (_reading(kind, first), when) if part)
        lines.append(f"{line(kind.what or kind.name, 150)}: {reading}")
        if not kind.resolved:
            lines.append(shown(kind.description, 300))
    return "\n".join(text for text in lines if text)


def _message(summary: Summary, detail: Detail) -> Message:
    inside = [block for kind in summary.kinds[: detail.kinds] for block in _kind(kind, summary, detail)]
    hidden = summary.kinds[detail.kinds :]
    if hidden:
        names = ", ".join(line(kind.name, 60) for kind in hidden[:5])
        inside.append(_context(f"+{len(hidden)} more: {names}{', …' if hidden[5:] else ''}"))
    colour = _RESOLVED_COLOUR if summary.is_resolved else _COLOURS[summary.severity]
    attachment = {"color": colour, "blocks": inside}
    return Message(plain(summary), [_header(summary)], [attachment] if inside else [])


def _header(summary: Summary) -> Block:
    text = f"{_sign(summary)} {line(summary.title, _HEADER - 3)}"
    # Without `emoji`, `:fire:` in a label stays what it is.
    return {"type": "header", "text": {"type": "plain_text", "text": text, "emoji": False}}


def _sign(summary: Summary) -> str:
    return _RESOLVED_SIGN if summary.is_resolved else _SIGNS[summary.severity]


def _kind(kind: Kind, summary: Summary, detail: Detail) -> Iterator[Block]:
    sign = _RESOLVED_SIGN if kind.resolved else _SIGNS[kind.severity]
    heading = f"{sign} *{line(kind.what or kind.name, 200)}* {kind.counts}".rstrip()
    # What was true while it fired would only confuse afterwards.
    description = "" if kind.resolved else shown(kind.description, detail.text)
    yield _section("\n".join(part for part in (heading, description) if part))
    lines = [_case(kind, case, summary) for case in kind.cases[: detail.cases]]
    hidden = len(kind.cases) - len(lines)
    yield _section("\n".join([*lines, f"+{hidden} more"] if hidden else lines))
    if kind.remedy and not kind.resolved:
        yield _section(f"*What to do:* {shown(kind.remedy, detail.text)}")
    links = [link(kind.runbook, "Runbook"), link(kind.dashboard, "Dashboard")]
    yield _context(" · ".join([*(part for part in links if part), line(kind.name, 100)]))


def _case(kind: Kind, case: Case, summary: Summary) -> str:
    place = code(case.where, 120)
    if case.ended is not None:
        when = f"resolved {date(case.ended)} after {lasted(case.lasted)}"
        mark = f"{_RESOLVED_SIGN} " if not summary.is_resolved else "• "
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
