"""
What the numbers of an engine say to do about an alert on its KV cache or its queue.

What is not known is left out. Nothing is said of what a higher `--gpu-memory-utilization` would bring: no metric of
vLLM tells how much memory the GPU has.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from math import isfinite, nan
from typing import Any

from monitor.capacity.lengths import shorter

# Used on the mean: from here on there is no room for more requests. Used at most: up to here there is.
_FULL, _FREE = 0.8, 0.7
# A cache that was fuller and is used less than this is over it: what runs now was not the trouble.
_OVER = 0.5
# What is left free of the cache, because requests grow while they run.
_SPARE = 0.1
# A batch that is twice as large is step enough: every token takes longer in it.
_STEP = 2
_PAIR = 2
# Less is an idle cache, whose requests are no measure.
_LEAST_USAGE = 0.001
_LEAST = 1e-6
_MOST = {
    **dict.fromkeys(("tokens", "max_model_len", "concurrency"), 1e12),
    **dict.fromkeys(("running", "most_running"), 1e6),
    **dict.fromkeys(("usage", "most_usage"), 1.0),
}
_EIGHT_BITS = frozenset(("fp8", "fp8_e4m3", "fp8_e5m2", "fp8_inc", "fp8_ds_mla", "int8"))
_SIXTEEN_BITS = frozenset(("auto", "bfloat16", "float16", "half"))
_GIB = 2**30


class Topic(Enum):
    """What an alert is about, as far as the KV cache goes."""

    POOL = auto()
    QUEUE = auto()
    BLOCKED = auto()
    LENGTH = auto()


# The alerts that ship, by what there is to be said of them.
TOPICS: Mapping[str, Topic] = {
    **dict.fromkeys(
        ("VLLMKVCacheFull", "VLLMKVCacheFillingUp", "VLLMPreemptionsHigh", "VLLMPreemptionStorm"), Topic.POOL
    ),
    **dict.fromkeys(
        (
            *("VLLMOverloaded", "VLLMRequestsWaiting", "VLLMQueueGrowing"),
            *("VLLMTimeInQueueHigh", "VLLMTimeInQueueCritical"),
        ),
        Topic.QUEUE,
    ),
    "VLLMAdmissionStalled": Topic.BLOCKED,
    **dict.fromkeys(
        ("VLLMMaxConcurrencyBelowFloor", "VLLMMaxConcurrencyFell", "VLLMKVPoolBelowOneRequest"), Topic.LENGTH
    ),
}


@dataclass(frozen=True, slots=True)
class Engine:
    """
    One engine, NaN where something is not known.

    `tokens` is what its KV cache holds, `max_model_len` what one request may have, `concurrency` how many of those
    fit. `running` and `usage` (a ratio) are means of the same minute, `most_running` and `most_usage` the most of some.
    `settings` are the labels of its `cache_config_info`.
    """

    tokens: float = nan
    max_model_len: float = nan
    concurrency: float = nan
    running: float = nan
    most_running: float = nan
    usage: float = nan
    most_usage: float = nan
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def fits(self) -> float:
        """
        Return how many requests such as run now fill the cache.

        A ratio of what is counted in blocks, so that it holds for sliding windows and states as well.
        """
        return self.running / self.usage if self.running >= 1 and self.usage >= _LEAST_USAGE else nan

    @property
    def says_tokens(self) -> bool:
        """
        Whether vLLM itself says how many tokens fit (0.24 and later).

        Before, it is blocks times block size, and wrong where layers have a window or a state.
        """
        return self.settings.get("kv_cache_size_tokens", "None") != "None"

    def number(self, setting: str) -> float:
        """Return a setting that is a positive number, else NaN."""
        try:
            value = float(self.settings.get(setting, ""))
        except ValueError:
            return nan
        return value if isfinite(value) and value > 0 else nan


def advice(alert: str, engine: Engine) -> tuple[str, ...]:
    """Return up to three short lines for an alert of this name: what is, and what each knob would give."""
    topic = TOPICS.get(alert)
    return tuple(_LINES[topic](_possible(engine))) if topic is not None else ()


def _possible(engine: Engine) -> Engine:
    """Return the engine without numbers that no server has: they come from pages of anybody."""
    possible: dict[str, Any] = {
        name: value if _LEAST <= (value := getattr(engine, name)) <= most else nan for name, most in _MOST.items()
    }
    return replace(engine, **possible)


def _pool(engine: Engine) -> Iterator[str]:
    yield from _held(engine)
    if engine.usage >= _FULL and isfinite(engine.fits):
        if engine.fits >= _PAIR:
            yield f"--max-num-seqs {int(engine.fits * (1 - _SPARE))} lets in what fits, with a tenth to spare."
        else:
            yield "One such request fills it: a larger cache helps, or shorter requests."
    yield from _larger(engine, _twice_as_many(engine))


def _queue(engine: Engine) -> Iterator[str]:
    yield from _held(engine)
    if engine.usage >= _FULL and isfinite(engine.fits):
        yield "The cache is the limit: a higher --max-num-seqs only brings preemptions. Another replica helps."
        yield from _larger(engine, _twice_as_many(engine))
    elif engine.most_usage <= _FREE and isfinite(engine.fits):
        most = round(engine.most_running) if isfinite(engine.most_running) else 0
        more = min(int(engine.fits * (1 - _SPARE)), _STEP * most)
        if more > most:
            yield (
                f"The cache has room, and never more than {most} ran: if that is --max-num-seqs, raise it to {more}. "
                "Each token takes a little longer then."
            )


def _blocked(engine: Engine) -> Iterator[str]:
    if not isfinite(engine.tokens) or not isfinite(engine.max_model_len):
        return
    longest = f"{engine.max_model_len:,.0f}"
    if engine.tokens >= engine.max_model_len:
        # Of blocks times block size it is not certain that one fits.
        if engine.says_tokens:
            yield f"One request of the full {longest} tokens fits into the KV cache: its length is not what blocks."
        return
    yield f"A request may have {longest} tokens, the KV cache holds {_tokens(engine)}: a longer one never starts."
    kept = next((length.tokens for length in shorter(engine.tokens, engine.max_model_len)), None)
    if kept is not None:
        yield f"--max-model-len {kept} keeps such requests out."
    yield from _larger(engine, f"{2 * engine.tokens:,.0f} tokens")


def _length(engine: Engine) -> Iterator[str]:
    if not isfinite(engine.tokens) or not isfinite(engine.max_model_len):
        return
    many = engine.concurrency if isfinite(engine.concurrency) else engine.tokens / engine.max_model_len
    yield (
        f"The KV cache holds {_tokens(engine)}, a request may have {engine.max_model_len:,.0f}: {many:.3g} fit at once."
    )
    found = shorter(engine.tokens, engine.max_model_len)
    if found:
        first, *rest = (f"{length.tokens} makes it {length.concurrency:.3g}" for length in found)
        yield f"--max-model-len {first}{''.join(f', {one}' for one in rest)}."
    yield from _larger(engine, f"{2 * many:.3g}")


def _held(engine: Engine) -> Iterator[str]:
    """Yield what the requests that run hold, and how many such requests fit."""
    if not isfinite(engine.fits) or engine.usage < _OVER < _FREE < engine.most_usage:
        return
    fit = max(1, int(engine.fits))
    fit_at_once = f"{fit} such {'requests fit' if fit > 1 else 'request fits'}."
    each = whole = ""
    if isfinite(engine.tokens):
        each = f", {engine.usage * engine.tokens / engine.running:,.0f} tokens each"
        whole = f" ({_tokens(engine)}{_in_full(engine)})"
    yield (
        f"{engine.running:.3g} requests run on average{each}: {engine.usage * 100:.0f} % of the KV cache{whole}. "
        f"{fit_at_once}"
    )


def _in_full(engine: Engine) -> str:
    """Return how many of the longest requests fit, "" where it is not known."""
    if not isfinite(engine.concurrency) or not isfinite(engine.max_model_len):
        return ""
    return f", {engine.concurrency:.3g} requests of the full {engine.max_model_len:,.0f}"


def _twice_as_many(engine: Engine) -> str:
    return (
        f"{int(2 * engine.fits)} such requests" if engine.usage >= _OVER and isfinite(engine.fits) else "twice as much"
    )


def _larger(engine: Engine, twice: str) -> Iterator[str]:
    """Yield the ways to a larger cache, with what is known of each; `twice` is what one of double size holds."""
    ways = [*_fp8(engine, twice), *_memory(engine)]
    if ways:
        yield f"More cache: {'; '.join(ways)}."


def _fp8(engine: Engine, twice: str) -> Iterator[str]:
    dtype = engine.settings.get("cache_dtype", "")
    if dtype in _SIXTEEN_BITS:
        yield f"--kv-cache-dtype fp8, up to {twice}"
    elif dtype in _EIGHT_BITS:
        yield "it has 8 bits a number already"


def _memory(engine: Engine) -> Iterator[str]:
    blocks, given = engine.number("num_gpu_blocks_override"), engine.number("kv_cache_memory_bytes")
    ratio = engine.number("gpu_memory_utilization")
    if isfinite(blocks):
        yield f"--num-gpu-blocks-override {blocks:.0f} is what limits it"
    elif isfinite(given):
        yield f"--kv-cache-memory-bytes limits it to {given / _GIB:.3g} GiB"
    elif ratio <= 1:
        yield f"--gpu-memory-utilization is {ratio:g} now"


def _tokens(engine: Engine) -> str:
    return (
        f"{engine.tokens:,.0f} tokens" if engine.says_tokens else f"{engine.tokens:,.0f} tokens (blocks x block size)"
    )


_LINES: Mapping[Topic, Callable[[Engine], Iterator[str]]] = {
    Topic.POOL: _pool,
    Topic.QUEUE: _queue,
    Topic.BLOCKED: _blocked,
    Topic.LENGTH: _length,
}
