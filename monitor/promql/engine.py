"""Evaluation of plans, at one time or at the steps of a range."""

from collections.abc import Callable
from math import inf

from monitor.clock import monotonic_seconds
from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import EMPTY
from monitor.promql import result
from monitor.promql.error import ErrorKind, PromqlError, refused
from monitor.promql.frame import Frame, NotColumnar, Steps
from monitor.promql.node import MatrixNode, Node, ScalarNode, StringNode, VectorNode
from monitor.promql.plan import Plan
from monitor.promql.result import Result, Series
from monitor.promql.run import LOOKBACK, Limits, Queryable, Run
from monitor.promql.signature import type_of
from monitor.promql.vector import transposed


class Engine:
    """
    Evaluates plans against one storage. Any thread may use it.

    `lookback` is how old the newest sample of a series may be; `default_subquery_step` is that of a subquery that names
    none. Errors are PromqlError: of kind execution where the expression meets data that it does not allow, timeout
    where a query takes too long.
    """

    def __init__(
        self,
        storage: Queryable,
        *,
        lookback: Duration = LOOKBACK,
        limits: Limits | None = None,
        default_subquery_step: Duration = MINUTE,
        now: Callable[[], float] = monotonic_seconds,
    ) -> None:
        self._storage = storage
        self._lookback = lookback
        self._limits = limits or Limits()
        self._subquery_step = default_subquery_step
        self._now = now

    def over(self, storage: Queryable) -> "Engine":
        """Return an engine of the same settings over another storage."""
        return Engine(
            storage,
            lookback=self._lookback,
            limits=self._limits,
            default_subquery_step=self._subquery_step,
            now=self._now,
        )

    def instant(self, plan: Plan, at: Instant) -> Result:
        """Return the value of the expression at one time. Raises PromqlError."""
        run = self._run(at, at, 0)
        return _result(run, _guarded(lambda: _instant(plan.root, run, at)))

    def range(self, plan: Plan, start: Instant, end: Instant, step: Duration) -> Result:
        """
        Return the values of the expression from `start` to `end`, both included, every `step`: always a matrix.

        Raises PromqlError, also for an expression that is neither a scalar nor an instant vector.
        """
        if step <= 0 or end < start:
            raise refused("a range query needs a step above zero and an end that is not before its start")
        if not isinstance(plan.root, VectorNode | ScalarNode):
            raise refused(
                f'invalid expression type "{type_of(plan.root)}" for range query, must be Scalar or instant Vector'
            )
        run = self._run(start, end, step)
        return _result(run, _guarded(lambda: _range(plan.root, run)))

    def frame(self, plan: Plan, steps: Steps) -> Frame | None:
        """
        Return what `instant` returns at each of the times, column by column, or None where it must be asked for each.

        None also for an expression of which any of the times would be an error. There are no limits: this is for who
        replays.
        """
        run = Run(
            self._storage,
            start=0,
            end=0,
            step=0,
            lookback=self._lookback,
            subquery_step=self._subquery_step,
            limits=Limits(samples=2**62, points=2**62, seconds=inf),
            now=self._now,
        )
        try:
            if isinstance(plan.root, ScalarNode):
                return Frame((EMPTY,), [plan.root.values(run, steps)])
            return plan.root.frame(run, steps) if isinstance(plan.root, VectorNode) else None
        except (NotColumnar, PromqlError, ArithmeticError):
            return None

    def _run(self, start: Instant, end: Instant, step: Duration) -> Run:
        return Run(
            self._storage,
            start=start,
            end=end,
            step=step,
            lookback=self._lookback,
            subquery_step=self._subquery_step,
            limits=self._limits,
            now=self._now,
        )


def _guarded(evaluate: Callable[[], result.Value]) -> result.Value:
    try:
        return evaluate()
    except (ArithmeticError, RecursionError, MemoryError) as err:
        raise PromqlError(f"unexpected error: {err}", kind=ErrorKind.EXECUTION) from err


def _result(run: Run, value: result.Value) -> Result:
    return Result(value, run.warnings, run.infos)


def _instant(root: Node, run: Run, at: Instant) -> result.Value:
    if isinstance(root, VectorNode):
        vector = root.vector(run, at)
        return result.Vector(at, list(zip(vector.series, vector.values, strict=True)))
    if isinstance(root, ScalarNode):
        return result.Scalar(at, root.value(run, at))
    if isinstance(root, MatrixNode):
        matrix = root.matrix(run, at)
        pairs = zip(matrix.series, matrix.points, strict=True)
        return _ordered([Series(labels, *points) for labels, points in pairs if points[0]])
    assert isinstance(root, StringNode)  # noqa: S101 - the last kind of node
    return result.String(at, root.text)


def _range(root: Node, run: Run) -> result.Matrix:
    times = range(run.start, run.end + 1, run.step)
    if isinstance(root, ScalarNode):
        values = []
        for at in times:
            run.tick()
            values.append(root.value(run, at))
        return result.Matrix([Series(EMPTY, times, values)])
    assert isinstance(root, VectorNode)  # noqa: S101 - as the caller checked
    vectors, size = [], 0
    for at in times:
        run.tick()
        vectors.append(root.vector(run, at))
        size += len(vectors[-1].values)
        run.hold(size)
    series, points = transposed(times, vectors)
    return _ordered([Series(labels, *some) for labels, some in zip(series, points, strict=True)])


def _ordered(series: list[Series]) -> result.Matrix:
    return result.Matrix(sorted(series, key=lambda one: one.labels))
