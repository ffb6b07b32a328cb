"""A report of a recording: the rules are played over it, and it is asked as a daemon would be."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from monitor.backtest.recording import period_of, recordings
from monitor.backtest.source import SourceError
from monitor.commands.backtest import Recorded
from monitor.commands.backtesting import window_of
from monitor.commands.query import QueryError
from monitor.config.flags import Flags, from_flags
from monitor.model.instant import Duration, Instant
from monitor.promql import Engine, Matrix, parse
from monitor.report.gather import Gathered, Points, gather
from monitor.report.period import PeriodError, whole_minutes
from monitor.storage.window import Window

_ENDINGS = (".jsonl", ".jsonl.gz")


def is_recording(text: str) -> bool:
    """Tell whether a text names a recording or a folder of them, and no period."""
    return text.endswith(_ENDINGS) or Path(text).is_dir()


def of_recording(path: Path) -> Gathered:
    """Return all that is in a report of a recording. Raises QueryError."""
    try:
        paths = recordings(path)
        played = period_of(paths, None)
        period = whole_minutes(played.start, played.end)
        # The targets of a configuration are of no account here, but there must be some.
        window = window_of(from_flags(Flags(targets=("127.0.0.1:1",)), {}), Recorded(paths), played)
    except SourceError as err:
        raise QueryError(str(err)) from err
    except PeriodError as err:
        raise QueryError(f"{path}: {err}") from err
    return gather(_Played(window), period)


@dataclass(frozen=True)
class _Played:
    """Answers from a window."""

    window: Window

    def __call__(self, expr: str, start: Instant, end: Instant, step: Duration, /) -> Sequence[Points]:
        value = Engine(self.window).range(parse(expr), start, end, step).value
        assert isinstance(value, Matrix)  # noqa: S101 - that is what a range query gives
        return [Points(one.labels, list(one.times), list(one.values)) for one in value.series]
