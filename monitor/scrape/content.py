"""
The format of an answer.

reference: Prometheus 3, model/textparse/interface.go extractMediaType: the media type decides alone, not its version.
"""

import re

from monitor.scrape.errors import Reason, ScrapeError, readable
from monitor.scrape.openmetrics import OPENMETRICS
from monitor.scrape.options import ScrapeProtocol
from monitor.scrape.text import TEXT
from monitor.scrape.whole import Format

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
# Possessive: a header of 64 KiB of blanks must not be tried in every way, with all other threads waiting meanwhile.
_MEDIA_TYPE = re.compile(
    rf'\s*+({_WORD}/{_WORD})\s*+(?:;\s*+{_WORD}\s*+=\s*+(?:{_WORD}|"(?:[^"\\]|\\.)*+")\s*+)*+;?\s*+', re.ASCII
)
_FORMATS: dict[str, Format] = {"application/openmetrics-text": OPENMETRICS, "text/plain": TEXT}
_PROTOCOLS: dict[ScrapeProtocol, Format] = {
    ScrapeProtocol.PROMETHEUS_TEXT_0_0_4: TEXT,
    ScrapeProtocol.PROMETHEUS_TEXT_1_0_0: TEXT,
    ScrapeProtocol.OPENMETRICS_TEXT_0_0_1: OPENMETRICS,
    ScrapeProtocol.OPENMETRICS_TEXT_1_0_0: OPENMETRICS,
}


def format_of(content_type: str, fallback: ScrapeProtocol | None = None) -> Format:
    """Return the format of a page with this Content-Type. Raises ScrapeError when it is none we read."""
    found = _MEDIA_TYPE.fullmatch(content_type)
    known = _FORMATS.get(found.group(1).lower()) if found else None
    if known is not None:
        return known
    if fallback is not None:
        return _PROTOCOLS[fallback]
    what = f"unsupported Content-Type {readable(content_type)}" if content_type else "no Content-Type"
    raise ScrapeError(f"{what}, and no fallback_scrape_protocol", reason=Reason.CONTENT_TYPE)
