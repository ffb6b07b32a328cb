"""
Text that Slack shows as it is and that rings nobody.

reference: Slack, formatting message text: `&`, `<` and `>` are escaped, once, in plain and in marked-up text alike;
everything that mentions, links or formats a date is written between `<` and `>`.
"""

import re
from urllib.parse import quote, urlsplit

from monitor.model.instant import SECOND, Instant
from monitor.notify.cleanse import cleaned, one_line
from monitor.notify.moment import utc

_PIECES = re.compile(r"&(?:amp|lt|gt);|.", re.DOTALL)
_URL_SAFE = "/:?#[]@!$&'()*+,;=%-._~"
_LONGEST_URL = 1_200
_FIRST_ASTRAL = 0x10000


def units(text: str) -> int:
    """Return the length of `text` in UTF-16 units, in case that is how Slack counts: never less than in characters."""
    return sum(1 + (ord(character) >= _FIRST_ASTRAL) for character in text)


def escape(text: str) -> str:
    """Return `text` cleaned and escaped for any text of Slack."""
    # A back-tick would open a code span, or close ours.
    safe = cleaned(text).replace("`", "'")
    return safe.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def clip(escaped: str, longest: int) -> str:
    """Return at most `longest` units of an escaped text, never half an entity; what is cut shows as an ellipsis."""
    if units(escaped) <= longest:
        return escaped
    kept, size = [], 0
    for piece in _PIECES.findall(escaped):
        size += units(piece)
        if size > longest - 1:
            break
        kept.append(piece)
    return "".join(kept).rstrip() + "…"


def shown(text: str, longest: int) -> str:
    """Return `text` escaped and cut to `longest`."""
    # Escaping never makes a text shorter, so what lies beyond can be dropped before the work.
    return clip(escape(text[: 4 * longest]), longest)


def line(text: str, longest: int) -> str:
    """Return `text` on one line, escaped and cut to `longest`."""
    return shown(one_line(text[: 8 * longest]), longest)


def code(text: str, longest: int) -> str:
    """Return `text` on one line in a code span, or nothing when it is empty."""
    inside = line(text, longest)
    return f"`{inside}`" if inside else ""


def link(url: str, label: str) -> str:
    """Return `<url|label>`, or "" when `url` is not one for a browser or is too long to be followed."""
    encoded = quote(url.strip()[:_LONGEST_URL], safe=_URL_SAFE, errors="replace")
    # `&` is escaped inside a link too; `<`, `>` and `|` are percent-encoded.
    escaped = encoded.replace("&", "&amp;")
    if len(url.strip()) > _LONGEST_URL or len(escaped) > _LONGEST_URL:
        return ""
    try:
        parts = urlsplit(encoded)
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    return f"<{escaped}|{line(label, 75).replace('|', '/')}>"


def date(at: Instant, form: str = "{date_short_pretty} {time}") -> str:
    """Return an instant that every reader sees in the own time zone; clients that cannot, show UTC."""
    seconds = at // SECOND
    return f"<!date^{seconds}^{form}|{utc(at)}>"
