"""From a model, a GPU and the flags to how many requests fit at once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf

from monitor.capacity.dtypes import computed_in, kv_bytes, loaded_in, weight_bytes
from monitor.capacity.failure import CapacityError
from monitor.capacity.gpus import Gpu
from monitor.capacity.groups import Pool, Sharding, pool
from monitor.capacity.layers import Architecture, Kind
from monitor.capacity.memory import GIB, Measured, Memory, memory
from monitor.capacity.ranges import Range

# Batches that may be under way at once with asynchronous scheduling; before 0.26 vLLM reckoned with one all the same.
_BATCHES = 2
# Blocks that no request can have: the null block.
_RESERVED = 1


@dataclass(frozen=True, slots=True)
class Settings:
    """
    The flags of `vllm serve` that capacity depends on, under their own names.

    `dtype` is what the model computes in, and what weights that are not quantised are loaded in; "auto" is as the
    checkpoint has them. `quantization` None leaves quantised weights as they are. `max_num_batched_tokens` matters to
    layers with a window. `hybrid_kv_cache_manager` None is vLLM's default: on, but for chunked attention. `lengths` are
    tokens of a request, answer included, with its share of the traffic.
    """

    max_model_len: int
    gpu_memory_utilization: float = 0.92
    kv_cache_dtype: str = "auto"
    quantization: str | None = None
    dtype: str = "auto"
    tensor_parallel_size: int = 1
    pipeline_parallel_size: int = 1
    data_parallel_size: int = 1
    max_num_seqs: int = 256
    max_num_batched_tokens: int = 8192
    block_size: int = 16
    hybrid_kv_cache_manager: bool | None = None
    async_scheduling: bool = True
    lengths: Mapping[int, float] = field(default_factory=dict)

    @property
    def tokens_in_flight(self) -> int:
        """How many tokens may be computed before what left a window is given back."""
        batches = max(_BATCHES if self.async_scheduling else 1, self.pipeline_parallel_size)
        return self.max_num_batched_tokens * batches


class Verdict(StrEnum):
    """Whether vLLM starts."""

    STARTS = "starts"
    PERHAPS = "perhaps"
    FAILS = "does not start"


@dataclass(frozen=True, slots=True)
class Plan:
    """
    What comes out, for one replica of `data_parallel_size`.

    `token_bytes` is what a token of context takes on one GPU, `pool_gib` the memory of its cache, `tokens` what the
    whole replica holds. `concurrency` counts requests of `max_model_len`; `requests` those of the given lengths, at
    most `max_num_seqs`, and is None where no lengths were given.
    """

    model: Architecture
    gpu: Gpu
    settings: Settings
    memory: Memory
    cache: Pool
    bytes_a_number: float
    token_bytes: float
    blocks_a_request: int
    pool_gib: Range
    blocks: Range
    tokens: Range
    concurrency: Range
    requests: Range | None
    verdict: Verdict


def plan(model: Architecture, gpu: Gpu, settings: Settings, measured: Measured | None = None) -> Plan:
    """Return what fits. Raises CapacityError for settings that contradict themselves."""
    _check(model, settings)
    dtype = computed_in(settings.dtype, model.weights_dtype)
    model = model.computed_in(weight_bytes(dtype))
    number = kv_bytes(settings.kv_cache_dtype, dtype)
    sharding = Sharding(settings.tensor_parallel_size, settings.pipeline_parallel_size)
    hybrid = has_manager(model, settings)
    cache = pool(model, number, sharding, settings.block_size, hybrid=hybrid)
    shares = settings.tensor_parallel_size * settings.pipeline_parallel_size
    room = memory(gpu, settings.gpu_memory_utilization, weights_gib(model, settings) / shares, measured)
    blocks = room.pool.each(lambda gib: cache.blocks_in(gib * GIB))
    needed = cache.blocks_for(settings.max_model_len, settings.tokens_in_flight)
    concurrency = blocks.each(lambda count: count / needed)
    return Plan(
        model,
        gpu,
        settings,
        room,
        cache,
        number,
        token_bytes=_token_bytes(model, settings, number, hybrid=hybrid),
        blocks_a_request=needed,
        pool_gib=room.pool,
        blocks=blocks,
        tokens=concurrency.each(lambda many: int(many * settings.max_model_len)),
        concurrency=concurrency,
        requests=_requests(cache, settings, blocks),
        verdict=_verdict(blocks, needed),
    )


def has_manager(model: Architecture, settings: Settings) -> bool:
    """Tell whether layers with a window give back what left it: vLLM's hybrid KV cache manager."""
    if settings.hybrid_kv_cache_manager is not None:
        return settings.hybrid_kv_cache_manager
    return all(layers.kind is not Kind.CHUNKED for layers in model.layers)


