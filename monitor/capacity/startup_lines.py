"""
The lines of a start-up log that say something, of every version since 0.4.

reference: vLLM 0.4.3 to 0.33.0, formats of its log messages; three servers that were run. Lines carry prefixes, colours
and process names that changed often, so nothing is anchored.
"""

import re
from collections.abc import Sequence

from monitor.capacity.numerals import NUMBER, WHOLE
from monitor.capacity.startup import Fact, Ill

_N = NUMBER
_GIB = _N + r" ?Gi?B"

# Facts in the order of the groups of an expression.
LINES: Sequence[tuple[re.Pattern[str], tuple[Fact, ...]]] = tuple(
    (re.compile(pattern), facts)
    for pattern, facts in (
        (r"Initializing an? (?:(V\d) )?LLM engine \(v([^)\s]+)\)", (Fact.ENGINE, Fact.VERSION)),
        (r"vLLM API server version v?(\S+)", (Fact.VERSION,)),
        (r"█\s+version (\d\S*)", (Fact.VERSION,)),
        (r"LLM engine \(v[^)]*\) with config: .*?model='([^']*)'", (Fact.MODEL,)),
        (r"max_seq_len=(\d+)", (Fact.MAX_MODEL_LEN,)),
        (r"[( ]dtype=(?:torch\.)?(\w+)", (Fact.DTYPE,)),
        (r"kv_cache_dtype='?(\w+)", (Fact.KV_CACHE_DTYPE,)),
        (r"tensor_parallel_size=(\d+)", (Fact.TENSOR_PARALLEL,)),
        (r"pipeline_parallel_size=(\d+)", (Fact.PIPELINE_PARALLEL,)),
        (r"Using max model len (\d+)", (Fact.MAX_MODEL_LEN,)),
        (r"Auto-fit max_model_len: reduced from \d+ to (\d+)", (Fact.MAX_MODEL_LEN,)),
        (r"full model context length (\d+) fits in available", (Fact.MAX_MODEL_LEN,)),
        (r"'block_size': (\d+)", (Fact.BLOCK_SIZE,)),
        (
            rf"(?:Loading model weights|Model loading) took {_GIB}(?: memory)?(?: and {_N} seconds)?",
            (Fact.WEIGHTS_GIB, Fact.LOAD_SECONDS),
        ),
        (rf"Loading weights took {_N} seconds", (Fact.WEIGHTS_SECONDS,)),
        (
            rf"init engine \([^)]*\) took {_N} s(?:econds)?(?: \(compilation: {_N} s)?",
            (Fact.INIT_SECONDS, Fact.COMPILE_SECONDS),
        ),
        (rf"torch\.compile takes {_N} s in total", (Fact.COMPILE_SECONDS,)),
        (
            rf"Graph capturing finished in {_N} secs(?:, took {_GIB})?",
            (Fact.CAPTURE_SECONDS, Fact.GRAPHS_GIB),
        ),
        (r"# (?!CPU)\w+ blocks: (\d+)", (Fact.BLOCKS,)),
        (r"Overriding num_gpu_blocks=\d+ with num_gpu_blocks_override=(\d+)", (Fact.BLOCKS_OVERRIDE,)),
        (r"cache_config_info with initialization after num_gpu_blocks is: (\d+)", (Fact.BLOCKS,)),
        (rf"Available KV cache memory: {_GIB}", (Fact.KV_GIB,)),
        (rf"reserved {_GIB} memory for KV Cache as specified", (Fact.KV_GIB,)),
        (rf"Explicitly set \({_N}/", (Fact.KV_GIB,)),
        (rf"Estimated CUDA graph memory: {_GIB}", (Fact.GRAPHS_GIB,)),
        # V0 profiles its memory in one line up to 0.6.5, in several after.
        (
            (
                rf"total_gpu_memory={_GIB} .*?non_torch_memory={_GIB} kv_cache_size={_GIB} "
                rf"gpu_memory_utilization={_N}"
            ),
            (Fact.TOTAL_GIB, Fact.NON_TORCH_GIB, Fact.KV_GIB, Fact.UTILISATION),
        ),
        (
            rf"total_gpu_memory \({_GIB}\) x gpu_memory_utilization \({_N}\)",
            (Fact.TOTAL_GIB, Fact.UTILISATION),
        ),
        (
            (
                rf"model weights take {_GIB}; non_torch_memory takes {_GIB}; PyTorch activation peak memory takes "
                rf"{_GIB}; the "
                rf"rest of the memory reserved for KV Cache is {_GIB}"
            ),
            (Fact.WEIGHTS_GIB, Fact.NON_TORCH_GIB, Fact.ACTIVATION_GIB, Fact.KV_GIB),
        ),
        (
            (
                rf"Free memory on device [^(]*\({_N}/{_N} GiB\) on startup\. Desired GPU memory "
                rf"utilization is \({_N}, "
            ),
            (Fact.FREE_GIB, Fact.TOTAL_GIB, Fact.UTILISATION),
        ),
        (
            (
                rf"Actual usage is {_N} GiB for weight, {_N} GiB for peak activation, {_N} GiB for "
                rf"non-torch memory, and {_N} GiB for CUDAGraph"
            ),
            (Fact.WEIGHTS_GIB, Fact.ACTIVATION_GIB, Fact.NON_TORCH_GIB, Fact.GRAPHS_GIB),
        ),
        (
            (
                rf"for consumed memory \(weights \+ non-torch\), {_N} GiB for peak activation, and {_N} "
                r"GiB for CUDAGraph"
            ),
            (Fact.ACTIVATION_GIB, Fact.GRAPHS_GIB),
        ),
        (r"gpu_memory_utilization=(0?\.\d+|1(?:\.0)?)\b", (Fact.UTILISATION,)),
    )
)
# What belongs to one engine of several.
ENGINE_LINES: Sequence[tuple[re.Pattern[str], tuple[Fact, ...]]] = tuple(
    (re.compile(pattern), facts)
    for pattern, facts in (
        (rf"KV cache size: {WHOLE} tokens", (Fact.TOKENS,)),
        (rf"Maximum concurrency for {WHOLE} tokens per request: {_N}x", (Fact.MAX_MODEL_LEN, Fact.CONCURRENCY)),
    )
)
ENGINE = re.compile(r"\(EngineCore(?:_DP(\d+))? pid=")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# Each stands once at the beginning of a start.
STARTS: Sequence[re.Pattern[str]] = (re.compile(r"\] vLLM API server version v?\d"), re.compile(r"█\s+version \d"))
# Month, day, hours, minutes and seconds of vLLM's own lines; they have no year.
STAMP = re.compile(r"\b(?:INFO|WARNING|ERROR|DEBUG|CRITICAL) (\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)\b")
READY = re.compile(r"Application startup complete|Uvicorn running on|Starting vLLM (?:API )?server (?:\d+ )?on")
STOPPING = re.compile(r"shutdown triggered|INFO:\s+Shutting down$|Received signal \d+")
WARNINGS: Sequence[re.Pattern[str]] = tuple(
    re.compile(pattern)
    for pattern in (
        r"Add \d+ padding layers, may waste at most [\d.]+% KV cache memory",
        r"Hybrid KV cache manager is disabled for this hybrid model",
        r"Setting attention block size to \d+ tokens",
        r"Padding mamba page size by [\d.]+%",
        r"Auto-fit max_model_len: reduced from \d+ to \d+",
        r"The model has a long context length \(\d+\)",
        r"is preempted by PreemptionMode\.\w+ mode",
    )
)
# Failures, with the names of the numbers that their groups hold.
ILLS: Sequence[tuple[re.Pattern[str], Ill, tuple[str, ...]]] = tuple(
    (re.compile(pattern), ill, names)
    for pattern, ill, names in (
        (
            (
                rf"max seq len \((\d+)\), \({_GIB} KV cache is needed, which is larger than the available KV cache "
                rf"memory \({_GIB}\)(?:.*?estimated maximum model length is (\d+))?"
            ),
            Ill.TOO_LONG,
            ("wanted", "needed_gib", "available_gib", "fits"),
        ),
        (
            (
                r"max seq len \((\d+)\) is larger than the maximum number of tokens that can be stored in KV cache "
                r"\((\d+)\)"
            ),
            Ill.TOO_LONG,
            ("wanted", "fits"),
        ),
        (r"No available memory for the cache blocks", Ill.NO_KV, ()),
        (
            (
                rf"\({_N}/{_N} GiB\) on startup is less than desired GPU memory utilization \({_N}, "
                rf"{_N} GiB\)"
            ),
            Ill.NOT_FREE,
            ("free_gib", "total_gib", "utilisation", "desired_gib"),
        ),
        (r"CUDA out of memory occurred when warming up sampler with (\d+) dummy requests", Ill.SAMPLER, ("requests",)),
        (
            (
                rf"(?:OutOfMemoryError|CUDA out of memory)\D*Tried to allocate {_N} (MiB|GiB)\. GPU (\d+) has a "
                rf"total capac\w* of {_N} GiB of which {_N} (MiB|GiB) is free"
            ),
            Ill.OUT_OF_MEMORY,
            ("tried", "tried_unit", "gpu", "total_gib", "free", "free_unit"),
        ),
        (r"OutOfMemoryError|CUDA out of memory", Ill.OUT_OF_MEMORY, ()),
        (r"Worker proc \S+ died unexpectedly(?: \(exit code: (-?\d+)\))?", Ill.WORKER_DIED, ("exit_code",)),
        (r"Got fatal signal from worker processes|M\w+procExecutor got fatal signal", Ill.WORKER_DIED, ()),
        (r"Timed out waiting for engine core processes to start.*?Waited (\d+)s", Ill.ENGINE_SLOW, ("seconds",)),
        (
            "|".join(
                (
                    *(r"EngineCore failed to start", r"EngineDeadError", r"EngineCore encountered a fatal error"),
                    *(r"EngineCore hit an exception", r"Engine core proc\w* \S+ died unexpectedly"),
                    *(r"engine core exited unexpectedly", r"Background loop (?:has errored|is stopped)"),
                    *(r"LLMEngine (?:has failed|is already dead)", r"Engine process \(pid \d+\) died"),
                    r"Engine core initialization failed",
                )
            ),
            Ill.ENGINE_DIED,
            (),
        ),
    )
)
