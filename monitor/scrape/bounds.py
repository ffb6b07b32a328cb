"""
What a page may cost beyond its bytes.

Ten megabytes of blank lines, or of labels, are a small body and take many seconds and hundreds of megabytes to read.
Real pages have a hundred bytes a line and thirty a label.
"""

from monitor.scrape.errors import Reason, ScrapeError

# A page may have one line, and one label, for so many bytes of body_size_limit.
BYTES_A_LINE, BYTES_A_LABEL = 40, 20
# No page is refused that is smaller than so many bytes.
ALWAYS_READ = 512 * 1024
_QUOTES_A_LABEL = 2


def check_bounds(body: bytes, limit: int) -> None:
    """Raise ScrapeError when a page has more lines or labels than `limit`, body_size_limit, can be meant for."""
    if limit == 0 or len(body) <= ALWAYS_READ:
        return
    for what, found, most in (
        ("lines", body.count(b"\n"), limit // BYTES_A_LINE),
        ("labels", body.count(b'"') // _QUOTES_A_LABEL, limit // BYTES_A_LABEL),
    ):
        if found > most:
            raise ScrapeError(
                f"{found} {what} are too many for a body_size_limit of {limit} bytes", reason=Reason.BODY_TOO_LARGE
            )