def weights_gib(model: Architecture, settings: Settings) -> float:
    """Return the GiB of all weights, before they are spread over GPUs. Raises CapacityError for an unknown type."""
    if settings.quantization is None and model.weights_bytes is not None:
        return model.weights_bytes / GIB
    return model.parameters * weight_bytes(loaded_as(model, settings)) / GIB


def loaded_as(model: Architecture, settings: Settings) -> str:
    """Return the type that weights are loaded in. Raises CapacityError for one that vLLM does not have."""
    return settings.quantization or loaded_in(settings.dtype, model.weights_dtype)


def _token_bytes(model: Architecture, settings: Settings, bytes_a_number: float, *, hybrid: bool) -> float:
    """Return what one more token of context takes on one GPU, in all its layers that grow with the context."""
    growing = [layers for layers in model.layers if not layers.window or not hybrid]
    numbers = sum(layers.count * layers.numbers_a_token(settings.tensor_parallel_size) for layers in growing)
    return numbers * bytes_a_number / settings.pipeline_parallel_size


def _requests(cache: Pool, settings: Settings, blocks: Range) -> Range | None:
    if not settings.lengths:
        return None
    mean = mean_blocks(cache, settings)
    return blocks.each(lambda count: min(settings.max_num_seqs, count / mean))


def mean_blocks(cache: Pool, settings: Settings) -> float:
    """Return the blocks that a request of the given lengths takes on average."""
    total = sum(settings.lengths.values())
    in_flight = settings.tokens_in_flight
    return sum(cache.blocks_for(tokens, in_flight) * share for tokens, share in settings.lengths.items()) / total


def _verdict(blocks: Range, needed: int) -> Verdict:
    if blocks.low - _RESERVED >= needed:
        return Verdict.STARTS
    return Verdict.FAILS if blocks.high - _RESERVED < needed else Verdict.PERHAPS


def _check(model: Architecture, settings: Settings) -> None:
    """Say everything that contradicts itself, at once. Raises CapacityError."""
    wrong = [*_numbers(settings), *_lengths(settings)]
    if settings.max_model_len > model.max_positions:
        wrong.append(
            f"--max-model-len {settings.max_model_len} is more than the {model.max_positions} positions that "
            f"{model.name} was made for"
        )
    if model.attention_heads and model.attention_heads % max(1, settings.tensor_parallel_size):
        wrong.append(
            f"--tensor-parallel-size {settings.tensor_parallel_size} does not divide the {model.attention_heads} "
            f"attention heads of {model.name}"
        )
    if settings.pipeline_parallel_size > model.layer_count:
        wrong.append(f"--pipeline-parallel-size is more than the {model.layer_count} layers of {model.name}")
    if wrong:
        raise CapacityError("\n".join(wrong))


def _numbers(settings: Settings) -> list[str]:
    counts = {
        "--max-model-len": settings.max_model_len,
        "--tensor-parallel-size": settings.tensor_parallel_size,
        "--pipeline-parallel-size": settings.pipeline_parallel_size,
        "--data-parallel-size": settings.data_parallel_size,
        "--max-num-seqs": settings.max_num_seqs,
        "--max-num-batched-tokens": settings.max_num_batched_tokens,
        "--block-size": settings.block_size,
    }
    wrong = [f"{flag} {count} is not a positive number" for flag, count in counts.items() if count < 1]
    if not 0 < settings.gpu_memory_utilization <= 1:
        wrong.append(f"--gpu-memory-utilization {settings.gpu_memory_utilization:g} is not a ratio above 0, up to 1")
    return wrong


def _lengths(settings: Settings) -> list[str]:
    wrong = [
        f"a request of {tokens} tokens does not fit into --max-model-len {settings.max_model_len}"
        for tokens in settings.lengths
        if not 0 < tokens <= settings.max_model_len
    ]
    if not all(0 < share < inf for share in settings.lengths.values()):
        wrong.append("the share of a length is a number above 0")
    return wrong
