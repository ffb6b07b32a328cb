"""`vllm-monitor backtest`: which alerts would have fired, had these rules been at work."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from monitor.backtest import prometheus
from monitor.backtest.dump import Dump
from monitor.backtest.feed import SeriesFeed
from monitor.backtest.prometheus import Credentials, Server
from monitor.backtest.recording import RecordingFeed, period_of, recordings
from monitor.backtest.source import Feed, Period, Source, SourceError
from monitor.clock import SystemClock
from monitor.commands.backtesting import Played, Stretch, names_of, play
from monitor.commands.usage import UsageError
from monitor.config.config import Config
from monitor.config.flags import Flags, from_flags
from monitor.config.read import load
from monitor.model.instant import DAY, HOUR, Duration, DurationError, Instant, parse_duration
from monitor.storage.window import Window
from monitor.web.parameters import parse_time

# How much of a series is read at a time where a backtest goes instant by instant.
_PAGE: Duration = HOUR


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says, as it says it."""

    rules: Sequence[Path] = ()
    values: Path | None = None
    config: Path | None = None
    prometheus: str | None = None
    openmetrics: Path | None = None
    recording: Path | None = None
    start: str | None = None
    end: str | None = None
    interval: str | None = None
    compare: Sequence[Path] = ()
    credentials: Credentials = field(default_factory=Credentials)

    def stretch(self) -> Stretch:
        """Return the part of the history that is asked for. Raises UsageError."""
        found = Stretch(_time("--from", self.start), _time("--to", self.end), _duration(self.interval))
        if found.start is not None and found.end is not None and found.start >= found.end:
            raise UsageError("--from is not before --to")
        return found

    def configs(self) -> list[Config]:
        """Return the configuration, and with --compare the one of the other rules. Raises DocumentError, UsageError."""
        if self.rules and self.values is not None:
            raise UsageError("--values are those of the shipped rules: leave out --rules")
        # The targets of a file are of no account here, those of flags must be some.
        base = load(self.config) if self.config is not None else from_flags(Flags(targets=("127.0.0.1:1",)), {})
        first = _with_rules(base, self.rules) if self.rules else base
        if self.values is not None:
            first = replace(base, rule_files=None, rule_values_file=self.values)
        return [first, _with_rules(base, self.compare)] if self.compare else [first]

    def history(self) -> "Recorded | Dumped | Served":
        """Return the history that is named. Raises UsageError and SourceError."""
        if sum(one is not None for one in (self.prometheus, self.openmetrics, self.recording)) != 1:
            raise UsageError("give one of --prometheus, --openmetrics and --recording")
        if self.recording is not None:
            return Recorded(recordings(self.recording))
        if self.openmetrics is not None:
            return Dumped(self.openmetrics)
        return Served(Server(self.prometheus or "", self.credentials))


def run(options: Options, console: Console) -> list[Played]:
    """
    Play the history for the rules, and with --compare for the others too; how far it has come is shown on `console`.

    Raises UsageError, DocumentError and SourceError.
    """
    stretch, configs, history = options.stretch(), options.configs(), options.history()
    names = [names_of(config) for config in configs]
    with console.status("reading the history"):
        history.prepare(None if None in names else frozenset[str]().union(*(some or () for some in names)), stretch)
        period = history.period(stretch)
    if period.start >= period.end:
        raise UsageError("there is no history between --from and --to")
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        return [_played(config, history, period, bar, number) for number, config in enumerate(configs, 1)]


def _played(
    config: Config, history: "Recorded | Dumped | Served", period: Period, bar: Progress, number: int
) -> Played:
    task = bar.add_task("backtest" if number == 1 else "the other rules", total=period.end - period.start)

    def watch(at: Instant) -> None:
        bar.update(task, completed=at - period.start)

    return play(config, history, period, watch)


class Recorded:
    """Recordings of servers."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths

    def prepare(self, names: frozenset[str] | None, stretch: Stretch) -> None:
        """Nothing is read before its time."""

    def period(self, stretch: Stretch) -> Period:
        return stretch.of(period_of(self._paths, stretch.interval))

    def feed(self, window: Window, names: frozenset[str] | None, period: Period, *, by_slots: bool) -> Feed:  # noqa: ARG002 - it is scraped slot by slot anyway
        return RecordingFeed(window, self._paths, names, period.interval)


class Dumped:
    """A file of series, which is read once for all rules."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._dump: Dump | None = None

    def prepare(self, names: frozenset[str] | None, stretch: Stretch) -> None:  # noqa: ARG002 - a file is read whole
        self._dump = Dump(self._path, names)

    def period(self, stretch: Stretch) -> Period:
        return stretch.of(self._read().period(stretch.interval))

    def feed(self, window: Window, names: frozenset[str] | None, period: Period, *, by_slots: bool) -> Feed:  # noqa: ARG002 - chosen when it was read
        return _series_feed(window, self._read(), period, by_slots=by_slots)

    def _read(self) -> Dump:
        if self._dump is None:
            raise SourceError(f"{self._path} has not been read")
        return self._dump


class Served:
    """A Prometheus, or what speaks like one: the last day where nothing else is asked for."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def prepare(self, names: frozenset[str] | None, stretch: Stretch) -> None:
        """Everything is asked for when its time comes."""

    def period(self, stretch: Stretch) -> Period:
        end = SystemClock().now() if stretch.end is None else stretch.end
        start = end - DAY if stretch.start is None else stretch.start
        return stretch.of(prometheus.period(self._server, start, end, stretch.interval))

    def feed(self, window: Window, names: frozenset[str] | None, period: Period, *, by_slots: bool) -> Feed:
        return _series_feed(window, prometheus.History(self._server, names), period, by_slots=by_slots)


def _series_feed(window: Window, source: Source, period: Period, *, by_slots: bool) -> SeriesFeed:
    # What the rules read back at the first instant is there already, as far as the window keeps it.
    return SeriesFeed(window, source, period.start - HOUR, _PAGE if by_slots else 0)


def _with_rules(config: Config, rules: Sequence[Path]) -> Config:
    return replace(config, rule_files=tuple(rules), rule_values_file=None)


def _time(option: str, text: str | None) -> Instant | None:
    if text is None:
        return None
    try:
        return parse_time(text)
    except ValueError as err:
        raise UsageError(f"{option}: {err} (write 2026-11-30T06:00:00Z, or seconds since 1970)") from err


def _duration(text: str | None) -> Duration | None:
    if text is None:
        return None
    try:
        found = parse_duration(text)
    except DurationError as err:
        raise UsageError(f"--interval: {err}") from err
    if not found:
        raise UsageError("--interval must be above zero")
    return found
