"""One line that can be read on a locked phone: how bad, what, how much, where."""

from dataclasses import dataclass

from monitor.notify.cleanse import one_line, shortened

LONGEST = 79
# What each part may keep when the line is too long; the symptom gives way first, then the place.
_LEAST_PLACE = 18
_LEAST_WHAT = 24
_LEAST_NUMBER = 12
_COLONS = ": "
_DOT = " · "


@dataclass(frozen=True, slots=True)
class Headline:
    """
    The parts of a title.

    `status` is the severity, or that it is over; `count` alerts are of this name, `others` are not.
    `brief_place` and `brief_number` take the places of `place` and `number` where the line is too short for them.
    """

    status: str
    what: str
    number: str = ""
    place: str = ""
    brief_place: str = ""
    count: int = 1
    others: int = 0
    brief_number: str = ""


def title(headline: Headline, longest: int = LONGEST, brief_above: int = LONGEST) -> str:
    """
    Return `CRITICAL: 3x vLLM's queue is long (+1 more) · 42 requests waiting · llama-3 @ 10.0.0.1:8000`.

    At most `longest` characters, and the whole place only where they are not more than `brief_above`.
    """
    head = headline.status.upper() + _COLONS + (f"{headline.count}x " if headline.count > 1 else "")
    tail = f" (+{headline.others} more)" if headline.others > 0 else ""
    parts = [one_line(headline.what), one_line(headline.number), one_line(headline.place)]
    if len(_joined(head, tail, parts)) > min(longest, brief_above):
        parts[2] = one_line(headline.brief_place) or parts[2]
    if len(_joined(head, tail, parts)) > longest:
        parts[1] = one_line(headline.brief_number) or parts[1]
    for part, least in ((0, _LEAST_WHAT), (2, _LEAST_PLACE), (1, _LEAST_NUMBER)):
        excess = len(_joined(head, tail, parts)) - longest
        if excess > 0:
            parts[part] = shortened(parts[part], max(len(parts[part]) - excess, least))
    return shortened(_joined(head, tail, parts), longest)


def _joined(head: str, tail: str, parts: list[str]) -> str:
    what, number, place = parts
    return head + what + tail + "".join(_DOT + part for part in (number, place) if part)
