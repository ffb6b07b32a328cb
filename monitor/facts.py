"""The numbers of an engine that an alert is about, and what follows from them, from the window."""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any

from monitor.capacity.advice import TOPICS, advice
from monitor.capacity.advice import Engine as CapacityEngine
from monitor.model.instant import DAY, Duration, Instant
from monitor.model.labels import ALERT_NAME, INSTANCE, JOB, Labels
from monitor.notify.readings import NOTHING, Readings
from monitor.probe.pools import CONFIG_NAMES
from monitor.probe.series import KV_CACHE_TOKENS, MAX_CONCURRENCY, MAX_MODEL_LEN
from monitor.promql import Evaluator, PromqlError, Vector, parse

log = logging.getLogger(__name__)

# What an alert and a recorded series of one engine have in common, and what it has in common with the probes' series.
_ENGINE = (JOB, INSTANCE, "model_name", "engine")
_PROBED, _SERVER = (JOB, INSTANCE, "engine"), (JOB, INSTANCE)
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
# The field of a capacity engine: by which labels it is found, and the expression. A KV cache that is full swings with
# each preemption, so it is looked at together with what runs, over a minute; there is room if there was for minutes.
_CAPACITY = {
    "tokens": (_PROBED, KV_CACHE_TOKENS + "{of}"),
    "concurrency": (_PROBED, MAX_CONCURRENCY + "{of}"),
    "max_model_len": (_SERVER, f"max({MAX_MODEL_LEN}{{of}})"),
    "running": (_PROBED, "avg_over_time(vllm_engine:requests_running{of}[1m])"),
    "most_running": (_PROBED, "max_over_time(vllm_engine:requests_running{of}[5m])"),
    "usage": (_PROBED, "avg_over_time(vllm_engine:kv_cache_usage:ratio{of}[1m])"),
    "most_usage": (_PROBED, "max_over_time(vllm_engine:kv_cache_usage:ratio{of}[5m])"),
}


class EngineFacts:
    """Answers from an engine, whose limits are those of a glance: see `Facts` in notify."""

    def __init__(self, engine: Evaluator) -> None:
        self._engine = engine

    def at(self, labels: Labels, at: Instant) -> Readings:
        """Return the numbers at `at`; those that are not known then are NaN."""
        readings = self._read(labels, at, "{how}({series})")
        found = self._advice(labels, at) if labels.value(ALERT_NAME) in TOPICS else ()
        return replace(readings, advice=found) if found else readings

    def worst(self, labels: Labels, since: Instant, until: Instant) -> Readings:
        """Return the largest numbers between `since` and `until`, as far as the window reaches back."""
        span = min(max(until - since, 1), _LONGEST)
        return self._read(labels, until, f"{{how}}(max_over_time({{series}}[{span}ms]))")

    def _read(self, labels: Labels, at: Instant, form: str) -> Readings:
        of = _selecting(labels, _ENGINE)
        if of == "{}":
            return NOTHING
        try:
            numbers: dict[str, Any] = {
                field: self._number(form.format(how=how, series=name + of), at)
                for field, (how, name) in _RECORDED.items()
            }
            return Readings(**numbers)
        except PromqlError as err:
            # A message without numbers is better than none.
            log.warning("numbers not read", extra={"reason": str(err)})
            return NOTHING

    def _number(self, expr: str, at: Instant) -> float:
        samples = self._samples(expr, at)
        return samples[0][1] if samples else nan

    def _advice(self, labels: Labels, at: Instant) -> tuple[str, ...]:
        if not labels.value(INSTANCE):
            return ()
        try:
            numbers: dict[str, Any] = {
                field: self._only(expr.format(of=_selecting(labels, names)), at)
                for field, (names, expr) in _CAPACITY.items()
            }
            return advice(labels.value(ALERT_NAME), CapacityEngine(**numbers, settings=self._settings(labels, at)))
        except PromqlError as err:
            log.warning("capacity not read", extra={"reason": str(err)})
            return ()

    def _settings(self, labels: Labels, at: Instant) -> Mapping[str, str]:
        of = _selecting(labels, _PROBED)
        found = self._samples(" or ".join(name + of for name in CONFIG_NAMES), at)
        return found[0][0].as_dict() if len(found) == 1 else {}

    def _only(self, expr: str, at: Instant) -> float:
        """Return the one value; where the alert is about several engines, none of them speaks for all."""
        samples = self._samples(expr, at)
        return samples[0][1] if len(samples) == 1 else nan

    def _samples(self, expr: str, at: Instant) -> Sequence[tuple[Labels, float]]:
        value = self._engine.instant(parse(expr), at).value
        return value.samples if isinstance(value, Vector) else ()


def _selecting(labels: Labels, names: Sequence[str]) -> str:
    """Return the braces of a selector for the labels of these names."""
    shared = ((name, value) for name, value in labels if name in names)
    return f"{{{','.join(f'{name}={json.dumps(value, ensure_ascii=False)}' for name, value in shared)}}}"
