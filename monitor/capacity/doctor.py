"""What a start-up log means, in plain words, and what to do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from monitor.capacity.lengths import lengths
from monitor.capacity.startup import Fact, Ill, Illness, Startup

# Left free of a GPU that something else uses too.
_AIR = 0.02
_LEAST_UTILISATION = 0.1
# More leaves no room for what vLLM does not count.
_MOST_UTILISATION = 0.95
# What of a start takes long, in the order in which it is done.
_PARTS = (
    ("for weights", Fact.WEIGHTS_SECONDS),
    ("to compile", Fact.COMPILE_SECONDS),
    ("to capture graphs", Fact.CAPTURE_SECONDS),
)
_FP8 = ("fp8", "fp8_e4m3", "fp8_e5m2", "int8")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """
    What a log comes to.

    `healthy` tells whether it ends in a server that serves. `remedies` are in the order in which one tries them.
    """

    healthy: bool
    meaning: str
    remedies: tuple[str, ...]


def diagnosed(startup: Startup, wanted: int | None = None) -> Diagnosis:
    """Return what is wrong, for a context of `wanted` tokens where somebody has one in mind."""
    illness = startup.illness
    if illness is None:
        return _well(startup)
    meaning, remedies = _TELL[illness.ill](startup, illness, wanted)
    if startup.ready and illness.ill in (Ill.ENGINE_DIED, Ill.WORKER_DIED, Ill.OUT_OF_MEMORY):
        meaning = f"It started, and later: {meaning}"
    return Diagnosis(False, meaning, tuple(remedies))


def _well(startup: Startup) -> Diagnosis:
    many, tokens = startup.concurrency, startup.number(Fact.MAX_MODEL_LEN)
    later = "; it was told to stop later" if startup.stopped else "" if startup.ready else "; the server is not up yet"
    if many is not None and tokens is not None:
        fit = f"{many:.2f} requests of {tokens:,.0f} tokens fit at once{later}."
        return Diagnosis(True, f"{fit}{_taken(startup)}", ())
    if startup.ready:
        return Diagnosis(True, f"The server came up, and does not say how many requests fit at once{later}.", ())
    if startup.stopped:
        return Diagnosis(False, "The server was told to stop before it was up; nothing went wrong until then.", ())
    if not startup.facts:
        return Diagnosis(False, "No line of this is one that a start of vLLM is known to write.", ())
    return Diagnosis(False, "Nothing is wrong so far, and the server is not up.", ())


def _taken(startup: Startup) -> str:
    """Return how long it took to start, and what of that is known to have taken how long."""
    taken = startup.number(Fact.START_SECONDS)
    if taken is None or not startup.ready:
        return ""
    parts = [f"{seconds:,.3g} s {name}" for name, fact in _PARTS if (seconds := startup.number(fact) or 0) >= 1]
    known = f", of which {', '.join(parts)}" if parts else ""
    return f" The start took {taken:,.0f} s{known}."


def _too_long(startup: Startup, illness: Illness, wanted: int | None) -> tuple[str, list[str]]:
    asked, fits = illness.numbers["wanted"], illness.numbers.get("fits")
    needed, left = illness.numbers.get("needed_gib"), illness.numbers.get("available_gib")
    meaning = f"A context of {asked:,.0f} tokens does not fit into the KV cache"
    # Small caches are printed as 0.0 GiB: no arithmetic comes of that.
    if needed and left is not None:
        meaning += f": one request needs {needed:g} GiB, {left:g} GiB are left"
        fits = fits if fits is not None else asked * left / needed
    if fits is None:
        return f"{meaning}.", ["lower --max-model-len", "raise --gpu-memory-utilization", "--kv-cache-dtype fp8"]
    eight = startup.text(Fact.KV_CACHE_DTYPE) in _FP8
    remedies = []
    for length in lengths(fits, wanted, already_8_bits=eight):
        fp8 = "" if eight else f" ({length.concurrency_fp8:.1f} with --kv-cache-dtype fp8)"
        remedies.append(f"--max-model-len {length.tokens}: {length.concurrency:.1f} requests at once{fp8}")
    return f"{meaning}; {fits:,.0f} tokens would fit.", [*remedies, *_more_memory(startup)]


def _more_memory(startup: Startup) -> list[str]:
    """Return the ways to a larger pool, with what is known of them."""
    override = startup.number(Fact.BLOCKS_OVERRIDE)
    if override is not None:
        return [f"leave out --num-gpu-blocks-override: it keeps the cache at {override:,.0f} blocks"]
    ratio, total = startup.number(Fact.UTILISATION), startup.number(Fact.TOTAL_GIB)
    if ratio is None or total is None:
        raised = "raise --gpu-memory-utilization, if nothing else uses the GPU"
    elif ratio < _MOST_UTILISATION:
        more = (_MOST_UTILISATION - ratio) * total
        raised = f"--gpu-memory-utilization {_MOST_UTILISATION}: {more:.2f} GiB more, if nothing else uses the GPU"
    else:
        return ["more GPUs (--tensor-parallel-size), or weights of fewer bits"]
    return [raised, "more GPUs (--tensor-parallel-size), or weights of fewer bits"]


def _no_kv(startup: Startup, _illness: Illness, _wanted: int | None) -> tuple[str, list[str]]:
    weights = startup.number(Fact.WEIGHTS_GIB)
    known = f" The weights alone take {weights:.2f} GiB." if weights is not None else ""
    return (
        f"Weights and activations take all that --gpu-memory-utilization allows: there is no KV cache.{known}",
        [*_more_memory(startup), "lower --max-num-batched-tokens: activations shrink"],
    )


def _not_free(_startup: Startup, illness: Illness, _wanted: int | None) -> tuple[str, list[str]]:
    free, total = illness.numbers["free_gib"], illness.numbers["total_gib"]
    ratio, desired = illness.numbers["utilisation"], illness.numbers["desired_gib"]
    possible = int((free / total - _AIR) * 100) / 100 if total else 0
    remedies = ["see who holds the rest: nvidia-smi; an engine that was killed may need seconds to let go"]
    if possible >= _LEAST_UTILISATION:
        remedies.append(f"--gpu-memory-utilization {possible:g} fits into what is free")
    return (
        f"Somebody else uses the GPU: {free:g} of {total:g} GiB are free, {desired:g} GiB ({ratio:g}) are asked for.",
        remedies,
    )


def _out_of_memory(startup: Startup, illness: Illness, _wanted: int | None) -> tuple[str, list[str]]:
    numbers = illness.numbers
    tried = ""
    if "tried" in numbers:
        size, free = numbers["tried"] * numbers["tried_unit"], numbers["free"] * numbers["free_unit"]
        tried = f": {size:.2f} GiB were asked for, {free:.2f} of {numbers['total_gib']:g} GiB were free"
    when = "while it served" if startup.ready else "at the start"
    return (
        f"The GPU ran out of memory {when}{tried}.",
        [
            "lower --gpu-memory-utilization by 0.05: what vLLM does not count needs room",
            "lower --max-num-seqs or --max-num-batched-tokens",
            "see whether something else uses the GPU: nvidia-smi",
        ],
    )


def _sampler(_startup: Startup, illness: Illness, _wanted: int | None) -> tuple[str, list[str]]:
    requests = illness.numbers.get("requests", 0)
    return (
        f"The GPU ran out of memory when {requests:,.0f} requests were tried at once, which is --max-num-seqs.",
        [f"--max-num-seqs {max(1, int(requests // 2))}", "lower --gpu-memory-utilization by 0.05"],
    )


def _worker_died(_startup: Startup, illness: Illness, _wanted: int | None) -> tuple[str, list[str]]:
    code = illness.numbers.get("exit_code")
    said = {-9: "killed, most often by the kernel for want of memory: dmesg", -4: "an instruction this CPU lacks"}
    why = "" if code is None else f" (exit code {code:.0f}{f': {said[int(code)]}' if int(code) in said else ''})"
    return f"A worker process died{why}.", ["the lines above the first traceback say why; look at dmesg as well"]


def _slow(_startup: Startup, illness: Illness, _wanted: int | None) -> tuple[str, list[str]]:
    waited = illness.numbers.get("seconds")
    known = f" within {waited:,.0f} s" if waited is not None else ""
    return f"The engine did not come up{known}.", ["raise VLLM_ENGINE_READY_TIMEOUT_S where weights load slowly"]


def _engine_died(_startup: Startup, illness: Illness, _wanted: int | None) -> tuple[str, list[str]]:
    return (
        f"the engine ended; this log does not say why in a way that is known here (line {illness.line}).",
        ["read the first traceback above that line: the last one is a consequence"],
    )


_TELL: Mapping[Ill, Callable[[Startup, Illness, int | None], tuple[str, list[str]]]] = {
    Ill.TOO_LONG: _too_long,
    Ill.NO_KV: _no_kv,
    Ill.NOT_FREE: _not_free,
    Ill.OUT_OF_MEMORY: _out_of_memory,
    Ill.SAMPLER: _sampler,
    Ill.WORKER_DIED: _worker_died,
    Ill.ENGINE_SLOW: _slow,
    Ill.ENGINE_DIED: _engine_died,
}
