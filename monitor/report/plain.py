"""A report as plain values, for JSON: units stand in the names, instants are RFC 3339 in UTC."""

from dataclasses import fields, is_dataclass
from datetime import UTC
from typing import Any

from monitor.report.period import shown
from monitor.report.report import Report

_INSTANTS = frozenset(("at", "start", "end"))
# What the fields are called where their name would not say the unit.
_NAMES = {
    "Cache": {
        "peak": "peak_ratio",
        "busiest": "busiest_hour_ratio",
        "concurrency": "max_concurrency_requests",
        "free_requests": "free_at_peak_requests",
        "tokens": "kv_cache_tokens",
        "max_model_len": "max_model_len_tokens",
    },
    "Growth": {"peaks": "weekly_peak_ratios", "slope": "ratio_per_week", "days": "days_until_full"},
    "Queue": {
        "peak": "waiting_peak_requests",
        "p95": "waiting_p95_requests",
        "most_running": "running_peak_requests",
    },
    "Throughput": {
        "requests": "requests_per_minute",
        "prompt_tokens": "prompt_tokens_per_second",
        "generated_tokens": "generated_tokens_per_second",
    },
    "Answered": {"median_seconds": "to_acknowledge_median_seconds"},
    "Fired": {"median_minutes": "to_resolve_median_minutes"},
    "ModelReport": {"latencies": "latency_seconds"},
    "Prompts": {
        "limit": "limit_tokens",
        "mean": "mean_tokens",
        "p50": "p50_tokens",
        "p95": "p95_tokens",
        "p99": "p99_tokens",
        "above_limit": "above_limit_ratios",
        "longest": "longest_tokens",
        "share_of_longest": "longest_of_kv_cache_ratio",
        "share_of_p99": "p99_of_kv_cache_ratio",
    },
}


def as_plain(report: Report) -> dict[str, Any]:
    """Return what `json.dumps` takes."""
    plain: dict[str, Any] = _plain(report)
    return plain


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        names = _NAMES.get(type(value).__name__, {})
        return {names.get(one.name, one.name): _field(one.name, getattr(value, one.name)) for one in fields(value)}
    if hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def _field(name: str, value: Any) -> Any:
    if name in _INSTANTS and isinstance(value, int):
        return shown(value, UTC, "%Y-%m-%dT%H:%M:%SZ")
    return _plain(value)
