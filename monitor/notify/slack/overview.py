"""
The message of a digest: how many of what, and the worst of each, on one screen of a phone.

What each of them means, and what to do, is said in the thread, where each has a message of its own.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from monitor.notify.severity import Severity
from monitor.notify.slack.escape import bold, code, date, link, literal, units
from monitor.notify.slack.parts import (
    Block,
    Message,
    coloured,
    context,
    fits,
    header_of,
    numbers,
    of_several,
    place_of_all,
    section,
    sign_of,
)
from monitor.notify.summary import MODEL, Kind, Summary
from monitor.notify.title import Headline

_MOST_MODELS = 5
# The longest text of a reply in the thread, in the units of Slack.
_LONGEST_LIST = 3_500


@dataclass(frozen=True, slots=True)
class Detail:
    """So many kinds of alert are shown, and so many instances of each."""

    kinds: int
    cases: int


_DETAILS = (Detail(6, 3), Detail(4, 2), Detail(2, 1), Detail(1, 0))


def overview(summary: Summary, notes: Sequence[str] = ()) -> Message:
    """Return the message with as much detail as Slack takes; `notes` are escaped already."""
    summary = replace(summary, headline=_headline(summary))
    head = header_of(summary)
    for detail in _DETAILS:
        built = coloured(summary, list(_blocks(summary, notes, detail, head)), head)
        if fits(built):
            return built
    return coloured(summary, [], head)


def everything(summary: Summary) -> str:
    """Return the places and values of all alerts, for the thread: what was over by then has no message of its own."""
    text = f"*All {summary.firing + summary.resolved}*, the worst first"
    size, left = units(text), summary.firing + summary.resolved
    for kind in summary.kinds:
        head = f"\n{sign_of(kind)} {bold(kind.what or kind.name, 150)} {code(kind.place, 120)}".rstrip()
        text, size = text + head, size + units(head)
        for case in kind.cases:
            row = f"\n• {of_several(kind, case)}"
            size += units(row)
            if size > _LONGEST_LIST:
                return f"{text}\n+{left} more: `vllm-monitor alerts` shows them all"
            text, left = text + row, left - 1
    return text


def hides_some(summary: Summary) -> bool:
    """Say whether the message does not name every instance."""
    most = _DETAILS[0]
    return len(summary.kinds) > most.kinds or any(len(kind.cases) > most.cases for kind in summary.kinds)


def _headline(summary: Summary) -> Headline:
    """Return `12 alerts at once · 10 critical, 2 warning`, and the place that they share."""
    whole = summary.firing + summary.resolved
    some = f"{summary.firing} of " if summary.firing and summary.resolved else ""
    told = summary.headline
    number = told.number if summary.is_resolved else _by_severity(summary)
    brief = told.brief_number if summary.is_resolved else ""
    return replace(
        told, what=f"{some}{whole} alerts at once", number=number, brief_number=brief, brief_place="", count=1, others=0
    )


def _by_severity(summary: Summary) -> str:
    firing = Counter(case.severity for kind in summary.kinds for case in kind.cases if not case.resolved)
    return ", ".join(f"{firing[severity]} {severity.word}" for severity in Severity if firing[severity])


def _blocks(summary: Summary, notes: Sequence[str], detail: Detail, head: str) -> Iterator[Block]:
    if notes:
        yield context(" · ".join(notes))
    models = _by_model(summary)
    if models:
        yield section(models)
    for kind in summary.kinds[: detail.kinds]:
        yield section("\n".join(_kind(kind, detail, head)))
    hidden = summary.kinds[detail.kinds :]
    if hidden:
        others = ", ".join(literal(kind.name, 60) for kind in hidden[:5])
        yield context(f"+{len(hidden)} more: {others}{', …' if hidden[5:] else ''}")
    if summary.readings.words:
        yield section(numbers(summary))
    names = [link(kind.runbook, kind.name) or literal(kind.name, 60) for kind in summary.kinds[: detail.kinds]]
    yield context(f"Runbooks: {' · '.join(names)}")


def _by_model(summary: Summary) -> str:
    """Return `*By model:* llama-3 8 · qwen 4`; nothing when there is one."""
    cases = [case for kind in summary.kinds for case in kind.cases if summary.is_resolved or not case.resolved]
    counts = Counter(case.labels.value(MODEL).rpartition("/")[2] for case in cases)
    if len(counts) <= 1:
        return ""
    parts = [f"{code(model, 60) or 'no model'} {count}" for model, count in counts.most_common(_MOST_MODELS)]
    hidden = len(counts) - len(parts)
    return f"*By model:* {' · '.join([*parts, *([f'+{hidden} more'] if hidden else [])])}"


def _kind(kind: Kind, detail: Detail, head: str) -> Iterator[str]:
    count = kind.firing or len(kind.cases)
    times = f"{count}x " if count > 1 else ""
    over = len(kind.cases) - kind.firing
    ended = f" · {over} resolved" if over and kind.firing else ""
    since = f"since {date(min(case.since for case in kind.cases))}" if kind.firing else ""
    limit = f"limit {literal(kind.threshold, 80)}" if kind.threshold else ""
    yield f"{sign_of(kind)} {bold(f'{times}{kind.what or kind.name}', 160)}{ended}"
    about = " · ".join(part for part in (place_of_all(kind, head), limit, since) if part)
    if about:
        yield about
    for case in kind.cases[: detail.cases]:
        yield f"• {of_several(kind, case)}"
    hidden = len(kind.cases) - detail.cases
    if hidden > 0:
        yield f"+{hidden} more in the thread"
