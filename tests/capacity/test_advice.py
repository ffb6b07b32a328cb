"""What an engine's numbers say to do: what is full decides which knob is named, and what is not known is not said."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.capacity.advice import TOPICS, Engine, advice
from monitor.rulebook.read import shipped_groups
from monitor.rules.spec import AlertingRule

# Llama 3.1 8B on an L4, as vLLM 0.24 and later say it.
SETTINGS = {"cache_dtype": "auto", "gpu_memory_utilization": "0.9", "kv_cache_size_tokens": "28430"}
L4 = Engine(28_430, 16_384, 1.735, settings=SETTINGS)
FULL = replace(L4, running=9.3, most_running=16, usage=0.96, most_usage=1.0)
FREE = replace(L4, running=16, most_running=16, usage=0.35, most_usage=0.4)
ONE = replace(L4, running=1.1, most_running=2, usage=0.96, most_usage=1.0)
OLD = {"cache_dtype": "fp8", "num_gpu_blocks": "4790", "block_size": "16"}
LARGER = "More cache: --kv-cache-dtype fp8, up to {}; --gpu-memory-utilization is 0.9 now."
POOL = "of the KV cache (28,430 tokens, 1.74 requests of the full 16,384)"
NINE = f"9.3 requests run on average, 2,935 tokens each: 96 % {POOL}. 9 such requests fit."
SINGLE = f"1.1 requests run on average, 24,812 tokens each: 96 % {POOL}. 1 such request fits."
MANY = f"16 requests run on average, 622 tokens each: 35 % {POOL}. 45 such requests fit."
HALF = f"16 requests run on average, 1,244 tokens each: 70 % {POOL}. 22 such requests fit."
ROOM = (
    "The cache has room, and never more than 16 ran: if that is --max-num-seqs, raise it "
    "to 32. Each token takes a little longer then."
)
NEVER = (
    "A request may have 262,144 tokens, the KV cache holds 76,640 tokens (blocks x block "
    "size): a longer one never starts."
)
LESS = "The KV cache holds 76,640 tokens (blocks x block size), a request may have 262,144: 0.292 fit at once."


@pytest.mark.parametrize(
    ("alert", "engine", "lines"),
    [
        pytest.param(
            "VLLMPreemptionsHigh",
            FULL,
            (
                NINE,
                "--max-num-seqs 8 lets in what fits, with a tenth to spare.",
                LARGER.format("19 such requests"),
            ),
            id="preemptions-of-a-full-pool-want-fewer-requests",
        ),
        pytest.param(
            "VLLMKVCacheFull",
            ONE,
            (
                SINGLE,
                "One such request fills it: a larger cache helps, or shorter requests.",
                LARGER.format("2 such requests"),
            ),
            id="a-pool-that-one-request-fills",
        ),
        pytest.param(
            "VLLMOverloaded",
            FREE,
            (
                MANY,
                ROOM,
            ),
            id="a-queue-beside-a-free-pool-wants-more-requests",
        ),
        pytest.param(
            "VLLMTimeInQueueHigh",
            FULL,
            (
                NINE,
                "The cache is the limit: a higher --max-num-seqs only brings preemptions. Another replica helps.",
                LARGER.format("19 such requests"),
            ),
            id="a-queue-before-a-full-pool-wants-a-larger-one",
        ),
        pytest.param(
            "VLLMRequestsWaiting", replace(FREE, most_usage=0.99), (), id="a-queue-that-is-over-says-nothing-of-room"
        ),
        pytest.param(
            "VLLMPreemptionsHigh",
            replace(FREE, most_usage=0.99),
            (LARGER.format("twice as much"),),
            id="preemptions-that-are-over-say-nothing-of-what-runs-now",
        ),
        pytest.param(
            "VLLMKVCacheFillingUp",
            replace(FREE, usage=0.7, most_usage=0.75),
            (HALF, LARGER.format("45 such requests")),
            id="a-pool-that-fills-up",
        ),
        pytest.param(
            "VLLMAdmissionStalled",
            Engine(76_640, 262_144, 0.29, settings=OLD),
            (
                NEVER,
                "--max-model-len 76000 keeps such requests out.",
                "More cache: it has 8 bits a number already.",
            ),
            id="a-request-that-can-never-be-admitted",
        ),
        pytest.param(
            "VLLMAdmissionStalled",
            L4,
            ("One request of the full 16,384 tokens fits into the KV cache: its length is not what blocks.",),
            id="blocked-by-something-else",
        ),
        pytest.param(
            "VLLMAdmissionStalled", Engine(28_430, 16_384, 1.7, settings=OLD), (), id="blocks-prove-nothing-fits"
        ),
        pytest.param(
            "VLLMMaxConcurrencyBelowFloor",
            L4,
            (
                "The KV cache holds 28,430 tokens, a request may have 16,384: 1.74 fit at once.",
                "--max-model-len 8192 makes it 3.47, 4096 makes it 6.94.",
                LARGER.format("3.47"),
            ),
            id="too-few-of-full-length",
        ),
        pytest.param(
            "VLLMKVPoolBelowOneRequest",
            Engine(76_640, 262_144, settings={"cache_dtype": "auto", "num_gpu_blocks_override": "4790"}),
            (
                LESS,
                "--max-model-len 76000 makes it 1.01, 65536 makes it 1.17.",
                "More cache: --kv-cache-dtype fp8, up to 0.585; --num-gpu-blocks-override 4790 is what limits it.",
            ),
            id="less-than-one",
        ),
        pytest.param(
            "VLLMPreemptionStorm",
            replace(FULL, tokens=float("nan"), settings={"kv_cache_memory_bytes": "1073741824"}),
            (
                "9.3 requests run on average: 96 % of the KV cache. 9 such requests fit.",
                "--max-num-seqs 8 lets in what fits, with a tenth to spare.",
                "More cache: --kv-cache-memory-bytes limits it to 1 GiB.",
            ),
            id="requests-fit-whatever-a-token-is",
        ),
    ],
)
def test_what_is_full_decides(alert: str, engine: Engine, lines: tuple[str, ...]) -> None:
    assert advice(alert, engine) == lines


@pytest.mark.parametrize("alert", TOPICS)
def test_of_an_engine_that_nobody_knows_nothing_is_said(alert: str) -> None:
    assert advice(alert, Engine()) == ()
    # An idle engine has no mean request.
    assert not any("such request" in line for line in advice(alert, replace(L4, running=0.2, usage=0.01)))


def test_other_alerts_get_none() -> None:
    assert advice("VLLMTargetDown", FULL) == ()


def test_the_alerts_are_alerts_that_ship() -> None:
    rules = (rule for group in shipped_groups(None, lambda _: None, lambda *_: None) for rule in group.rules)
    off = {"VLLMQueueGrowing", "VLLMKVCacheFillingUp"}
    assert set(TOPICS) - off <= {rule.name for rule in rules if isinstance(rule, AlertingRule)}


number = st.floats(min_value=-1, max_value=1e7) | st.sampled_from([float("nan"), float("inf")])


@given(
    st.sampled_from(sorted(TOPICS)),
    st.lists(number, min_size=7, max_size=7),
    st.dictionaries(
        st.sampled_from(["cache_dtype", "gpu_memory_utilization", "num_gpu_blocks_override", "kv_cache_memory_bytes"]),
        st.text(max_size=8),
    ),
)
def test_whatever_the_numbers_are_it_is_three_short_lines_of_known_words(
    alert: str, numbers: list[float], settings: dict[str, str]
) -> None:
    a, b, c, d, e, f, g = numbers
    lines = advice(alert, Engine(a, b, c, d, e, f, g, settings))
    assert len(lines) <= 3
    assert all(len(line) < 200 and line.isascii() and not set(line) & set("<>&*_~`\n") for line in lines)
    assert "nan" not in " ".join(lines)
    assert "inf" not in " ".join(lines)
