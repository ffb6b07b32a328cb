"""Which settings reach a number of requests at once: one knob turned at a time, then two, the cheapest first."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from monitor.capacity.failure import CapacityError
from monitor.capacity.gpus import GPUS, Gpu
from monitor.capacity.layers import Architecture
from monitor.capacity.memory import Measured
from monitor.capacity.plan import Plan, Settings, Verdict, plan

# Above this the driver, other processes and fragmentation have no room: starts fail at the first large request.
_MOST_UTILISATION = 0.95
# Lengths are offered in such steps.
_STEP = 1024
_PARALLEL = (2, 4, 8, 16)
_MOST_GPUS = 3
# Weights of fewer bits, and what they cost.
_QUANTISED = {
    "fp8": "weights rounded to 8 bits at the start: try your evals",
    "awq": "a checkpoint of 4 bits (AWQ) in the place of this one: try your evals",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """One way: what is changed, what it costs, and the plan that comes of it."""

    change: str
    cost: str
    plan: Plan


@dataclass(frozen=True, slots=True)
class Question:
    """A model on a GPU with flags, and the requests of `max_model_len` that should fit at once."""

    model: Architecture
    gpu: Gpu
    settings: Settings
    concurrency: float
    measured: Measured | None = None


def solve(question: Question) -> list[Answer]:
    """
    Return the ways that reach the concurrency, by their likely value, in the order in which one would try them.

    Empty where not even the largest GPU of the table does. Raises CapacityError for settings that contradict
    themselves.
    """
    plan(question.model, question.gpu, question.settings, question.measured)
    single = [answer for way in _WAYS for answer in way(question)]
    return single or list(_pairs(question))


def _reached(
    question: Question, settings: Settings, change: str, cost: str, gpu: Gpu | None = None
) -> Iterator[Answer]:
    """Return the answer where the settings reach what is asked for."""
    # Another GPU's memory is not the one that was measured; its weights and the rest are.
    measured = question.measured if gpu is None else _elsewhere(question.measured)
    try:
        found = plan(question.model, gpu or question.gpu, settings, measured)
    except CapacityError:
        return  # these settings contradict themselves, so they are no answer
    if found.concurrency.likely >= question.concurrency and found.verdict is not Verdict.FAILS:
        yield Answer(change, cost, found)


def _elsewhere(measured: Measured | None) -> Measured | None:
    return None if measured is None else replace(measured, total=None)


def _utilisation(question: Question) -> Iterator[Answer]:
    for hundredths in range(round(question.settings.gpu_memory_utilization * 100) + 1, 96):
        ratio = min(hundredths / 100, _MOST_UTILISATION)
        settings = replace(question.settings, gpu_memory_utilization=ratio)
        answers = list(
            _reached(question, settings, f"--gpu-memory-utilization {ratio:g}", "less room for other processes")
        )
        if answers:
            yield answers[0]
            return


def _fp8(question: Question) -> Iterator[Answer]:
    settings = replace(question.settings, kv_cache_dtype="fp8")
    yield from _reached(
        question, settings, "--kv-cache-dtype fp8", "half the precision of keys and values: try your evals"
    )


def _shorter(question: Question) -> Iterator[Answer]:
    """Return the longest context that reaches it, found by halving."""
    few, many = 0, question.settings.max_model_len // _STEP
    best: list[Answer] = []
    while few < many:
        middle = (few + many + 1) // 2
        length = middle * _STEP
        settings = replace(question.settings, max_model_len=length, lengths={})
        found = list(_reached(question, settings, f"--max-model-len {length}", "longer requests are refused"))
        best, few, many = (found, middle, many) if found else (best, few, middle - 1)
    yield from best


def _quantised(question: Question) -> Iterator[Answer]:
    if question.model.weights_bytes is not None or question.settings.quantization is not None:
        return
    for dtype, cost in _QUANTISED.items():
        settings = replace(question.settings, quantization=dtype)
        unmeasured = None if question.measured is None else replace(question.measured, weights=None)
        yield from _reached(replace(question, measured=unmeasured), settings, f"--quantization {dtype}", cost)


def _more_gpus(question: Question) -> Iterator[Answer]:
    for size in _PARALLEL:
        if size <= question.settings.tensor_parallel_size:
            continue
        settings = replace(question.settings, tensor_parallel_size=size)
        unmeasured = None if question.measured is None else replace(question.measured, weights=None)
        cost = f"{size} GPUs instead of {question.settings.tensor_parallel_size}"
        found = list(_reached(replace(question, measured=unmeasured), settings, f"--tensor-parallel-size {size}", cost))
        if found:
            yield found[0]
            return


def _larger_gpu(question: Question) -> Iterator[Answer]:
    larger = sorted((gpu for gpu in GPUS.values() if gpu.gib > question.gpu.gib), key=lambda gpu: gpu.gib)
    found = [
        answer
        for gpu in larger
        for answer in _reached(question, question.settings, _one(gpu), f"a GPU with {gpu.gib:g} GiB", gpu)
    ]
    yield from found[:_MOST_GPUS]


def _one(gpu: Gpu) -> str:
    """Return the GPU with its article: its name is spelt."""
    return f"{'a' if gpu.name[0] in 'BTV' else 'an'} {gpu.name}"


def _pairs(question: Question) -> Iterator[Answer]:
    """Return what reaches it with half the precision of the cache and one more knob."""
    halved = replace(question, settings=replace(question.settings, kv_cache_dtype="fp8"))
    for way in _WAYS:
        if way is not _fp8:
            for answer in way(halved):
                yield replace(answer, change=f"--kv-cache-dtype fp8 and {answer.change}")


_WAYS: tuple[Callable[[Question], Iterator[Answer]], ...] = (
    _utilisation,
    _fp8,
    _shorter,
    _quantised,
    _more_gpus,
    _larger_gpu,
)
