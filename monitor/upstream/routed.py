"""Who evaluates an expression of a person: Prometheus, or where only the daemon has the series, its own engine."""

from collections.abc import Callable

from monitor.model.instant import Duration, Instant
from monitor.promql import Evaluator, Plan, Result


class RoutedEngine:
    """Gives each expression to one of two. Raises PromqlError."""

    def __init__(self, local: Evaluator, remote: Evaluator, is_local: Callable[[str], bool]) -> None:
        self._local = local
        self._remote = remote
        self._is_local = is_local

    def instant(self, plan: Plan, at: Instant) -> Result:
        return self._of(plan).instant(plan, at)

    def range(self, plan: Plan, start: Instant, end: Instant, step: Duration) -> Result:
        return self._of(plan).range(plan, start, end, step)

    def _of(self, plan: Plan) -> Evaluator:
        return self._local if self._is_local(plan.text) else self._remote
