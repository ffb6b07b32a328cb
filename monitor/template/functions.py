"""
The functions of a template: Go's and Prometheus' own.

reference: Prometheus, docs/configuration/template_reference.md; text output as measured on 2.42 and 3.5.
"""

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache, partial
from typing import Any
from urllib.parse import quote_plus, urlsplit

import re2

from monitor.model.instant import DurationError, Instant, parse_duration, to_seconds
from monitor.model.labels import Labels
from monitor.template import builtins, humanize
from monitor.template.errors import FunctionError
from monitor.template.printf import sprint, sprintf, sprintln
from monitor.template.values import QueryResult, QuerySample, Value

Query = Callable[[str], Sequence[tuple[Labels, float]]]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a function may know beside its arguments."""

    query: Query | None
    external_url: str
    now: Instant


class Parameter(StrEnum):
    """The type a parameter asks for; the value is Go's name of it."""

    ANY = "interface {}"
    STRING = "string"
    SAMPLE = "*template.sample"
    RESULT = "template.queryResult"


@dataclass(frozen=True, slots=True)
class Function:
    """`parameters` come first; any number of `rest` may follow. `call` raises FunctionError."""

    call: Callable[..., Value]
    parameters: tuple[Parameter, ...] = ()
    rest: Parameter | None = None
    looks_around: bool = False


def _query(around: Surroundings, expr: str) -> QueryResult:
    if around.query is None:
        raise FunctionError("queries are not available here")
    try:
        return QueryResult(QuerySample(labels, value) for labels, value in around.query(expr))
    except Exception as err:
        # Whatever the query engine throws must end as text, not lose the alert.
        raise FunctionError(str(err)) from err


def _first(result: QueryResult) -> QuerySample:
    if not result:
        raise FunctionError("first() called on vector with no elements")
    return result[0]


def _sort_by_label(label: str, result: QueryResult) -> QueryResult:
    return QueryResult(sorted(result, key=lambda sample: sample.labels.value(label)))


