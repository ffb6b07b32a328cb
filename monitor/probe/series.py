"""From what the probes found to samples: pure, so that a recording and a live server come to the same series."""

from collections.abc import Iterable, Iterator

from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.target import Target
from monitor.probe.readings import Health, Pool, Readings

# All names begin so, and no other series of the daemon does.
PREFIX = "vllm_monitor_target_"

HEALTH = PREFIX + "health"
HEALTH_UP = PREFIX + "health_up"
VERSION = PREFIX + "version_info"
MAX_MODEL_LEN = PREFIX + "max_model_len"
SERVER_LOAD = PREFIX + "server_load"
KV_CACHE_TOKENS = PREFIX + "kv_cache_tokens"
MAX_CONCURRENCY = PREFIX + "max_concurrency"
EXPOSED = PREFIX + "exposed"
CANARY_SUCCESS = PREFIX + "canary_success"
CANARY_SECONDS = PREFIX + "canary_seconds"

# Each name with what it says, for /metrics. All are gauges.
HELP = {
    HEALTH: "What /health came to: 1 for the present result, 0 for the others.",
    HEALTH_UP: "Whether /health answered 200.",
    VERSION: "The version of vLLM, in a label.",
    MAX_MODEL_LEN: "Tokens that a request may have, prompt and answer together.",
    SERVER_LOAD: "Requests in flight as /load counts them; always 0 without --enable-server-load-tracking.",
    KV_CACHE_TOKENS: "Tokens that fit into the KV cache of one engine.",
    MAX_CONCURRENCY: "Requests of the full length that fit into the KV cache of one engine.",
    EXPOSED: "Whether the path was answered to somebody without a key.",
    CANARY_SUCCESS: "Whether the last request of one token was answered.",
    CANARY_SECONDS: "How long the last request of one token took.",
}

Samples = list[tuple[Labels, float]]


def probe_series(readings: Readings, target: Target) -> Samples:
    """Return one sample for each thing known, with the labels of `target`; their order depends on nothing else."""
    return [
        (target.labels.with_({METRIC_NAME: name, label: value} if label else {METRIC_NAME: name}), number)
        for name, label, value, number in _found(readings)
    ]


Found = Iterator[tuple[str, str, str, float]]


def _found(readings: Readings) -> Found:
    """Yield name, the name and value of its own label (or "" twice), and number."""
    yield from _of_health(readings.health)
    if readings.version:
        yield VERSION, "version", readings.version, 1.0
    for model in readings.models:
        yield MAX_MODEL_LEN, "model_name", model.name, float(model.max_model_len)
    if readings.server_load is not None:
        yield SERVER_LOAD, "", "", readings.server_load
    yield from _of_pools(readings.pools)
    for path, exposed in readings.exposed:
        yield EXPOSED, "path", path, float(exposed)
    if readings.canary is not None:
        yield CANARY_SUCCESS, "", "", float(readings.canary.success)
        yield CANARY_SECONDS, "", "", readings.canary.seconds


def _of_health(present: Health | None) -> Found:
    if present is not None:
        for health in Health:
            yield HEALTH, "result", health.value, float(health is present)
        yield HEALTH_UP, "", "", float(present is Health.OK)


def _of_pools(pools: Iterable[Pool]) -> Found:
    for pool in pools:
        if pool.tokens is not None:
            yield KV_CACHE_TOKENS, "engine", pool.engine, float(pool.tokens)
        if pool.max_concurrency is not None:
            yield MAX_CONCURRENCY, "engine", pool.engine, pool.max_concurrency
