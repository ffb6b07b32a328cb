"""`vllm-monitor doctor`: what a start-up log, or a server, says of its KV cache, and what to do about it."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from math import isnan
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from monitor.capacity.doctor import Diagnosis, diagnosed
from monitor.capacity.inputs import Inputs, rows
from monitor.capacity.inputs import as_plain as inputs_as_plain
from monitor.capacity.startup import Fact, Found, Startup
from monitor.commands.oneserver import Told
from monitor.commands.table import visible
from monitor.probe.readings import Pool

_UNITS = {
    **dict.fromkeys(
        (
            *(Fact.TOTAL_GIB, Fact.FREE_GIB, Fact.WEIGHTS_GIB, Fact.ACTIVATION_GIB),
            *(Fact.NON_TORCH_GIB, Fact.GRAPHS_GIB, Fact.KV_GIB),
        ),
        " GiB",
    ),
    **dict.fromkeys(
        (
            *(Fact.START_SECONDS, Fact.LOAD_SECONDS, Fact.WEIGHTS_SECONDS, Fact.INIT_SECONDS),
            *(Fact.COMPILE_SECONDS, Fact.CAPTURE_SECONDS),
        ),
        " s",
    ),
}
# What is said of traffic, in the order in which it is shown.
_TRAFFIC = (
    ("running", "{:,.0f} running"),
    ("waiting", "{:,.0f} waiting"),
    ("usage", "KV cache {:.1f}%"),
    ("generated_tokens", "{:,.1f} tokens/s out"),
    ("preemptions", "{:,.0f} preemptions"),
    ("prefix_hits", "prefix cache hits {:.1f}%"),
    ("accepted", "{:.2f} tokens a step of speculative decoding"),
)
# What one wants to know; the rest of a log may be without it.
_WANTED = (Fact.VERSION, Fact.MAX_MODEL_LEN, Fact.WEIGHTS_GIB, Fact.KV_GIB, Fact.CONCURRENCY, Fact.TOKENS)


def show(startup: Startup, diagnosis: Diagnosis, console: Console, inputs: Inputs | None = None) -> None:
    """Print the diagnosis first, then what was found, then what was not."""
    colour = "green" if diagnosis.healthy else "red"
    console.print(f"[bold {colour}]{diagnosis.meaning}[/]", highlight=False)
    for remedy in diagnosis.remedies:
        console.print(f"  - {remedy}", highlight=False, markup=False)
    if startup.illness is not None:
        told = visible(startup.illness.text)
        console.print(f"\nline {startup.illness.line}: {told}", highlight=False, markup=False)
    console.print()
    console.print(_table(startup, inputs), highlight=False)
    for remark in _remarks(startup):
        console.print(remark, highlight=False, markup=False)


def _table(startup: Startup, inputs: Inputs | None) -> Table:
    table = Table.grid(padding=(0, 2))
    for name, value, line in _rows(startup):
        table.add_row(name, Text(visible(value)), line)
    for name, value in rows(inputs) if inputs is not None else ():
        table.add_row(name, value, "")
    for name, value in _traffic(startup):
        table.add_row(name, value, "")
    return table


def _remarks(startup: Startup) -> Iterator[str]:
    if startup.warnings:
        yield ""
    for warning in startup.warnings:
        yield f"warning: {visible(warning)}"
    if startup.starts > 1:
        yield f"\nThe last of {startup.starts} starts that these lines tell of."
    missing = [str(fact) for fact in _WANTED if not _has(startup, fact)]
    if missing and startup.lines:
        yield f"\nNot in these {startup.lines:,} lines: {', '.join(missing)}."


def as_plain(startup: Startup, wanted: int | None, inputs: Inputs | None = None) -> dict[str, Any]:
    """Return plain values."""
    diagnosis = diagnosed(startup, wanted)
    more = {"inputs": inputs_as_plain(inputs)} if inputs is not None else {}
    return more | {
        "healthy": diagnosis.healthy,
        "meaning": diagnosis.meaning,
        "remedies": list(diagnosis.remedies),
        "facts": {str(fact): found.value for fact, found in startup.facts.items()},
        "engines": {name: {str(fact): value for fact, value in each.items()} for name, each in startup.engines.items()},
        "illness": None if startup.illness is None else {"is": startup.illness.ill, **startup.illness.numbers},
        "warnings": list(startup.warnings),
        "starts": startup.starts,
        "traffic": {engine or "0": _known(asdict(each)) for engine, each in startup.traffic.items()},
        "not_found": [str(fact) for fact in _WANTED if not _has(startup, fact)],
        "lines": startup.lines,
    }


def settled(startups: Iterable[Startup]) -> Startup:
    """Return how a log that grows stands when nothing more is to be expected of it: it serves, or it failed."""
    last = Startup()
    for last in startups:
        if last.ready or last.illness is not None or last.stopped:
            break
    return last


def of_server(said: Told) -> Startup:
    """Return what a running server says of itself, as if it stood in a log."""
    facts: dict[Fact, Found] = {}
    if said.version:
        facts[Fact.VERSION] = Found(said.version, 0)
    longest = max((model.max_model_len for model in said.models), default=None)
    if longest is not None:
        facts[Fact.MAX_MODEL_LEN] = Found(float(longest), 0)
    engines = {pool.engine or "0": dict(_of_pool(pool)) for pool in said.pools}
    return Startup(facts, engines, ready=True)


def inputs_of(said: Told, limit: int) -> Inputs:
    """Return the prompts of a running server, against `limit` in tokens."""
    tokens = min((pool.tokens for pool in said.pools if pool.tokens is not None), default=None)
    longest = max((model.max_model_len for model in said.models), default=None)
    return Inputs(limit, said.prompts, tokens, longest)


def _of_pool(pool: Pool) -> Iterator[tuple[Fact, float]]:
    if pool.tokens is not None:
        yield Fact.TOKENS, float(pool.tokens)
    if pool.max_concurrency is not None:
        yield Fact.CONCURRENCY, pool.max_concurrency


def _rows(startup: Startup) -> Iterator[tuple[str, str, str]]:
    for fact in Fact:
        found = startup.facts.get(fact)
        if found is not None:
            value = found.value if isinstance(found.value, str) else f"{found.value:,.10g}{_UNITS.get(fact, '')}"
            yield str(fact), value, f"line {found.line}" if found.line else ""
    for name, each in sorted(startup.engines.items()):
        engine = f" of engine {name}" if len(startup.engines) > 1 else ""
        for fact, number in each.items():
            if fact is not Fact.MAX_MODEL_LEN:
                yield f"{fact}{engine}", f"{number:,.10g}", ""


def _traffic(startup: Startup) -> Iterator[tuple[str, str]]:
    for engine, each in sorted(startup.traffic.items()):
        found = [text.format(value) for name, text in _TRAFFIC if not isnan(value := getattr(each, name))]
        name = f"served by engine {engine}" if engine and len(startup.traffic) > 1 else "served"
        lines = f" ({each.lines:,} lines of statistics)" if each.lines else ""
        yield name, f"at most {', '.join(found)}{lines}"


def _known(numbers: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in numbers.items() if not isnan(value)}


def _has(startup: Startup, fact: Fact) -> bool:
    return fact in startup.facts or any(fact in each for each in startup.engines.values())
