"""One evaluation of a plan: its times, what it may cost, what it has found so far."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from monitor.clock import monotonic_seconds
from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.matcher import Matcher
from monitor.promql.error import ErrorKind, PromqlError
from monitor.promql.lex import Position
from monitor.storage.column import Column

LOOKBACK: Duration = 5 * MINUTE
# How much work may pass between two looks at the clock.
_CLOCK_EVERY = 20_000
_STEP_COST = 100
_REMARKS = 10


class Queryable(Protocol):
    """Where samples are read from. The same object must come back while the set of series does not change."""

    def select(self, matchers: Sequence[Matcher]) -> Sequence[Column]:
        """Return the series that satisfy all matchers, each label set once."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may cost: samples read in all, points held in memory at once, seconds of wall time."""

    samples: int = 50_000_000
    points: int = 50_000_000
    seconds: float = 120.0


class Run:
    """The state of one evaluation; never shared between threads."""

    __slots__ = (
        "_deadline",
        "_infos",
        "_limits",
        "_now",
        "_spent",
        "_touched",
        "_warnings",
        "caches",
        "end",
        "lookback",
        "start",
        "step",
        "storage",
        "subquery_step",
    )

    def __init__(  # noqa: PLR0913 - made in one place, by the engine
        self,
        storage: Queryable,
        *,
        start: Instant,
        end: Instant,
        step: Duration,
        lookback: Duration = LOOKBACK,
        subquery_step: Duration = MINUTE,
        limits: Limits | None = None,
        now: Callable[[], float] = monotonic_seconds,
    ) -> None:
        self.storage = storage
        self.start, self.end, self.step = start, end, step
        self.lookback = lookback
        self.subquery_step = subquery_step
        self._warnings: dict[str, Position] = {}
        self._infos: dict[str, Position] = {}
        # What nodes remember within this evaluation, by node.
        self.caches: dict[object, object] = {}
        self._limits = limits or Limits()
        self._now = now
        self._deadline = now() + self._limits.seconds
        self._touched = 0
        self._spent = 0

    @property
    def is_range(self) -> bool:
        return self.start != self.end

    def touch(self, samples: int) -> None:
        """Account for `samples` that were read. Raises PromqlError beyond the limits."""
        self._touched += samples
        if self._touched > self._limits.samples:
            raise PromqlError(f"query processing would load too many samples: more than {self._limits.samples}")
        self._spend(samples)

    def hold(self, points: int) -> None:
        """Account for a result that has grown to so many `points`. Raises PromqlError beyond the limits."""
        if points > self._limits.points:
            raise PromqlError("query processing would load too many samples into memory in query execution")

    def tick(self) -> None:
        """Account for one step of the query or of a subquery. Raises PromqlError when the time is over."""
        self._spend(_STEP_COST)

    def _spend(self, work: int) -> None:
        self._spent += work
        if self._spent >= _CLOCK_EVERY:
            self._spent = 0
            if self._now() > self._deadline:
                raise PromqlError("query timed out in expression evaluation", kind=ErrorKind.TIMEOUT)

    def warn(self, message: str, position: Position) -> None:
        """Remark on something doubtful. The same remark about several places names the last of them only."""
        self._warnings[message] = position

    def inform(self, message: str, position: Position) -> None:
        """Remark on something that may be as it is meant."""
        self._infos[message] = position

    @property
    def warnings(self) -> tuple[str, ...]:
        return _listed("warning", self._warnings)

    @property
    def infos(self) -> tuple[str, ...]:
        return _listed("info", self._infos)


def _listed(kind: str, remarks: Mapping[str, Position]) -> tuple[str, ...]:
    """Return at most ten remarks, as the HTTP API does, and how many there are more."""
    listed = [f"PromQL {kind}: {text} ({line}:{column})" for text, (line, column) in islice(remarks.items(), _REMARKS)]
    if len(remarks) > _REMARKS:
        listed.append(f"{len(remarks) - _REMARKS} more {kind} annotations omitted")
    return tuple(listed)
