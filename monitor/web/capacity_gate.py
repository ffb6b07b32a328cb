"""`/-/gate`: whether enough requests fit at once, for deployments and start-up probes."""

from collections.abc import Callable, Iterable
from math import isfinite
from typing import Protocol

from flask import Blueprint, Response, jsonify, request

from monitor.capacity.gate import Judgement, judged, unknown
from monitor.model.instant import Instant
from monitor.model.labels import INSTANCE, Labels
from monitor.model.target import Target
from monitor.probe.series import MAX_CONCURRENCY
from monitor.web.error import invalid
from monitor.yamldoc.mistake import shown

# The alert VLLMMaxConcurrencyBelowFloor has the same floor.
FLOOR = 2.5


class Prober(Protocol):
    """Knows what one target says of itself."""

    target: Target

    def samples(self, at: Instant) -> list[tuple[Labels, float]]: ...


def gate(probers: Callable[[], Iterable[Prober]], now: Callable[[], Instant]) -> Blueprint:
    """
    Return the path: 200 where every target passes, 503 where one does not or does not say.

    `min_concurrency` is the floor, `instance` asks about one target. The JSON is that of `vllm-monitor gate --json`,
    with what each target comes to.
    """
    blueprint = Blueprint("gate", __name__)

    @blueprint.get("/-/gate")
    def answer() -> Response:
        floor, instance = _floor(request.args.get("min_concurrency")), request.args.get("instance")
        found = {
            prober.target.labels.value(INSTANCE): judged(_engines(prober.samples(now())), floor)
            for prober in probers()
            if instance in (None, prober.target.labels.value(INSTANCE))
        }
        whole = _whole(found, floor)
        body = whole.as_json() | {"targets": {name: each.as_json() for name, each in found.items()}}
        response = jsonify(body)
        response.status_code = 200 if whole.passes else 503
        return response

    return blueprint


def _engines(samples: Iterable[tuple[Labels, float]]) -> list[tuple[str, float | None]]:
    return [(labels.value("engine"), number) for labels, number in samples if labels.name == MAX_CONCURRENCY]


def _whole(found: dict[str, Judgement], floor: float) -> Judgement:
    """Return the judgement of the worst target: one that fails for sure before one that does not say."""
    if not found:
        return unknown("no such target is probed", floor)
    name, worst = min(found.items(), key=lambda each: (each[1].passes, not each[1].known))
    reason = worst.reason if len(found) == 1 else f"{name}: {worst.reason}"
    concurrency = worst.concurrency if len(found) == 1 else None
    return Judgement(worst.passes, reason, floor, worst.known, concurrency)


def _floor(written: str | None) -> float:
    try:
        floor = FLOOR if written is None else float(written)
    except ValueError:
        floor = 0.0
    if not (floor > 0 and isfinite(floor)):
        raise invalid("min_concurrency", f"{shown(written or '')} is not a number above 0")
    return floor
