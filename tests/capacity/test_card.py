"""What is another on the card of the next start."""

import pytest

from monitor.capacity.card import Card, card, difference

BEFORE = card(
    "0.25.1",
    {"llama": 16_384},
    [(444_006, 27.1)],
    {"gpu_memory_utilization": "0.9", "cache_dtype": "auto", "num_gpu_blocks": "27750"},
)


def after(**changed: float | str) -> Card:
    """Return the card of a start at which so much is another; two of its names have a blank."""
    named = {"max_concurrency": "max concurrency", "KV_cache": "KV cache"}
    return {**BEFORE, **{named.get(name, name): value for name, value in changed.items()}}


@pytest.mark.parametrize(
    ("next_one", "told"),
    [
        pytest.param(
            after(max_concurrency=7.7, KV_cache=126_157.0, vLLM="0.26.0", gpu_memory_utilization="0.92"),
            "max concurrency 27.1 → 7.7 (-72 %), vLLM 0.25.1 → 0.26.0, gpu_memory_utilization 0.9 → 0.92",
            id="an-upgrade",
        ),
        pytest.param(
            after(max_concurrency=54.2, max_model_len=8192.0),
            "max concurrency 27.1 → 54.2 (+100 %), max_model_len 16,384 → 8,192",
            id="shorter-requests",
        ),
        pytest.param(
            after(max_concurrency=27.1, KV_cache=888_012.0, max_model_len=32_768.0, cache_dtype="fp8"),
            "KV cache 444,006 → 888,012 tokens (+100 %), max_model_len 16,384 → 32,768, cache_dtype auto → fp8",
            id="a-larger-cache-for-longer-requests",
        ),
        pytest.param(
            after(num_gpu_blocks_override="100", max_concurrency=0.1),
            "max concurrency 27.1 → 0.1 (-100 %), num_gpu_blocks_override unset → 100",
            id="a-forgotten-flag",
        ),
        pytest.param(after(max_concurrency=27.0, KV_cache=443_000.0), "", id="some-blocks-less"),
        pytest.param({"vLLM": "0.26.0"}, "vLLM 0.25.1 → 0.26.0", id="little-is-known"),
        pytest.param(after(kv_cache_memory_bytes="None"), "", id="what-an-older-version-did-not-have"),
        pytest.param({}, "", id="nothing-is-known"),
    ],
)
def test_the_difference_of_two_starts(next_one: Card, told: str) -> None:
    assert difference(BEFORE, next_one) == told


def test_of_several_engines_the_smallest_counts_and_what_is_not_known_is_not_on_the_card() -> None:
    assert card("", {}, [(100, 2.0), (90, None), (None, 1.5)], {}) == {"max concurrency": 1.5, "KV cache": 90.0}
    assert card("", {}, [], {}) == {}
    assert card("", {"a": 10, "b": 20}, [], {}) == {"model": "a, b", "max_model_len": 20.0}


def test_texts_of_a_page_are_cut() -> None:
    long = card("9" * 500, {}, [], {"cache_dtype": "x" * 500})
    assert max(len(str(value)) for value in long.values()) == 60
