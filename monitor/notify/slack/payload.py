"""
From a summary to a Slack message: a header, and one coloured attachment that holds the rest.

The header and the fallback text are what a phone shows. Pure: the same summary gives the same message.
reference: Slack, Block Kit. The limits are kept with a margin, because Slack counts in ways it does not publish.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from monitor.notify.moment import lasted
from monitor.notify.slack.escape import bold, code, date, is_plain, line, link, literal, shown
from monitor.notify.slack.overview import overview
from monitor.notify.slack.parts import (
    TRY_FIRST,
    Block,
    Message,
    coloured,
    computed,
    context,
    fits,
    header_of,
    marks,
    numbers,
    of_several,
    place_of_all,
    plain,
    section,
    sign_of,
    texts,
    try_first,
    value_in,
)
from monitor.notify.slack.signs import RESOLVED_SIGN
from monitor.notify.summary import Case, Kind, Summary

__all__ = ["Block", "Message", "message", "plain", "texts"]


_FLAG = re.compile(r"(?<!\S)--[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?![\w=-])")


@dataclass(frozen=True, slots=True)
class Detail:
    """How much is shown; a message that is too large is built again with less."""

    kinds: int
    cases: int
    text: int


# Of a message that is cut shorter, what its server's numbers say to do is left out.
_LEAST_FOR_NUMBERS = 250
_DETAILS = (Detail(5, 5, 900), Detail(4, 5, 400), Detail(3, 3, 250), Detail(2, 2, 150), Detail(1, 1, 100))


def message(summary: Summary, notes: Sequence[str] = ()) -> Message:
    """
    Return the message with as much detail as Slack takes.

    `notes` are short lines about the incident itself, escaped already.
    """
    if summary.is_digest:
        return overview(summary, notes)
    for detail in _DETAILS:
        built = _message(summary, notes, detail)
        if fits(built):
            return built
    # The last form is small whatever the input: its texts and links are all cut.
    return coloured(summary, [], header_of(summary))


def hides_some(summary: Summary) -> bool:
    """Say whether the message does not show every alert."""
    most = _DETAILS[0]
    return len(summary.kinds) > most.kinds or any(len(kind.cases) > most.cases for kind in summary.kinds)


def _message(summary: Summary, notes: Sequence[str], detail: Detail) -> Message:
    notes = [*marks(summary), *notes]
    inside = [context(" · ".join(notes))] if notes else []
    head = header_of(summary)
    if summary.has_moved:
        return coloured(summary, inside, head)
    inside += [block for kind in summary.kinds[: detail.kinds] for block in _kind(kind, summary, detail, head)]
    hidden = summary.kinds[detail.kinds :]
    if hidden:
        names = ", ".join(literal(kind.name, 60) for kind in hidden[:5])
        inside.append(context(f"+{len(hidden)} more: {names}{', …' if hidden[5:] else ''}"))
    if summary.silence:
        inside.append(context(f"Silence it: {code(summary.silence, 600)}"))
    return coloured(summary, inside, head)


def _kind(kind: Kind, summary: Summary, detail: Detail, head: str) -> Iterator[Block]:
    what = kind.what or kind.name
    # What the header says is not said again.
    has_heading = len(summary.kinds) > 1 or line(what, 200) not in head
    if has_heading:
        yield section(f"{sign_of(kind)} {bold(what, 200)} {kind.counts}".rstrip())
    counts = kind.counts if not has_heading and 0 < kind.firing < len(kind.cases) else ""
    yield section("\n".join(row for row in _facts(kind, detail, counts, head) if row))
    if kind is summary.kinds[0] and summary.readings.words:
        yield section(numbers(summary))
    # What was true while it fired would only confuse afterwards.
    if not kind.resolved:
        yield from _advice(shown(kind.description, detail.text), shown(kind.remedy, detail.text))
        if kind is summary.kinds[0] and summary.readings.advice and detail.text >= _LEAST_FOR_NUMBERS:
            yield section(_FLAG.sub(_as_code, computed(summary)))
    links = [link(kind.runbook, "Runbook"), link(kind.dashboard, "Dashboard"), link(kind.silence, "Silence")]
    yield context(" · ".join([*(part for part in links if part), literal(kind.name, 100)]))


def _facts(kind: Kind, detail: Detail, counts: str, head: str) -> Iterator[str]:
    """Yield the value against its limit, where, and since when; of several cases the worst. `head` is said already."""
    limit = f"limit {literal(kind.threshold, 80)}" if kind.threshold else ""
    if len(kind.cases) == 1:
        (case,) = kind.cases
        value = "" if case.resolved and f"peak {line(case.value, 80)}" in head else value_in(case, bold)
        yield " · ".join(part for part in (value, limit) if part)
        yield " · ".join(part for part in (code(case.where, 120), _when(case, head)) if part)
        return
    yield " · ".join(part for part in (place_of_all(kind, head), limit, counts) if part)
    for case in kind.cases[: detail.cases]:
        mark = f"{RESOLVED_SIGN} " if case.resolved and not kind.resolved else "• "
        yield mark + " · ".join(part for part in (of_several(kind, case), _when(case)) if part)
    hidden = len(kind.cases) - detail.cases
    if hidden > 0:
        yield f"+{hidden} more"


def _when(case: Case, head: str = "") -> str:
    # How long it has fired already would be wrong as soon as it is read.
    if case.ended is None:
        return f"since {date(case.since)}"
    took = f"lasted {lasted(case.lasted)}"
    return f"resolved {date(case.ended)}" + (f", {took}" if took not in head else "")


def _advice(description: str, remedy: str) -> Iterator[Block]:
    """Yield a paragraph about what it means, and one about what to do."""
    if description:
        yield _to_the_letter(description)
    if remedy and is_plain(remedy):
        # A flag is seen at a glance, and copied whole.
        yield section(f"*{TRY_FIRST}* {_FLAG.sub(_as_code, remedy)}")
    elif remedy:
        yield _to_the_letter(try_first(remedy))


def _as_code(found: re.Match[str]) -> str:
    return f"`{found[0]}`"


def _to_the_letter(text: str) -> Block:
    """Return a paragraph in which nothing is markup."""
    return {"type": "section", "text": {"type": "plain_text", "text": text, "emoji": False}}
