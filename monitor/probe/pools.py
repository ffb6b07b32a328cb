"""
The KV cache of each engine, from the labels of `cache_config_info` on the page.

source: vLLM 0.9.0.1, 0.11.2 and 0.32.0 as recorded, and its releases in between. From 0.24.0 on, two labels say it for
each engine. Before, blocks times block size do, but `num_gpu_blocks` is the sum over the engines of the page, and
stands so on each of them. On 0.8 the V1 engine writes "None", and nothing is known.
"""

from collections.abc import Sequence
from math import isfinite

from monitor.model.labels import Labels
from monitor.probe.readings import Model, Pool
from monitor.vllm.families import PREFIXES

# With the prefixes that Ray and KServe put before vLLM's own names.
CONFIG_NAMES = tuple(prefix + "cache_config_info" for prefix in PREFIXES)
_LONGEST_NUMBER = 18


def pools_of(configs: Sequence[Labels], models: Sequence[Model] = ()) -> tuple[Pool, ...]:
    """
    Return the pool of each engine; `configs` are the label sets of one target's `cache_config_info`, one an engine.

    Without `models` the concurrency is known only where a label says it. Never a sum over engines.
    """
    max_model_len = max((model.max_model_len for model in models), default=0)
    pools = {}
    for config in configs:
        pool = _pool(config, len(configs), max_model_len)
        if pool.tokens is not None or pool.max_concurrency is not None:
            pools[pool.engine] = pool
    return tuple(pools[engine] for engine in sorted(pools))


def _pool(config: Labels, engines: int, max_model_len: int) -> Pool:
    engine = config.value("engine")
    tokens = _whole(config.value("kv_cache_size_tokens"))
    concurrency = _number(config.value("kv_cache_max_concurrency"))
    if tokens is None:
        blocks, size = _whole(config.value("num_gpu_blocks")), _whole(config.value("block_size"))
        tokens = (blocks * size // engines or None) if blocks and size else None
    if concurrency is None and tokens is not None and max_model_len > 0:
        concurrency = tokens / max_model_len
    return Pool(engine, tokens, concurrency)


def _whole(text: str) -> int | None:
    """Return a positive whole number, None for anything else ("None", "", "-1")."""
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) <= _LONGEST_NUMBER and int(text) else None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) and number > 0 else None
