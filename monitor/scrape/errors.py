"""Why a scrape failed."""

from enum import StrEnum

_LONGEST_EXCERPT = 100


class Reason(StrEnum):
    """The closed set of reasons: for the log, the metric's label and the tests."""

    URL = "url"
    RESOLVE = "resolve"
    REFUSED = "refused"
    CONNECTION = "connection"
    TIMEOUT = "timeout"
    TLS = "tls"
    CREDENTIALS = "credentials"
    REDIRECT = "redirect"
    STATUS = "status"
    BODY_TOO_LARGE = "body_too_large"
    ENCODING = "encoding"
    CONTENT_TYPE = "content_type"
    PARSE = "parse"
    LIMIT = "limit"
    INTERNAL = "internal"


class ScrapeError(Exception):
    """A target gave no page. The message names no secret: no credentials, no userinfo of a URL."""

    def __init__(self, message: str, *, reason: Reason) -> None:
        super().__init__(message)
        self.reason = reason


class PageError(ScrapeError):
    """
    A page that is not in its format, or breaks a limit.

    `line` and `column` count from 1; `column` is None when no place in the line is to blame.
    `scraped` and `added` are the samples before the line, and those of them that were in no earlier page.
    """

    def __init__(
        self, message: str, *, line: int, column: int | None = None, text: str = "", reason: Reason = Reason.PARSE
    ) -> None:
        place = f"line {line}" if column is None else f"line {line}, column {column}"
        super().__init__(f"{place}: {message}{_excerpt(text)}", reason=reason)
        self.line = line
        self.column = column
        self.scraped = 0
        self.added = 0


class LimitError(ScrapeError):
    """Labels that are not allowed, whatever the line; a reader of pages turns it into a PageError."""

    def __init__(self, message: str, *, reason: Reason = Reason.LIMIT) -> None:
        super().__init__(message, reason=reason)


def _excerpt(text: str) -> str:
    return f" in {readable(text)}" if text else ""


def readable(text: str) -> str:
    """Return the beginning of `text` in double quotes on one line; bytes that are no UTF-8 show in hexadecimal."""
    shown = "".join(_readable(char) for char in text[:_LONGEST_EXCERPT])
    return '"' + shown.replace('"', '\\"') + '"' + ("…" if len(text) > _LONGEST_EXCERPT else "")


def _readable(char: str) -> str:
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    return char if char.isprintable() else repr(char)[1:-1]
