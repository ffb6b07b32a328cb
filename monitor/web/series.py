"""Which series there are: what `match[]` selects, and in which time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Protocol

from monitor.clock import monotonic_seconds
from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.model.matcher import Matcher
from monitor.promql import PromqlError, parse
from monitor.promql.lex import Kind, Token, tokens
from monitor.storage.column import Column
from monitor.web.error import ApiError, ErrorType

# What the error of a selector that would select everything ends with.
_EVERYTHING = "non-empty matcher"
# Grafana asks with one, a Prometheus that federates with a few.
MOST_SELECTORS = 1000


class Storage(Protocol):
    """Where series are found."""

    def select(self, matchers: Sequence[Matcher]) -> Sequence[Column]:
        """Return the series that satisfy all matchers, each label set once; without matchers all."""
        ...


# Returns the series of times that have left the storage: matchers, and the time in which they had samples.
Past = Callable[[Sequence[Matcher], Instant, Instant], Iterable[Labels]]


def nothing(matchers: Sequence[Matcher], after: Instant, until: Instant) -> Iterable[Labels]:
    """Return no series: there is no past."""
    del matchers, after, until
    return ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """Series that satisfy all matchers of any of `selectors` (none: all series), with samples in `[start, end]`."""

    selectors: Sequence[tuple[Matcher, ...]]
    start: Instant
    end: Instant

    def labels(self, storage: Storage, past: Past = nothing, seconds: float = inf) -> list[Labels]:
        """Return their label sets, sorted, each once. Raises ApiError when it takes longer than `seconds`."""
        found: set[Labels] = set()
        for matchers in in_time(self.selectors or ((),), seconds):
            found.update(column.labels for column in storage.select(matchers) if self._has_samples(column))
            found.update(past(matchers, self.start - 1, self.end))
        return sorted(found)

    def _has_samples(self, column: Column) -> bool:
        first, end = column.rows(self.start - 1, self.end)
        return first < end


def selectors_of(texts: Iterable[str]) -> list[tuple[Matcher, ...]]:
    """Return the matchers of each `match[]`. Raises ApiError for what is no plain selector, and for too many."""
    different = dict.fromkeys(texts)
    if len(different) > MOST_SELECTORS:
        raise ApiError(f"more than {MOST_SELECTORS} match[]")
    return [_matchers(text) for text in different]


def in_time(selectors: Iterable[Sequence[Matcher]], seconds: float) -> Iterator[Sequence[Matcher]]:
    """Yield them one by one; each looks at all series. Raises ApiError when `seconds` have passed."""
    end = monotonic_seconds() + seconds
    for matchers in selectors:
        if monotonic_seconds() > end:
            raise ApiError("query timed out in query execution", ErrorType.TIMEOUT)
        yield matchers


def _matchers(text: str) -> tuple[Matcher, ...]:
    try:
        _check_plain(text)
        (selector,) = parse(text).selectors
    except PromqlError as err:
        if _EVERYTHING in str(err):
            raise ApiError(f"match[] must contain at least one {_EVERYTHING}") from err
        raise ApiError(parse_error(err)) from err
    return selector.matchers


def _check_plain(text: str) -> None:
    """Raise ApiError when something stands beside the name and the braces of a selector."""
    found = list(tokens(text))
    named = bool(found) and found[0].kind is Kind.NAME and not _is_number(found[0])
    braces = found[1:] if named else found
    closing = next((index for index, token in enumerate(braces) if token.text == "}"), len(braces))
    beside = braces[closing + 1 :] if braces and braces[0].text == "{" else braces
    if not found:
        raise ApiError("unknown position: parse error: unexpected end of input")
    if beside:
        raise ApiError(f"{_place(beside[0])}: parse error: unexpected {_named(beside[0])}")


def _place(token: Token) -> str:
    line, column = token.position
    return f"{line}:{column}"


def _named(token: Token) -> str:
    if token.kind is Kind.OPERATOR:
        return f"<op:{token.text}>"
    if token.kind is Kind.NUMBER or _is_number(token):
        return f'number "{token.text}"'
    return f"<{token.text}>" if token.kind is Kind.NAME else f'"{token.text}"'


def _is_number(token: Token) -> bool:
    return token.text.lower() in ("inf", "nan")


def parse_error(err: PromqlError) -> str:
    """Return the text of a parse error as the HTTP API words it: the place first, where it is known."""
    place = "unknown position" if err.position is None else "{}:{}".format(*err.position)
    return f"{place}: parse error: {err.args[0]}"
