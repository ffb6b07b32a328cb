"""
From a text object of Slack to HTML that shows it: the subset of mrkdwn that our messages use.

reference: Slack, formatting message text. What is not known here is an error, so that no picture shows less than Slack.
"""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from html import escape

from docs.pictures.signs import drawn_signs
from monitor.model.instant import SECOND, Instant


class UnknownMarkupError(ValueError):
    """A message holds something that these pictures cannot show."""


_MARKUP = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|<(?P<angle>[^<>]+)>"
    r"|(?<![\w*])\*(?P<bold>(?!\s)[^*\n]+(?<!\s))\*(?![\w*])"
    r"|(?<!\w)_(?P<italic>(?!\s)[^_\n]+(?<!\s))_(?!\w)"
    r"|^(?P<quote>&gt; ?.*)$",
    re.MULTILINE,
)
_DATE = re.compile(r"!date\^(?P<seconds>\d+)\^(?P<form>[^|^]+)\|.+")
_WEB = re.compile(r"(?P<url>https?://[^|\s]+)(?:\|(?P<label>.+))?")
_MENTION = re.compile(r"[@#](?P<id>[A-Z0-9]+)|!(?P<all>here|channel|everyone)|!subteam\^(?P<group>[A-Z0-9]+)")
_FORM = re.compile(r"\{(\w+)\}")


def plain(text: str) -> str:
    """Return what a `plain_text` object shows. Slack decodes its three entities here too."""
    return drawn_signs(escape(_decoded(text)).replace("\n", "<br>"))


def mrkdwn(text: str, now: Instant) -> str:
    """Return what a `mrkdwn` object shows at `now`, in UTC; raises UnknownMarkupError."""
    pieces, end = [], 0
    for found in _MARKUP.finditer(text):
        pieces += [plain(text[end : found.start()]), _shown(found, now)]
        end = found.end()
    return "".join([*pieces, plain(text[end:])])


def _decoded(text: str) -> str:
    if "<" in text or ">" in text:
        raise UnknownMarkupError(f"neither text nor markup: {text!r}")
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _shown(found: re.Match[str], now: Instant) -> str:
    kind = str(found.lastgroup)
    inside = found[kind]
    if kind == "code":
        return f"<code>{plain(inside)}</code>"
    if kind == "angle":
        return _angle(inside, now)
    if kind == "quote":
        return f"<q>{mrkdwn(inside.removeprefix('&gt;').strip(), now)}</q>"
    tag = {"bold": "b", "italic": "i"}[kind]
    return f"<{tag}>{mrkdwn(inside, now)}</{tag}>"


def _angle(inside: str, now: Instant) -> str:
    """Return what stands between < and >: a date, a link or a mention."""
    if found := _DATE.fullmatch(inside):
        return escape(_date(int(found["seconds"]) * SECOND, found["form"], now))
    if found := _WEB.fullmatch(inside):
        address = escape(_decoded(found["url"]))
        return f'<a href="{address}">{plain(found["label"] or found["url"])}</a>'
    if found := _MENTION.fullmatch(inside):
        return f'<span class="mention">@{escape(found["all"] or "on-call")}</span>'
    raise UnknownMarkupError(f"<{inside}>")


def _date(at: Instant, form: str, now: Instant) -> str:
    moment, today = _utc(at), _utc(now).date()
    parts: dict[str, Callable[[], str]] = {
        "date_short_pretty": lambda: _day(moment.date(), today),
        "time": lambda: f"{moment:%H:%M}",
    }

    def part(found: re.Match[str]) -> str:
        if found[1] not in parts:
            raise UnknownMarkupError(f"a date as {found[0]}")
        return parts[found[1]]()

    return _FORM.sub(part, form)


def _day(day: date, today: date) -> str:
    if day == today:
        return "today"
    return "yesterday" if day == today - timedelta(days=1) else f"{day:%b} {day.day}, {day.year}"


def _utc(at: Instant) -> datetime:
    return datetime.fromtimestamp(at // SECOND, UTC)
