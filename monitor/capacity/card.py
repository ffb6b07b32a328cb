"""What a start of a server came to, on a card, and what is another on the next one."""

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite

Card = Mapping[str, float | str]

VERSION, MODEL, MAX_MODEL_LEN = "vLLM", "model", "max_model_len"
CONCURRENCY, TOKENS = "max concurrency", "KV cache"
# Those of the settings of the cache that a person chooses. What a version does not know of is not set there.
SETTINGS = (
    *("gpu_memory_utilization", "cache_dtype", "num_gpu_blocks_override", "kv_cache_memory_bytes"),
    *("block_size", "enable_prefix_caching"),
)
_UNSET = ("", "None")
_LONGEST = 60
# Two starts with the same flags differ by some blocks.
_SAME = 0.02


def card(
    version: str,
    models: Mapping[str, int],
    pools: Iterable[tuple[float | None, float | None]],
    settings: Mapping[str, str],
) -> Card:
    """
    Return the card of a server, without what is not known.

    `models` have their lengths in tokens, `pools` are the tokens and the concurrency of each engine, of which the
    smallest counts: engines share nothing. `settings` are labels of `cache_config_info`.
    """
    found: dict[str, float | str] = {}
    each = list(pools)
    concurrency = [many for _, many in each if many is not None]
    tokens = [count for count, _ in each if count is not None]
    if concurrency:
        found[CONCURRENCY] = min(concurrency)
    if tokens:
        found[TOKENS] = float(min(tokens))
    if models:
        found[MAX_MODEL_LEN] = float(max(models.values()))
        found[MODEL] = ", ".join(sorted(models))[:_LONGEST]
    if version:
        found[VERSION] = version[:_LONGEST]
    if settings:
        found |= {name: settings.get(name, "")[:_LONGEST] for name in SETTINGS}
    return found


def difference(before: Card, after: Card) -> str:
    """
    Return what is another, the largest consequence first: `max concurrency 27.1 → 7.7 (-71 %), vLLM 0.25.1 → 0.26.0`.

    "" where nothing is that is known of both.
    """
    return ", ".join((*_numbers(before, after), *_words(before, after)))


def _numbers(before: Card, after: Card) -> Iterator[str]:
    many, tokens = _ratio(before, after, CONCURRENCY), _ratio(before, after, TOKENS)
    if abs(many) > _SAME:
        yield f"{CONCURRENCY} {before[CONCURRENCY]:.3g} → {after[CONCURRENCY]:.3g} ({_percent(many)})"
    # With requests of the same length both say the same.
    if abs(tokens) > _SAME and abs(tokens - many) > _SAME:
        yield f"{TOKENS} {before[TOKENS]:,.0f} → {after[TOKENS]:,.0f} tokens ({_percent(tokens)})"
    if _ratio(before, after, MAX_MODEL_LEN):
        yield f"{MAX_MODEL_LEN} {before[MAX_MODEL_LEN]:,.0f} → {after[MAX_MODEL_LEN]:,.0f}"


def _words(before: Card, after: Card) -> Iterator[str]:
    for name in (VERSION, MODEL, *SETTINGS):
        if name in before and name in after:
            old, new = (_UNSET[0] if one[name] in _UNSET else one[name] for one in (before, after))
            if old != new:
                yield f"{name} {old or 'unset'} → {new or 'unset'}"


def _ratio(before: Card, after: Card, name: str) -> float:
    """Return by what share a number rose; 0 where it is not known of both."""
    old, new = before.get(name), after.get(name)
    if not isinstance(old, float) or not isinstance(new, float) or not old > 0 or not isfinite(new):
        return 0.0
    return new / old - 1


def _percent(ratio: float) -> str:
    return f"{ratio * 100:+.0f} %"
