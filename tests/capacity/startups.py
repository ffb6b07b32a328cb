"""Starts of vLLM that printed what they had and what came of it: public logs, and servers that were recorded."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from monitor.capacity.gpus import gpu
from monitor.capacity.layers import Architecture, Kind, Layers
from monitor.capacity.memory import GIB, Measured
from monitor.capacity.models import model
from monitor.capacity.plan import Plan, Settings, plan

Number = Callable[[Plan], float]


def of_cache(named: str | Architecture, gib: float, settings: Settings) -> Plan:
    """Plan with a cache of exactly so many GiB."""
    known = model(named) if isinstance(named, str) else named
    exact = replace(settings, gpu_memory_utilization=1.0)
    return plan(known, gpu(f"{gib}"), exact, Measured(total=gib, weights=0, other=0))


def of_blocks(named: str | Architecture, blocks: int, settings: Settings) -> Plan:
    """Plan with so many blocks, as a log or `--num-gpu-blocks-override` gives them."""
    size = of_cache(named, 1, settings).cache.block_bytes
    return of_cache(named, (blocks + 0.5) * size / GIB, settings)


def tiny(kv_heads: int, head_size: int) -> Architecture:
    """Return a two-layer Llama in 32 bits, like those of the recorded servers, which ran with `--dtype float32`."""
    return Architecture("tiny", (Layers(Kind.FULL, 2, kv_heads, head_size, head_size),), 1, 131_072, "float32")


def blocks(planned: Plan) -> float:
    return planned.blocks.likely


def tokens(planned: Plan) -> float:
    """Return what V0 and V1 print for layers that all keep everything: blocks times their size."""
    return planned.blocks.likely * planned.cache.block_size


def concurrency(planned: Plan) -> float:
    return planned.concurrency.likely


def pool_gib(planned: Plan) -> float:
    return planned.pool_gib.likely


def needed_gib(planned: Plan) -> float:
    return planned.blocks_a_request * planned.cache.block_bytes / GIB


def longest(planned: Plan) -> float:
    """Return the longest request: of all blocks but the one that stays empty."""
    return (planned.blocks.likely - 1) * planned.cache.block_size


@dataclass(frozen=True, slots=True)
class Start:
    """
    A start: what it was, where its log is from, its plan, and what the log says.

    `said` are the unit, the number and how the plan has it. The plan is off by `within` at most: 0 where the log rounds
    nothing that it is made of.
    """

    what: str
    source: str
    planned: Plan
    said: Sequence[tuple[str, float, Number]]
    within: float = 0.005


LLAMA, L4 = model("llama-3.1-8b"), gpu("L4")
# What the log of the outage said: GPU, weights, activation and the rest, in GiB.
OUTAGE = Measured(total=22.05, weights=14.99, other=0.12 + 1.26)
_RECORDED = "recorded"
_SMALL, _LONG = tiny(2, 16), tiny(32, 64)


def rtx_3090(peak: float, length: int) -> Plan:
    """Return the plan of a start that profiled 23.58 GiB in all, 0.35 not of torch, and `peak` at most of torch."""
    measured = Measured(total=23.58, weights=14.9888, other=peak - 14.9888 + 0.35)
    return plan(LLAMA, gpu("23.58"), Settings(length, 0.90), measured)


PUBLIC = (
    Start(
        "Llama 3.1 8B, L4, 0.90, 131,072 tokens",
        "the outage this project comes from",
        plan(LLAMA, L4, Settings(131_072, 0.90), OUTAGE),
        [
            ("GiB of cache", 3.47, pool_gib),
            ("GiB for one request", 16.0, needed_gib),
            ("tokens (about)", 28_430, tokens),
        ],
    ),
    Start(
        "the same, 3.6 GiB of cache, 16,384 tokens",
        "the same, after its mending",
        of_cache(LLAMA, 3.6, Settings(16_384)),
        [("x", 1.8, concurrency)],
    ),
    Start(
        "the same, fp8 cache",
        "the same",
        of_cache(LLAMA, 3.6, Settings(16_384, kv_cache_dtype="fp8")),
        [("x", 3.6, concurrency)],
    ),
    Start(
        "Llama 3.1 8B, RTX 3090, 0.90, 29,000 tokens",
        "vLLM issue 10517",
        rtx_3090(17.98, 29_000),
        [
            ("GiB of cache", 2.89, pool_gib),
            ("blocks", 1478, blocks),
            ("tokens", 23_648, tokens),
            ("x", 0.82, concurrency),
        ],
    ),
    Start(
        "the same, 20,000 tokens",
        "vLLM issue 10517",
        rtx_3090(17.06, 20_000),
        [("GiB of cache", 3.81, pool_gib), ("blocks", 1952, blocks), ("x", 1.56, concurrency)],
    ),
    Start(
        "Llama 3.1 70B, 1,381 blocks, 2,048 tokens",
        "vLLM pull request 12569",
        of_blocks("llama-3.1-70b", 1381, Settings(2048)),
        [("x", 10.79, concurrency)],
        within=0,
    ),
    Start(
        "StarCoder2 3B (all layers with a window), 137,407 blocks, 16,384 tokens",
        "vLLM pull request 19029",
        of_blocks("starcoder2-3b", 137_407, Settings(16_384, async_scheduling=False)),
        [("tokens", 2_198_512, tokens), ("x", 178.68, concurrency)],
        within=0,
    ),
    Start(
        "Qwen3 235B A22B, 4 GPUs, 8.11 GiB of cache",
        "vLLM issue 21348",
        of_cache("qwen3-235b-a22b", 8.11, Settings(32_768, tensor_parallel_size=4)),
        # The log has the memory of one of four GPUs; the one with the least counts.
        [("tokens", 178_880, tokens)],
        within=0.012,
    ),
)


def recorded() -> Iterator[Start]:
    """Yield the starts of the servers in tests/data/startup."""
    for version, size, had, override in (
        ("0.9.0.1", 16, 131_072, 200),
        ("0.11.2", 32, 65_536, 100),
        ("0.32.0", 32, 65_536, 100),
        ("0.32.0, two engines", 32, 65_536, 100),
    ):
        what = f"a two-layer Llama, {version}"
        settings = Settings(512, block_size=size)
        whole = of_cache(_SMALL, 1, settings)
        yield Start(f"{what}, 1 GiB of cache", _RECORDED, whole, [("blocks", had, blocks)], within=0)
        limited = of_blocks(_SMALL, override, settings)
        yield Start(
            f"{what}, {override} blocks",
            _RECORDED,
            limited,
            [("tokens", 3200, tokens), ("x", 6.25, concurrency)],
            within=0,
        )
    for version, size, said in (
        ("0.9.0.1", 16, [("blocks", 2048, blocks), ("tokens", 32_768, tokens), ("x", 0.25, concurrency)]),
        ("0.11.2", 128, [("GiB for one request", 4.0, needed_gib), ("tokens at most", 32_768, tokens)]),
        ("0.32.0", 128, [("GiB for one request", 4.0, needed_gib), ("tokens at most", 32_640, longest)]),
    ):
        failed = of_cache(_LONG, 1, Settings(131_072, block_size=size))
        yield Start(f"another, {version}, 131,072 tokens: no start", _RECORDED, failed, said, within=0)
    few = of_blocks(_SMALL, 8, Settings(512, block_size=32))
    what = "a two-layer Llama, 0.32.0, 8 blocks: no start"
    yield Start(what, _RECORDED, few, [("tokens at most", 224, longest)], within=0)


STARTS: Sequence[Start] = (*PUBLIC, *recorded())


def error(logged: float, planned: float) -> float:
    """Return by how much the plan is off what was logged, once it is rounded as the log is."""
    digits = len(f"{logged:g}".partition(".")[2])
    return round(planned, digits) / logged - 1


def rows() -> Iterator[str]:
    """Yield the rows of the table of docs/capacity.md."""
    yield "| start | log | logged | planned | error |"
    yield "|---|---|---|---|---|"
    for start in STARTS:
        for unit, logged, number in start.said:
            planned = number(start.planned)
            off = error(logged, planned)
            decimals = 2 if unit.startswith(("GiB", "x")) else 0
            told = f"{logged:,.{decimals}f} {unit} | {planned:,.{decimals}f}"
            yield f"| {start.what} | {start.source} | {told} | {f'{off:+.2%}' if off else '0'} |"
