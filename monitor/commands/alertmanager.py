"""What the commands about alerts and silences share: a daemon that is asked through Alertmanager's API."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import requests
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from monitor.commands.ask import request
from monitor.commands.query import source
from monitor.commands.table import visible
from monitor.commands.usage import UsageError
from monitor.dispatch.matchers import MatcherError, parse_matchers
from monitor.model.instant import DAY, HOUR, MINUTE, SECOND, Duration, Instant, format_duration, from_seconds
from monitor.model.labels import ALERT_NAME
from monitor.model.matcher import Matcher, MatchError, equal

TIMEOUT_SECONDS = 10


class AskError(Exception):
    """The daemon did not do it; the message is for whoever asked."""


class Alertmanager:
    """A daemon (or an Alertmanager) at `url`. Raises UsageError for a wrong URL, and AskError."""

    def __init__(self, url: str | None) -> None:
        self._url = str(source(url, None)).rstrip("/")

    def alerts(self) -> list[dict[str, Any]]:
        """Return every alert that fires, muted or not."""
        return list(self._ask("GET", "alerts"))

    def silences(self) -> list[dict[str, Any]]:
        return list(self._ask("GET", "silences"))

    def add(self, silence: dict[str, Any]) -> str:
        """Add a silence and return its id."""
        return str(self._ask("POST", "silences", silence)["silenceID"])

    def expire(self, silence_id: str) -> None:
        self._ask("DELETE", f"silence/{silence_id}")

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        try:
            answer = request(method, f"{self._url}/api/v2/{path}", json=body, timeout=TIMEOUT_SECONDS)
        except requests.RequestException as err:
            raise AskError(
                f"the daemon does not answer: {type(err).__name__} (is it running, and is --url right?)"
            ) from err
        try:
            content = answer.json() if answer.content else None
        except requests.JSONDecodeError as err:
            raise AskError(f"this is not a daemon: it answers {answer.status_code}, and not in JSON") from err
        if answer.ok:
            return content
        told = content["message"] if isinstance(content, dict) and "message" in content else content
        raise AskError(visible(str(told)) if told else f"it answers {answer.status_code} {answer.reason}")


def matchers_of(texts: Sequence[str]) -> list[Matcher]:
    """Return the matchers of arguments as amtool takes them: a first one that is but a word names the alert."""
    found: list[Matcher] = []
    for number, text in enumerate(texts):
        if number == 0 and text and not set(text) & set("=~!{},"):
            found.append(equal(ALERT_NAME, text))
            continue
        try:
            found.extend(parse_matchers(text))
        except (MatcherError, MatchError) as err:
            raise UsageError(str(err)) from err
    return found


def instant_of(text: str) -> Instant:
    """Return the instant of an answer's RFC 3339."""
    return from_seconds(datetime.fromisoformat(text).timestamp())


def rough(duration: Duration) -> str:
    """Return a duration as people say it: `42s`, `2h13m`, `3d4h`."""
    unit = SECOND if duration < HOUR else MINUTE if duration < DAY else HOUR
    return format_duration(duration // unit * unit)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], fixed: int) -> Table:
    """Return a table whose first `fixed` columns are never broken."""
    shown = Table(box=SIMPLE_HEAD, show_edge=False)
    for number, name in enumerate(columns):
        shown.add_column(name, no_wrap=number < fixed, overflow="fold")
    for row in rows:
        shown.add_row(*[Text(visible(cell)) for cell in row])
    return shown
