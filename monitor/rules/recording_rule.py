"""A recording rule at work: its result under another name."""

from monitor.model.instant import Instant
from monitor.model.labels import METRIC_NAME, Labels
from monitor.rules.context import Context, Vector
from monitor.rules.errors import RuleError
from monitor.rules.spec import RecordingRule


class RecordingRuleRun:
    """
    One recording rule; it has no state of its own.

    reference: Prometheus 3, rules/recording.go (Eval).
    """

    def __init__(self, spec: RecordingRule, limit: int = 0) -> None:
        self.spec = spec
        self._limit = limit
        # A dictionary, for here an empty value still is an order: remove that label.
        self._overlay = {**spec.labels.as_dict(), METRIC_NAME: spec.name}

    def evaluate(self, context: Context, at: Instant, query_at: Instant) -> Vector:  # noqa: ARG002 - as an alerting rule
        """Return the samples to write. Raises RuleError when two elements become the same series."""
        recorded: dict[Labels, float] = {}
        for labels, value in context.query(self.spec.expr, query_at):
            series = labels.with_(self._overlay)
            if series in recorded:
                raise RuleError(f"vector contains metrics with the same labelset after applying rule labels: {series}")
            recorded[series] = value
        if 0 < self._limit < len(recorded):
            raise RuleError(f"exceeded limit of {self._limit} with {len(recorded)} series")
        return list(recorded.items())
