"""`vllm-monitor query`: an expression, answered by a daemon, by a Prometheus, or from a page in a file."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

from monitor.clock import SystemClock
from monitor.commands.ask import Exchange, request
from monitor.commands.page import PageFileError, read_page
from monitor.commands.usage import UsageError
from monitor.model.instant import SECOND, Duration, DurationError, Instant, from_seconds, parse_duration, to_seconds
from monitor.promql import Engine, PromqlError, parse
from monitor.web.parameters import MOST_POINTS, parse_time

# The `success` answer of the Prometheus HTTP API.
Answer = dict[str, Any]
DAEMON = "http://127.0.0.1:9109"
TIMEOUT_SECONDS = 60
_SCHEME = re.compile("https?://")
# As promtool: about so many points where no step is given.
_POINTS = 250


class QueryError(Exception):
    """There is no answer; the message is for whoever asked."""


@dataclass(frozen=True, slots=True)
class Asked:
    """
    An expression and the times it is asked for.

    With a `range` it is asked for from `at - range` to `at`, every `step`; `at` None is now.
    """

    expr: str
    at: Instant | None = None
    range: Duration | None = None
    step: Duration = 0

    def period(self, newest: Instant) -> tuple[Instant, Instant]:
        """Return start and end, for `at` None with the end at `newest`."""
        end = newest if self.at is None else self.at
        return end - (self.range or 0), end


def asked(expr: str, time: str | None, range_: str | None, step: str | None, end: str | None) -> Asked:
    """Return what the options ask for. Raises UsageError."""
    if range_ is None:
        if step is not None or end is not None:
            raise UsageError("--step and --end go with --range")
        return Asked(expr, None if time is None else _time("--time", time))
    if time is not None:
        raise UsageError("--time and --range exclude each other: a range ends at --end")
    length = _duration("--range", range_)
    # A millisecond is the shortest time that there is; a second is what people ask for.
    width = max(length // _POINTS // SECOND * SECOND, SECOND) if step is None else _duration("--step", step)
    if length // width > MOST_POINTS:
        raise UsageError(f"--range and --step make more than {MOST_POINTS:,} points")
    return Asked(expr, None if end is None else _time("--end", end), length, width)


def source(url: str | None, page: Path | None) -> str | Path:
    """Return who is asked: a server by its URL, or a page by its path. Raises UsageError."""
    if url is not None and page is not None:
        raise UsageError("--url and --openmetrics exclude each other")
    if url is not None and not _is_url(url):
        raise UsageError(f"--url {_without_password(url)} is no URL: write {DAEMON}")
    return page or url or DAEMON


def answered(question: Asked, where: str | Path) -> Answer:
    """Return the answer of a server or a page. Raises QueryError."""
    return from_page(where, question) if isinstance(where, Path) else from_server(where, question)


def from_server(url: str, question: Asked, exchange: Exchange = request) -> Answer:
    """Ask the Prometheus HTTP API at `url`, by `exchange`. Raises QueryError."""
    parameters: dict[str, str | float] = {"query": question.expr}
    path = "query"
    if question.range is not None:
        path = "query_range"
        start, end = question.period(SystemClock().now())
        parameters |= {"start": to_seconds(start), "end": to_seconds(end), "step": to_seconds(question.step)}
    elif question.at is not None:
        parameters["time"] = to_seconds(question.at)
    server = _without_password(url)
    try:
        reply = exchange("POST", f"{url.rstrip('/')}/api/v1/{path}", data=parameters, timeout=TIMEOUT_SECONDS)
    except requests.RequestException as err:
        raise QueryError(f"{server} does not answer: {type(err).__name__}") from err
    return _understood(server, reply)


def from_page(path: Path, question: Asked) -> Answer:
    """
    Evaluate over the samples of a page; `-` is standard input. Raises QueryError.

    Without a time it is asked for at the newest timestamp in the page, or now where there is none. Samples without a
    timestamp are taken to be of the time that is asked for: of the last step of a range.
    """
    try:
        page = read_page(path)
        plan = parse(question.expr)
        start, end = question.period(SystemClock().now() if page.newest is None else page.newest)
        if question.range is None:
            result = Engine(page.window(end)).instant(plan, end)
        else:
            last = start + (end - start) // question.step * question.step
            result = Engine(page.window(last)).range(plan, start, end, question.step)
    except PageFileError as err:
        raise QueryError(str(err)) from err
    except PromqlError as err:
        raise QueryError(f"{err.kind}: {err}") from err
    remarks = {"warnings": list(result.warnings), "infos": list(result.infos)}
    return {"status": "success", "data": result.as_json()} | {name: some for name, some in remarks.items() if some}


def _understood(server: str, reply: requests.Response) -> Answer:
    try:
        answer = reply.json()
    # A number of thousands of digits and a list in a list in a list are no JSONDecodeError.
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or answer.get("status") not in ("success", "error"):
        raise QueryError(f"{server} does not speak the Prometheus HTTP API: it answers {reply.status_code}")
    if answer["status"] == "error":
        raise QueryError(f"{answer.get('errorType')}: {answer.get('error')}")
    if not _is_result(answer.get("data")):
        raise QueryError(f"{server} does not speak the Prometheus HTTP API: its answer is no result of a query")
    return answer


def _is_result(data: Any) -> bool:
    """Whether all in it is what the API says: labels are texts, times are numbers, and values are texts of numbers."""
    try:
        kind, result = data["resultType"], data["result"]
        if kind in ("scalar", "string"):
            return len(result) == len(("time", "value"))
        for one in result:
            if not all(isinstance(text, str) for pair in one["metric"].items() for text in pair):
                return False
            for at, text in [*one.get("values", ()), *([one["value"]] if "value" in one else ())]:
                from_seconds(at)
                float(text)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return False
    return True


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        # Reading the port is what finds out that it is none.
        return bool(_SCHEME.match(text) and parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _without_password(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.rpartition("@")[2]
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _time(option: str, text: str) -> Instant:
    try:
        return parse_time(text)
    except ValueError as err:
        raise UsageError(f"{option}: {err} (write 2026-11-30T06:00:00Z, or seconds since 1970)") from err


def _duration(option: str, text: str) -> Duration:
    try:
        duration = parse_duration(text)
    except DurationError as err:
        raise UsageError(f"{option}: {err}") from err
    if not duration:
        raise UsageError(f"{option} must be above zero")
    return duration