@lru_cache(maxsize=256)
def _regex(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as err:
        raise FunctionError(f"error parsing regexp: `{pattern}`") from err


def _match(pattern: str, text: str) -> bool:
    return _regex(pattern).search(text) is not None


_REFERENCE = re.compile(r"\$(?:\$|([0-9A-Za-z_]+)|\{([0-9A-Za-z_]+)\})")


def _replace_all(pattern: str, replacement: str, text: str) -> str:
    """Replace as Go's ReplaceAllString: `$1`, `${name}`, `$$`; the longest name counts, an unknown one is empty."""
    regex = _regex(pattern)
    parts: list[str] = []
    copied = position = 0
    while position <= len(text):
        found = regex.search(text, position)
        if found is None:
            break
        start, end = found.span()
        # An empty match right after the last one is not a match.
        if end > start or start > copied or start == 0:
            parts += (text[copied:start], _REFERENCE.sub(partial(_group, found), replacement))
            copied = end
        position = end if end > start and end > position else end + 1
    return "".join(parts) + text[copied:]


def _group(found: Any, reference: re.Match[str]) -> str:
    name = reference[1] or reference[2]
    if name is None:
        return "$"
    try:
        return found.group(int(name) if name.isdigit() else name) or ""
    except (IndexError, KeyError):
        return ""


# A word goes on through an apostrophe or a dot between letters; its first letter may stand behind digits.
_WORD = re.compile(r"\w+(?:['.:\u2019\u00b7](?=[^\W\d_])\w+)*")
_LETTER = re.compile(r"[^\W\d_]")


def _title(text: str) -> str:
    return _WORD.sub(lambda word: _LETTER.sub(lambda letter: letter.group().title(), word.group(), count=1), text)


def _split_host_port(text: str) -> tuple[str, str] | None:
    """Return host and port, or None where there is no port."""
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        return (host, rest[1:]) if bracket and rest.startswith(":") and ":" not in rest[1:] else None
    host, colon, port = text.rpartition(":")
    return (host, port) if colon and not set(host) & set(":[]") and "]" not in port else None


def _strip_port(text: str) -> str:
    parts = _split_host_port(text)
    return text if parts is None else parts[0]


def _strip_domain(text: str) -> str:
    host, port = _split_host_port(text) or (text, "")
    try:
        ipaddress.ip_address(host)
    except ValueError:
        host = host.partition(".")[0]
    else:
        return text
    if not port:
        return host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _parse_duration(text: str) -> float:
    try:
        return to_seconds(parse_duration(text))
    except DurationError as err:
        if not text:
            raise FunctionError("empty duration string") from err
        raise FunctionError(f'not a valid duration string: "{text}"') from err


def _link(expr: str, tab: int) -> str:
    return f"/graph?g0.expr={quote_plus(expr, errors='replace')}&g0.tab={tab}"


def _number(function: Callable[[float], Value]) -> Function:
    return Function(lambda value: function(humanize.to_float(value)), (Parameter.ANY,))


def _of_text(function: Callable[..., Value], count: int = 1) -> Function:
    return Function(function, (Parameter.STRING,) * count)


def _anything(function: Callable[..., Value], fixed: int = 0) -> Function:
    return Function(function, (Parameter.ANY,) * fixed, rest=Parameter.ANY)


FUNCTIONS: dict[str, Function] = {
    # Go's own.
    "and": _anything(lambda *_: None, fixed=1),
    "or": _anything(lambda *_: None, fixed=1),
    "not": Function(builtins.negate, (Parameter.ANY,)),
    "len": Function(builtins.length, (Parameter.ANY,)),
    "index": _anything(builtins.index, fixed=1),
    "slice": _anything(builtins.cut, fixed=1),
    "print": _anything(lambda *arguments: sprint(arguments)),
    "println": _anything(lambda *arguments: sprintln(arguments)),
    "printf": Function(lambda text, *rest: sprintf(text, rest), (Parameter.STRING,), rest=Parameter.ANY),
    "html": _anything(builtins.html),
    "js": _anything(builtins.js),
    "urlquery": _anything(builtins.urlquery),
    "call": _anything(builtins.call, fixed=1),
    "eq": _anything(builtins.equal, fixed=1),
    "ne": Function(builtins.unequal, (Parameter.ANY,) * 2),
    "lt": Function(builtins.less, (Parameter.ANY,) * 2),
    "le": Function(builtins.less_or_equal, (Parameter.ANY,) * 2),
    "gt": Function(builtins.greater, (Parameter.ANY,) * 2),
    "ge": Function(builtins.greater_or_equal, (Parameter.ANY,) * 2),
    # Queries.
    "query": Function(_query, (Parameter.STRING,), looks_around=True),
    "first": Function(_first, (Parameter.RESULT,)),
    "label": Function(lambda name, sample: sample.labels.value(name), (Parameter.STRING, Parameter.SAMPLE)),
    "value": Function(lambda sample: sample.value, (Parameter.SAMPLE,)),
    "strvalue": Function(lambda sample: sample.labels.value("__value__"), (Parameter.SAMPLE,)),
    "sortByLabel": Function(_sort_by_label, (Parameter.STRING, Parameter.RESULT)),
    # Numbers.
    "humanize": _number(humanize.humanize),
    "humanize1024": _number(humanize.humanize1024),
    "humanizeDuration": _number(humanize.humanize_duration),
    "humanizePercentage": _number(humanize.humanize_percentage),
    "humanizeTimestamp": _number(humanize.humanize_timestamp),
    "toTime": _number(humanize.to_time),
    "toDuration": _number(humanize.to_duration),
    "parseDuration": _of_text(_parse_duration),
    "now": Function(lambda around: to_seconds(around.now), looks_around=True),
    # Text.
    "match": _of_text(_match, 2),
    "reReplaceAll": _of_text(_replace_all, 3),
    "safeHtml": _of_text(str),
    "title": _of_text(_title),
    "toUpper": _of_text(str.upper),
    "toLower": _of_text(str.lower),
    "stripPort": _of_text(_strip_port),
    "stripDomain": _of_text(_strip_domain),
    "urlQueryEscape": _of_text(lambda text: quote_plus(text, errors="replace")),
    "args": _anything(lambda *values: {f"arg{number}": value for number, value in enumerate(values)}),
    # Links.
    "graphLink": _of_text(lambda expr: _link(expr, 0)),
    "tableLink": _of_text(lambda expr: _link(expr, 1)),
    "externalURL": Function(lambda around: around.external_url, looks_around=True),
    "pathPrefix": Function(lambda around: urlsplit(around.external_url).path, looks_around=True),
}
