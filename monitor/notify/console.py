"""The same message for a person at a terminal."""

import threading
from dataclasses import replace

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from monitor.dispatch.notification import Notification, NotifyError
from monitor.model.instant import Instant
from monitor.notify.cleanse import one_line
from monitor.notify.moment import lasted, utc, utc_briefly
from monitor.notify.readings import Facts, NoFacts
from monitor.notify.severity import Severity
from monitor.notify.summary import Case, Kind, Summary, summarise, with_readings
from monitor.notify.title import title

_MOST_KINDS = 5
_MOST_CASES = 5
# A terminal has room for more than a phone.
_LONGEST_TITLE = 200
_STYLES = {Severity.CRITICAL: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold blue"}
_RESOLVED_STYLE = "bold green"
_QUIET = "dim"


class ConsoleNotifier:
    """
    Prints notifications on a console of rich, which knows whether colour is wanted and how wide it is.

    Texts of alerts are never read as markup, and hold no control characters.
    """

    def __init__(self, console: Console, facts: Facts | None = None) -> None:
        self._console = console
        self._facts = facts or NoFacts()
        self._lock = threading.Lock()

    def notify(self, notification: Notification) -> None:
        """Print the notification; raises NotifyError when the terminal is gone."""
        try:
            with self._lock:
                self._print(rendered(with_readings(summarise(notification), self._facts)))
        except (OSError, ValueError) as err:
            raise NotifyError(f"cannot print: {type(err).__name__}", reason="unreachable", retryable=True) from err

    def _print(self, message: RenderableType) -> None:
        try:
            self._console.print(message)
        except UnicodeEncodeError:
            # A terminal of another age: better question marks than no alert.
            with self._console.capture() as captured:
                self._console.print(message)
            encoding = self._console.encoding
            self._console.file.write(captured.get().encode(encoding, "replace").decode(encoding))


def rendered(summary: Summary) -> RenderableType:
    """Return what is printed."""
    style = _RESOLVED_STYLE if summary.is_resolved else _STYLES[summary.severity]
    # The number and the place stand on the lines below.
    line = title(replace(summary.headline, number="", place="", brief_place=""), _LONGEST_TITLE)
    head = Text.assemble((f"{utc(summary.now, seconds=True)}  ", _QUIET), (line, style))
    parts: list[RenderableType] = [head]
    parts += [Text(f"  {mark}", _QUIET) for mark in summary.marks]
    if summary.firing and summary.resolved:
        parts.append(Text(f"  {summary.counts}", _QUIET))
    several = len(summary.kinds) > 1
    parts += [Padding(_kind(kind, summary, several=several), (0, 0, 0, 2)) for kind in summary.kinds[:_MOST_KINDS]]
    hidden = summary.kinds[_MOST_KINDS:]
    if hidden:
        parts.append(Text(f"  +{len(hidden)} more: {', '.join(kind.name for kind in hidden[:_MOST_CASES])}", _QUIET))
    return Group(*parts, Text())


def _kind(kind: Kind, summary: Summary, *, several: bool) -> RenderableType:
    style = _RESOLVED_STYLE if kind.resolved else _STYLES[kind.severity]
    parts: list[RenderableType] = []
    if several:
        parts.append(Text(kind.what or kind.name, style))
    limit = f"(limit {kind.threshold})" if kind.threshold and len(kind.cases) > 1 else ""
    if kind.place or limit:
        parts.append(_joined(Text(kind.place, "bold"), Text(limit)))
    parts += [_case(kind, case, summary.now) for case in kind.cases[:_MOST_CASES]]
    if len(kind.cases) > _MOST_CASES:
        parts.append(Text(f"+{len(kind.cases) - _MOST_CASES} more", _QUIET))
    if kind is summary.kinds[0] and summary.readings.words:
        heading = "Worst of it" if summary.is_resolved else "Now"
        parts.append(Text(f"{heading}: {' · '.join(summary.readings.words)}"))
    if not kind.resolved:
        parts += [Text(one_line(text)) for text in (kind.description, _try_first(kind)) if text]
        if kind is summary.kinds[0]:
            parts += [Text(f"  {line}") for line in summary.readings.advice]
        links = (one_line(kind.runbook), one_line(kind.dashboard))
        parts += [Text(url, f"{_QUIET} underline", overflow="fold") for url in links if url]
    return Group(*parts)


def _try_first(kind: Kind) -> str:
    return f"Try first: {kind.remedy}" if kind.remedy else ""


def _case(kind: Kind, case: Case, now: Instant) -> Text:
    style = "green" if case.resolved else _STYLES[kind.severity]
    alone = len(kind.cases) == 1
    limit = f"(limit {case.threshold})" if case.threshold and (alone or not kind.threshold) else ""
    value = f"was {case.value}" if case.value and case.resolved else case.value
    reading = Text(" ").join(part for part in (Text(value, style), Text(limit)) if part)
    when = (
        Text(f"since {utc_briefly(case.since, now)} ({lasted(case.lasted)})", _QUIET)
        if case.ended is None
        else Text(f"resolved after {lasted(case.lasted)}", "green")
    )
    place = case.where if alone else case.brief
    return _joined(Text(place, "bold"), reading, when)


def _joined(*parts: Text) -> Text:
    return Text("  ").join(part for part in parts if part)
