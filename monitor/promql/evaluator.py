"""Whoever evaluates expressions: the engine here, or a server that speaks the Prometheus HTTP API."""

from typing import Protocol

from monitor.model.instant import Duration, Instant
from monitor.promql.plan import Plan
from monitor.promql.result import Result


class Evaluator(Protocol):
    """Both methods raise PromqlError."""

    def instant(self, plan: Plan, at: Instant) -> Result:
        """Return the value of the expression at one time."""
        ...

    def range(self, plan: Plan, start: Instant, end: Instant, step: Duration) -> Result:
        """Return the values of the expression from `start` to `end`, both included, every `step`: always a matrix."""
        ...


class Switched:
    """An evaluator in whose place another one may come while it is at work."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def instant(self, plan: Plan, at: Instant) -> Result:
        return self.evaluator.instant(plan, at)

    def range(self, plan: Plan, start: Instant, end: Instant, step: Duration) -> Result:
        return self.evaluator.range(plan, start, end, step)
