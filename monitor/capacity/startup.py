"""What a start-up log of vLLM says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from monitor.capacity.traffic import Traffic


class Fact(StrEnum):
    """
    What can be read from a log, under the name it is shown by.

    Sizes are GiB of one GPU (vLLM up to 0.8.2 writes GB and means GiB); `TOKENS` and `CONCURRENCY` are of one engine.
    Times are seconds, of the slowest process.
    """

    VERSION = "version"
    ENGINE = "engine"
    MODEL = "model"
    MAX_MODEL_LEN = "max_model_len"
    DTYPE = "dtype"
    KV_CACHE_DTYPE = "kv_cache_dtype"
    TENSOR_PARALLEL = "tensor_parallel_size"
    PIPELINE_PARALLEL = "pipeline_parallel_size"
    TOTAL_GIB = "GPU memory"
    FREE_GIB = "free at the start"
    UTILISATION = "gpu_memory_utilization"
    WEIGHTS_GIB = "weights"
    ACTIVATION_GIB = "peak activation"
    NON_TORCH_GIB = "CUDA and NCCL"
    GRAPHS_GIB = "CUDA graphs"
    KV_GIB = "KV cache"
    BLOCKS = "blocks"
    BLOCKS_OVERRIDE = "num_gpu_blocks_override"
    BLOCK_SIZE = "block_size"
    TOKENS = "tokens"
    CONCURRENCY = "max concurrency"
    # From the first line with a time to the server's being up, or to the last; the others are parts of it. LOAD has
    # WEIGHTS in it, and INIT has COMPILE and CAPTURE.
    START_SECONDS = "start"
    LOAD_SECONDS = "loading the model"
    WEIGHTS_SECONDS = "loading weights"
    INIT_SECONDS = "init engine"
    COMPILE_SECONDS = "compilation"
    CAPTURE_SECONDS = "graph capture"


class Ill(StrEnum):
    """Why a start failed or an engine died; those further up explain those further down."""

    TOO_LONG = "one request of max_model_len does not fit into the KV cache"
    NO_KV = "nothing is left for the KV cache"
    NOT_FREE = "less memory is free than gpu_memory_utilization asks for"
    OUT_OF_MEMORY = "the GPU is out of memory"
    SAMPLER = "the GPU is out of memory at max_num_seqs requests"
    WORKER_DIED = "a worker process died"
    ENGINE_SLOW = "the engine did not come up in time"
    ENGINE_DIED = "the engine died"


@dataclass(frozen=True, slots=True)
class Found:
    """A value with the number of the line that says so; numbers are floats, everything else is text."""

    value: str | float
    line: int


@dataclass(frozen=True, slots=True)
class Illness:
    """A failure: the numbers its line gives, by name, and that line."""

    ill: Ill
    numbers: Mapping[str, float]
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Startup:
    """
    Everything that was found.

    `engines` has what belongs to one of several data-parallel engines, by its number. `warnings` are those that bear on
    the cache. `lines` counts the lines that were read. `ready`: it came up; `stopped`: it was told to stop. `starts`
    counts the starts of which the log tells: the facts are of the last. `traffic` is what it served, by engines.
    """

    facts: Mapping[Fact, Found] = field(default_factory=dict)
    engines: Mapping[str, Mapping[Fact, float]] = field(default_factory=dict)
    illness: Illness | None = None
    warnings: tuple[str, ...] = ()
    lines: int = 0
    ready: bool = False
    stopped: bool = False
    starts: int = 1
    traffic: Mapping[str, Traffic] = field(default_factory=dict)

    def number(self, fact: Fact) -> float | None:
        """Return a number; None where the log does not have it."""
        found = self.facts.get(fact)
        return found.value if found is not None and isinstance(found.value, float) else None

    def text(self, fact: Fact) -> str:
        """Return a text, empty where the log does not have it."""
        found = self.facts.get(fact)
        return found.value if found is not None and isinstance(found.value, str) else ""

    @property
    def concurrency(self) -> float | None:
        """Return the requests of full length that fit at once, of the engine with the least: engines do not share."""
        each = [facts[Fact.CONCURRENCY] for facts in self.engines.values() if Fact.CONCURRENCY in facts]
        return min(each, default=None)

    @property
    def tokens(self) -> float | None:
        """Return the tokens of one engine's cache, of the smallest."""
        each = [facts[Fact.TOKENS] for facts in self.engines.values() if Fact.TOKENS in facts]
        return min(each, default=None)

    @property
    def other_gib(self) -> float | None:
        """Return what was neither weights nor cache, in GiB; None where the log does not say enough."""
        total, ratio = self.number(Fact.TOTAL_GIB), self.number(Fact.UTILISATION)
        weights, cache = self.number(Fact.WEIGHTS_GIB), self.number(Fact.KV_GIB)
        if total is not None and ratio is not None and weights is not None and cache is not None:
            return total * ratio - weights - cache
        activation, rest = self.number(Fact.ACTIVATION_GIB), self.number(Fact.NON_TORCH_GIB)
        return None if activation is None or rest is None else activation + rest
