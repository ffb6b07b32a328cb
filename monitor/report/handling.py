"""How quickly somebody took care of alerts, from the incidents of Slack bots."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

from monitor.model.instant import Instant, to_seconds
from monitor.model.labels import Labels
from monitor.report.period import PeriodError, instant_at


class AlertKey(NamedTuple):
    """Alerts of one name about one model, on whatever servers."""

    name: str
    severity: str
    job: str
    model: str

    @classmethod
    def of(cls, labels: Labels) -> "AlertKey":
        return cls(*(labels.value(name) for name in ("alertname", "severity", "job", "model_name")))


@dataclass(frozen=True, slots=True)
class Handling:
    """An alert that a channel was told of; `acked_at` None where nobody acknowledged it."""

    labels: Labels
    starts_at: Instant
    acked_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """How many alerts were told, how many of them somebody acknowledged, and after how long half of these were."""

    told: int
    acknowledged: int
    median_seconds: float | None = None


def handlings_of(listed: Iterable[Mapping[str, Any]]) -> list[Handling]:
    """Return what `/api/v1/incidents` lists; what cannot be understood is left out."""
    found = []
    for one in listed:
        try:
            acked = one["ackedAt"]
            acked_at = None if acked is None else instant_at(str(acked))
            found.append(Handling(Labels.of(one["labels"]), instant_at(str(one["startsAt"])), acked_at))
        except (KeyError, TypeError, ValueError, PeriodError):
            continue
    return found


def answered(handlings: Sequence[Handling], start: Instant, end: Instant) -> dict[AlertKey, Answered]:
    """Return how alerts were answered that began in a period; of several channels the quickest counts."""
    each: dict[tuple[Labels, Instant], list[Instant]] = {}
    for one in handlings:
        if start < one.starts_at <= end:
            acked = each.setdefault((one.labels, one.starts_at), [])
            acked.extend([one.acked_at] if one.acked_at is not None else [])
    by_key: dict[AlertKey, list[tuple[Instant, list[Instant]]]] = {}
    for (labels, starts_at), acked in each.items():
        by_key.setdefault(AlertKey.of(labels), []).append((starts_at, acked))
    return {key: _answered(some) for key, some in by_key.items()}


def _answered(alerts: Sequence[tuple[Instant, Sequence[Instant]]]) -> Answered:
    # What joined an incident that somebody had taken already waited for nobody: it tells nothing of how quick they are.
    waited = [min(acked) - starts_at for starts_at, acked in alerts if acked and min(acked) >= starts_at]
    acknowledged = sum(bool(acked) for _, acked in alerts)
    return Answered(len(alerts), acknowledged, to_seconds(round(median(waited))) if waited else None)
