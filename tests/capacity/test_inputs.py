"""Prompt lengths from a histogram: what is certain of a quantile and of a limit, and the share of the cache of one."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.capacity.inputs import Between, Inputs, as_plain, rows

# 1,000 prompts: 600 up to 1,000 tokens, 350 up to 10,000, 40 up to 20,000, 10 above.
COUNTS = {1_000.0: 600.0, 10_000.0: 950.0, 20_000.0: 990.0, inf: 1_000.0}
L4 = Inputs(15_000, COUNTS, 28_430, 16_384)


def test_a_quantile_lies_in_a_bucket_and_no_prompt_is_longer_than_a_request() -> None:
    assert L4.quantile(0.5) == Between(0, 1_000)
    assert L4.quantile(0.95) == Between(1_000, 10_000)
    assert L4.quantile(0.99) == Between(10_000, 16_384)
    assert Inputs(15_000, COUNTS).quantile(0.999) == Between(20_000, inf)


@pytest.mark.parametrize(
    ("limit", "above"),
    [
        pytest.param(10_000, Between(0.05, 0.05), id="an-edge"),
        pytest.param(15_000, Between(0.01, 0.05), id="between-two"),
        pytest.param(50_000, Between(0.0, 0.01), id="beyond-the-last"),
        pytest.param(10, Between(0.4, 1.0), id="below-the-first"),
    ],
)
def test_how_many_are_above_a_limit_is_known_as_far_as_buckets_tell(limit: int, above: Between) -> None:
    found = Inputs(limit, COUNTS).above
    assert found is not None
    assert (found.low, found.high) == pytest.approx((above.low, above.high))


def test_what_there_is_to_say_in_words() -> None:
    assert list(rows(L4)) == [
        ("prompts", "1,000 so far, in tokens: p50 0 to 1,000, p95 1,000 to 10,000, p99 10,000 to 16,384"),
        ("above the limit", "1.0% to 5.0% of them have more than 15,000 tokens"),
        ("one of 15,000", "53% of the KV cache (the limit)"),
        ("one of 16,384", "58% of the KV cache (p99, at most)"),
        ("one of 16,384", "58% of the KV cache (max_model_len)"),
    ]


def test_of_a_server_that_says_nothing_there_is_nothing_to_say() -> None:
    assert list(rows(Inputs(15_000))) == []
    assert list(rows(Inputs(15_000, {1.0: 0.0, inf: 0.0}, None, 512))) == []
    assert as_plain(Inputs(15_000))["above_limit_ratio"] is None
    # A limit that no request can have is none.
    assert list(rows(Inputs(15_000, {}, 3_200, 512))) == [("one of 512", "16% of the KV cache (max_model_len)")]


@given(st.lists(st.integers(1, 50_000), min_size=1), st.integers(1, 60_000), st.sampled_from([0.5, 0.95, 0.99]))
def test_what_is_said_holds_for_any_prompts(lengths: list[int], limit: int, ratio: float) -> None:
    edges = [1.0, 10.0, 100.0, 1_000.0, 10_000.0, inf]
    inputs = Inputs(limit, {edge: float(sum(one <= edge for one in lengths)) for edge in edges})
    exact = sorted(lengths)[max(0, -int(-ratio * len(lengths) // 1) - 1)]
    bucket, above = inputs.quantile(ratio), inputs.above
    assert bucket is not None
    assert above is not None
    assert bucket.low < exact <= bucket.high
    assert above.low - 1e-9 <= sum(one > limit for one in lengths) / len(lengths) <= above.high + 1e-9
