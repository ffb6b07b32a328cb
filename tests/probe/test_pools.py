"""The KV cache of each engine, as the pages of several versions tell it."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model.labels import Labels
from monitor.probe.pools import pools_of
from monitor.probe.readings import Model, Pool

MODELS = (Model("tiny-llama", 512),)
# Look-alikes of the labels that count.
OTHERS = {"effective_attention_block_size": "7", "hash_block_size": "None", "mamba_block_size": "9"}


def config(**labels: str) -> Labels:
    return Labels.of({"__name__": "vllm:cache_config_info", "job": "vllm", **OTHERS, **labels})


@pytest.mark.parametrize(
    ("configs", "expected"),
    [
        pytest.param([config(block_size="16", num_gpu_blocks="200")], [Pool("", 3200, 6.25)], id="0.9.0.1, V0"),
        pytest.param([config(block_size="32", num_gpu_blocks="100", engine="0")], [Pool("0", 3200, 6.25)], id="0.11.2"),
        pytest.param(
            [config(block_size="32", num_gpu_blocks="200", engine=engine) for engine in "10"],
            [Pool("0", 3200, 6.25), Pool("1", 3200, 6.25)],
            id="data parallel before 0.24: each engine has the sum",
        ),
        pytest.param(
            [
                config(
                    block_size="32",
                    num_gpu_blocks="200",
                    engine=engine,
                    kv_cache_size_tokens="3200",
                    kv_cache_max_concurrency="6.25",
                )
                for engine in "01"
            ],
            [Pool("0", 3200, 6.25), Pool("1", 3200, 6.25)],
            id="data parallel in 0.32.0",
        ),
        pytest.param([config(block_size="16", num_gpu_blocks="None")], [], id="0.8, V1"),
        pytest.param(
            [config(num_gpu_blocks="5", kv_cache_size_tokens="None", kv_cache_max_concurrency="2.5", engine="0")],
            [Pool("0", None, 2.5)],
            id="only the concurrency",
        ),
        pytest.param([], [], id="no such series"),
        pytest.param(
            [config(block_size="1", num_gpu_blocks="1", engine=name) for name in "01"], [], id="less than one"
        ),
        *(
            pytest.param([config(block_size=text, num_gpu_blocks=text)], [], id=f"hostile {text[:8]}")
            for text in ("-1", "0", "1e9", "9" * 400, "NaN", "²", "\u0661", " 5")
        ),
        *(
            pytest.param([config(kv_cache_max_concurrency=text)], [], id=f"hostile concurrency {text}")
            for text in ("inf", "nan", "-2", "0", "1e999")
        ),
    ],
)
def test_pools(configs: list[Labels], expected: list[Pool]) -> None:
    assert pools_of(configs, MODELS) == tuple(expected)


def test_without_the_models_only_a_label_tells_the_concurrency() -> None:
    blocks = config(block_size="32", num_gpu_blocks="100", engine="0")
    assert pools_of([blocks]) == (Pool("0", 3200, None),)
    labelled = config(kv_cache_size_tokens="3200", kv_cache_max_concurrency="6.25", engine="0")
    assert pools_of([labelled]) == (Pool("0", 3200, 6.25),)


def test_the_longest_context_counts_where_models_differ() -> None:
    blocks = config(block_size="32", num_gpu_blocks="100", engine="0")
    assert pools_of([blocks], (Model("a", 512), Model("b", 1024))) == (Pool("0", 3200, 3.125),)


LABELS = ("engine", "block_size", "num_gpu_blocks", "kv_cache_size_tokens", "kv_cache_max_concurrency")
ANYTHING = st.text() | st.integers().map(str) | st.floats().map(str)


@given(st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(LABELS, ANYTHING))), st.integers(1, 2**53))
def test_no_label_breaks_the_reading(pages: list[dict[str, str]], length: int) -> None:
    for pool in pools_of([Labels.of(page) for page in pages], (Model("m", length),)):
        assert pool.tokens is None or pool.tokens > 0
        assert pool.max_concurrency is None or 0 < pool.max_concurrency < inf
