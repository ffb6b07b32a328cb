"""The numbers of an engine that an alert is about, from the recorded names in the window."""

import json
import logging
from collections.abc import Iterator
from math import nan

from monitor.model.instant import DAY, Duration, Instant
from monitor.model.labels import INSTANCE, JOB, Labels
from monitor.notify.readings import NOTHING, Readings
from monitor.promql import Engine, PromqlError, Vector, parse

log = logging.getLogger(__name__)

# What an alert and a recorded series of one engine have in common.
_ENGINE = (JOB, INSTANCE, "model_name", "engine")
# The field of Readings: how the engines of one alert are put together, and the recorded name.
_RECORDED = {
    "running": ("sum", "vllm_engine:requests_running"),
    "waiting": ("sum", "vllm_engine:requests_waiting"),
    "kv_cache": ("max", "vllm_engine:kv_cache_usage:ratio"),
    "preemptions": ("sum", "vllm_engine:preemptions:rate5m"),
    "tokens": ("sum", "vllm_engine:generation_tokens:rate1m"),
    "ttft": ("max", "vllm_engine:ttft_seconds:p95_5m"),
}
_LONGEST: Duration = DAY


class EngineFacts:
    """Answers from the embedded engine, whose limits are those of a glance: see `Facts` in notify."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def at(self, labels: Labels, at: Instant) -> Readings:
        """Return the numbers at `at`; those that are not known then are NaN."""
        return self._read(labels, at, "{how}({series})")

    def worst(self, labels: Labels, since: Instant, until: Instant) -> Readings:
        """Return the largest numbers between `since` and `until`, as far as the window reaches back."""
        span = min(max(until - since, 1), _LONGEST)
        return self._read(labels, until, f"{{how}}(max_over_time({{series}}[{span}ms]))")

    def _read(self, labels: Labels, at: Instant, form: str) -> Readings:
        matchers = ",".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in _shared(labels))
        if not matchers:
            return NOTHING
        try:
            return Readings(
                **{
                    field: self._number(form.format(how=how, series=f"{name}{{{matchers}}}"), at)
                    for field, (how, name) in _RECORDED.items()
                }
            )
        except PromqlError as err:
            # A message without numbers is better than none.
            log.warning("numbers not read", extra={"reason": str(err)})
            return NOTHING

    def _number(self, expr: str, at: Instant) -> float:
        value = self._engine.instant(parse(expr), at).value
        samples = value.samples if isinstance(value, Vector) else ()
        return samples[0][1] if samples else nan


def _shared(labels: Labels) -> Iterator[tuple[str, str]]:
    return ((name, value) for name, value in labels if name in _ENGINE)
