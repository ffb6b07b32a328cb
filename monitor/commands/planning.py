"""`vllm-monitor plan`: what fits into the KV cache before anything is started."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from rich.console import Console

from monitor.capacity.dtypes import computed_in, weight_bytes
from monitor.capacity.failure import CapacityError
from monitor.capacity.gpus import Gpu, gpu
from monitor.capacity.layers import Architecture
from monitor.capacity.memory import GIB, Measured
from monitor.capacity.models import model, served_as
from monitor.capacity.plan import Plan, Settings, Verdict, plan
from monitor.capacity.solve import Question, solve
from monitor.capacity.startup import Fact, Startup
from monitor.commands.planshown import (
    answers_json,
    as_json,
    compared_json,
    print_json,
    show,
    show_answers,
    show_comparison,
)

# Flags that a variant of --compare may set, with how their values are read.
_READ: Mapping[str, Any] = {
    "max-model-len": int,
    "gpu-memory-utilization": float,
    "kv-cache-dtype": str,
    "quantization": str,
    "dtype": str,
    "tensor-parallel-size": int,
    "pipeline-parallel-size": int,
    "data-parallel-size": int,
    "max-num-seqs": int,
    "max-num-batched-tokens": int,
    "block-size": int,
}


@dataclass(frozen=True, slots=True)
class Planning:
    """
    What is asked: a model and a GPU by their names, flags, and what is known better than by a table, in GiB.

    `input_limit` is the longest input that is accepted, in tokens. `startup` is a log of such a server.
    """

    model: str
    gpu: str
    settings: Settings
    weights_gib: float | None
    reserve_gib: float | None
    input_limit: int
    startup: Startup | None = None


def answer(
    asked: Planning,
    console: Console,
    *,
    solve_for: str | None,
    variants: Sequence[str],
    explain: bool,
    json: bool,
) -> bool:
    """Print the plan; return whether vLLM starts with it, for all that is known. Raises CapacityError."""
    _check(asked)
    size = weight_bytes(computed_in(asked.settings.dtype, "auto"))
    given = None if asked.weights_gib is None else max(1, round(asked.weights_gib * GIB / size))
    found, card = model(asked.model, given), gpu(asked.gpu)
    if given is not None:
        found = replace(found, weights_bytes=None, weights_dtype="bfloat16")
    planned = plan(found, card, asked.settings, _measured(asked, asked.settings))
    changed = [(each, variant(asked.settings, each)) for each in variants]
    compared = [(each, _tried(found, card, asked, settings)) for each, settings in changed]
    ways = None
    if solve_for is not None:
        ways = solve(Question(found, card, asked.settings, wanted(solve_for), _measured(asked, asked.settings)))
    served = served_as(asked.model)
    if json:
        print_json(
            as_json(planned, served, asked.input_limit)
            | ({} if ways is None else {"solve": answers_json(ways, served)})
            | (
                {}
                if not compared
                else {"compare": {name: compared_json(each, served, asked.input_limit) for name, each in compared}}
            )
        )
        return planned.verdict is not Verdict.FAILS
    show(planned, served, asked.input_limit, console, explain=explain)
    if compared:
        show_comparison([("as asked", planned), *compared], console)
    if ways is not None and solve_for is not None:
        show_answers(ways, served, wanted(solve_for), console)
    return planned.verdict is not Verdict.FAILS


def _tried(found: Architecture, card: Gpu, asked: Planning, settings: Settings) -> Plan | str:
    """Return the plan of a variant, or why there is none: one that makes no sense takes nothing from the others."""
    try:
        return plan(found, card, settings, _measured(asked, settings))
    except CapacityError as err:
        return str(err)


def _measured(asked: Planning, settings: Settings) -> Measured:
    """Return what the log says of a server with these settings: weights that are spread otherwise are others."""
    log = asked.startup or Startup()
    shards = settings.tensor_parallel_size * settings.pipeline_parallel_size
    logged = (log.number(Fact.TENSOR_PARALLEL) or 1) * (log.number(Fact.PIPELINE_PARALLEL) or 1)
    dtype = log.text(Fact.DTYPE)
    same_type = settings.dtype == "auto" or computed_in(settings.dtype, dtype) == dtype
    same = shards == logged and same_type and settings.quantization is None and asked.weights_gib is None
    return Measured(
        total=log.number(Fact.TOTAL_GIB),
        weights=log.number(Fact.WEIGHTS_GIB) if same else None,
        other=log.other_gib if asked.reserve_gib is None else asked.reserve_gib,
    )


# More than all GPUs there are.
_MOST_GIB = 1e9


def _check(asked: Planning) -> None:
    sizes = {"--weights-gib": asked.weights_gib, "--reserve-gib": asked.reserve_gib}
    wrong = [
        f"{flag} {gib:g} is not a size" for flag, gib in sizes.items() if gib is not None and not 0 <= gib <= _MOST_GIB
    ]
    if asked.input_limit < 1:
        wrong.append(f"--input-limit {asked.input_limit} is not a positive number")
    if wrong:
        raise CapacityError("\n".join(wrong))


def lengths(written: Sequence[str]) -> dict[int, float]:
    """Return lengths with their shares, from `4000=0.7` or `4000`. Raises CapacityError."""
    read = {}
    for each in written:
        tokens, _, share = each.partition("=")
        try:
            read[int(tokens.replace(",", ""))] = float(share or 1)
        except ValueError as err:
            raise CapacityError(f"--length {each!r} is no TOKENS=SHARE: write 4000=0.7") from err
    return read


def variant(settings: Settings, written: str) -> Settings:
    """Return the settings with what a variant changes: `kv-cache-dtype=fp8,max-num-seqs=64`. Raises CapacityError."""
    changed: dict[str, Any] = {}
    for each in written.split(","):
        flag, _, value = each.strip().lstrip("-").partition("=")
        read = _READ.get(flag)
        if read is None:
            raise CapacityError(f"--compare {each!r}: {flag!r} is none of {', '.join(_READ)}")
        try:
            changed[flag.replace("-", "_")] = read(value)
        except ValueError as err:
            raise CapacityError(f"--compare {each!r}: {value!r} is no number") from err
    return replace(settings, **changed)


def wanted(written: str) -> float:
    """Return the concurrency of `concurrency=2.5`. Raises CapacityError."""
    name, _, value = written.partition("=")
    try:
        if name == "concurrency" and 0 < (number := float(value)) < inf:
            return number
    except ValueError:
        pass
    raise CapacityError(f"--solve {written!r}: write concurrency=2.5")
