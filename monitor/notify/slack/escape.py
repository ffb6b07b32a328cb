"""
Text that Slack shows as it is and that rings nobody.

reference: Slack, formatting message text: `&`, `<` and `>` are escaped, once, in plain and in marked-up text alike;
everything that mentions, links or formats a date is written between `<` and `>`.
"""

import re
from ipaddress import ip_address
from urllib.parse import quote, urlsplit

from monitor.model.instant import SECOND, Instant
from monitor.notify.cleanse import cleaned, one_line
from monitor.notify.moment import utc

_PIECES = re.compile(r"&(?:amp|lt|gt);|.", re.DOTALL)
_URL_SAFE = "/:?#[]@!$&'()*+,;=%-._~"
_LONGEST_URL = 1_200
_FIRST_ASTRAL = 0x10000
# What marked-up text would not show as it is: a sign of emphasis at the edge of a word, a quotation, an emoji.
_LIVE = re.compile(r"(?<![A-Za-z0-9_])[*_~]|[*_~](?![A-Za-z0-9_])|^\s*&gt;|:[\w+'-]+:", re.MULTILINE | re.ASCII)


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


def is_plain(escaped: str) -> bool:
    """Say whether marked-up text shows an escaped text as it is."""
    return _LIVE.search(escaped) is None


def literal(text: str, longest: int) -> str:
    """
    Return `text` on one line as marked-up text shows it to the letter.

    What would be taken for markup stands in a code span: unlike a text with invisible signs in it, it can be copied.
    """
    inside = line(text, longest)
    return inside if is_plain(inside) else f"`{inside}`"


def bold(text: str, longest: int) -> str:
    """Return `text` on one line, in bold unless it takes a code span to show it."""
    inside = literal(text, longest)
    return inside if not inside or inside.startswith("`") else f"*{inside}*"


def literal_lines(text: str, longest: int) -> str:
    """Return `text` as it is, line by line, for marked-up text."""
    whole = shown(text, longest)
    return "\n".join(row if is_plain(row) else f"`{row}`" for row in whole.split("\n"))


def link(url: str, label: str) -> str:
    """
    Return `<url|label>`, or "" when `url` is not one for a browser or is too long to be followed.

    Who reads it sits at another machine: one that leads to the reader's own leads nowhere.
    """
    encoded = quote(url.strip()[:_LONGEST_URL], safe=_URL_SAFE, errors="replace")
    # `&` is escaped inside a link too; `<`, `>` and `|` are percent-encoded.
    escaped = encoded.replace("&", "&amp;")
    if len(url.strip()) > _LONGEST_URL or len(escaped) > _LONGEST_URL:
        return ""
    try:
        parts = urlsplit(encoded)
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.hostname or _is_loopback(parts.hostname):
        return ""
    return f"<{escaped}|{line(label, 75).replace('|', '/')}>"


def _is_loopback(host: str) -> bool:
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith((".localhost", ".localdomain")):
        return True
    try:
        address = ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def date(at: Instant, form: str = "{date_short_pretty} {time}") -> str:
    """Return an instant that every reader sees in the own time zone; clients that cannot, show UTC."""
    seconds = at // SECOND
    return f"<!date^{seconds}^{form}|{utc(at)}>"
