"""One rule at many instants: along columns where that can be, else at one after the other."""

from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from monitor.backtest.order import Member
from monitor.model.instant import Instant
from monitor.model.labels import EMPTY, METRIC_NAME
from monitor.model.matcher import Matcher
from monitor.model.sample import STALE
from monitor.promql import Engine, PromqlError, Scalar
from monitor.promql import Vector as Answer
from monitor.promql.frame import Frame, Steps, columns_of
from monitor.promql.vector import Vector as Elements
from monitor.rules.context import Context, Vector
from monitor.rules.errors import RuleError
from monitor.rules.recording_rule import RecordingRuleRun
from monitor.storage.column import Block, Column
from monitor.storage.window import Window


@dataclass(frozen=True)
class Found:
    """
    What a rule's expression finds at each of `times`; of a recording rule, what it records.

    `failures` are the errors of single instants, by their place; at these the frame holds nothing.
    """

    times: Sequence[Instant]
    frame: Frame
    failures: Mapping[int, str] = field(default_factory=dict)

    def at(self, instant: Instant) -> Vector:
        """Return the vector at one of the times. Raises RuleError."""
        place = self.times.index(instant)
        if place in self.failures:
            raise RuleError(self.failures[place])
        return self.frame.at(place)


def found(engine: Engine, window: Window, rule: Member, steps: Steps) -> Found:
    """Return what `rule` finds in the window at the times of `steps`."""
    frame = engine.frame(rule.plan, steps)
    if frame is not None and isinstance(rule.run, RecordingRuleRun):
        frame = _recorded(rule.run, frame)
    # A limit is exceeded, or not, instant by instant.
    if frame is not None and not rule.group.spec.limit:
        return Found(steps.times, frame)
    return _one_by_one(engine, window, rule, steps)


def write(block: Block, result: Found) -> None:
    """Write what a recording rule found. At an instant at which it failed nothing is written, and nothing ends."""
    frame = result.frame
    kept = [place for place in range(len(result.times)) if place not in result.failures]
    if not kept or (not frame.series and not block.columns):
        return
    written: dict[Column, array[float]] = {}
    for labels, column in zip(frame.series, frame.columns, strict=True):
        some = column if len(kept) == len(column) else [column[place] for place in kept]
        written[block.column(labels)] = array("d", [STALE if value is None else value for value in some])
    block.extend([result.times[place] for place in kept], written)


def _recorded(run: RecordingRuleRun, frame: Frame) -> Frame | None:
    """Return the frame under the names of the recording rule, or None when two series become the same."""
    overlay = {**run.spec.labels.as_dict(), METRIC_NAME: run.spec.name}
    series = tuple([labels.with_(overlay) for labels in frame.series])
    return Frame(series, frame.columns) if len(set(series)) == len(series) else None


def _one_by_one(engine: Engine, window: Window, rule: Member, steps: Steps) -> Found:
    vectors: list[Elements] = []
    failures: dict[int, str] = {}
    for place, at in enumerate(steps.times):
        samples: Vector = ()
        try:
            samples = _instant(engine.over(Hidden(window, steps, at)) if steps.unseen else engine, rule, at)
        except RuleError as err:
            failures[place] = str(err)
        vectors.append(Elements(tuple([labels for labels, _ in samples]), [value for _, value in samples]))
    return Found(steps.times, columns_of(vectors), failures)


def _instant(engine: Engine, rule: Member, at: Instant) -> Vector:
    def query(expr: str, at: Instant) -> Vector:  # noqa: ARG001 - it is the rule's own
        try:
            value = engine.instant(rule.plan, at).value
        except PromqlError as err:
            raise RuleError(str(err)) from err
        if isinstance(value, Answer):
            return value.samples
        assert isinstance(value, Scalar)  # noqa: S101 - a rule's expression is one or the other
        return [(EMPTY, value.value)]

    if isinstance(rule.run, RecordingRuleRun):
        return rule.run.evaluate(Context(query, Nowhere()), at, at)
    return query("", at)


class Nowhere:
    """An appender for rules whose samples are written otherwise."""

    def append(self, owner: object, at: Instant, samples: Vector) -> None:
        """Write nothing."""


class Hidden:
    """The window as a rule sees it at an instant at which others have yet to write."""

    def __init__(self, window: Window, steps: Steps, at: Instant) -> None:
        self._window = window
        self._unseen = steps.unseen
        self._at = at
        self._blocks: dict[Block, Block] = {}

    def select(self, matchers: Sequence[Matcher]) -> Sequence[Column]:
        """Return the series that satisfy all matchers, those of the unseen blocks up to the instant before."""
        columns = self._window.select(matchers)
        return [self._cut(column) if column.block in self._unseen else column for column in columns]

    def _cut(self, column: Column) -> Column:
        block = self._blocks.get(column.block)
        if block is None:
            block = self._blocks[column.block] = Block()
            times, base = column.block.view
            block.view = (times[: bisect_left(times, self._at)], base)
        cut = Column(block, column.labels, counter=column.counter)
        values, first = column.view
        end = block.view[1] + len(block.view[0])
        cut.view, cut.gaps, cut.resets = (values[: max(end - first, 0)], first), column.gaps, column.resets
        return cut
