"""What `vllm-monitor plan` prints."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from monitor.capacity.explain import explained, figure
from monitor.capacity.memory import GIB
from monitor.capacity.plan import Plan, Verdict
from monitor.capacity.ranges import Range
from monitor.capacity.serve import serve_line
from monitor.capacity.solve import Answer
from monitor.commands.table import visible

_COLOURS = {Verdict.STARTS: "green", Verdict.PERHAPS: "yellow", Verdict.FAILS: "red"}


def show(plan: Plan, model: str, limit: int, console: Console, *, explain: bool) -> None:
    """Print a plan for somebody who decides by it."""
    table = Table.grid(padding=(0, 2))
    for name, value in _rows(plan, limit):
        table.add_row(name, value)
    name = escape(visible(plan.model.name))
    console.print(f"[bold]{name}[/] on {plan.gpu.name}: {_verdict(plan)}", highlight=False, soft_wrap=True)
    console.print(table, highlight=False)
    if explain:
        console.print()
        for line in explained(plan):
            console.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)
    console.print(f"\n{serve_line(model, plan.settings)}", highlight=False, markup=False, soft_wrap=True)


def show_answers(answers: Sequence[Answer], model: str, concurrency: float, console: Console) -> None:
    """Print the ways to a concurrency, each with the line to start it by."""
    if not answers:
        console.print(f"No single change and no fp8 cache with another reaches {concurrency:g}.")
        return
    console.print(f"\n[bold]{concurrency:g} requests of full length at once[/], by one of:", highlight=False)
    for answer in answers:
        console.print(f"\n[bold]{answer.change}[/]  →  {figure(answer.plan.concurrency)}", highlight=False)
        console.print(f"  at the price of: {answer.cost}", highlight=False)
        console.print(f"  {serve_line(model, answer.plan.settings)}", highlight=False, markup=False, soft_wrap=True)


def show_comparison(plans: Iterable[tuple[str, Plan | str]], console: Console) -> None:
    """Print variants below each other, of those without a plan why there is none."""
    table = Table("", "starts", "KV cache GiB", "tokens", "at once", "bytes a token")
    refused = []
    for name, plan in plans:
        if isinstance(plan, str):
            table.add_row(escape(name), "[red]makes no sense[/]")
            refused.append((name, plan))
            continue
        numbers = (figure(plan.pool_gib), figure(plan.tokens, 0), figure(plan.concurrency), f"{plan.token_bytes:,.0f}")
        table.add_row(escape(name), f"[{_COLOURS[plan.verdict]}]{plan.verdict}[/]", *numbers)
    console.print(table, highlight=False)
    for name, why in refused:
        console.print(f"{name}: {'; '.join(why.splitlines())}", highlight=False, markup=False)


def compared_json(plan: Plan | str, model: str, limit: int) -> dict[str, Any]:
    """Return a variant as plain values, or why there is no plan of it."""
    return {"error": plan} if isinstance(plan, str) else as_json(plan, model, limit)


def as_json(plan: Plan, model: str, limit: int) -> dict[str, Any]:
    """Return a plan as plain values; ranges are [low, likely, high]."""
    settings = {each.name: getattr(plan.settings, each.name) for each in fields(plan.settings)}
    numbers = {
        name: _listed(getattr(plan, name))
        for name in ("pool_gib", "blocks", "tokens", "concurrency", "requests")
        if getattr(plan, name) is not None
    }
    return {
        "model": plan.model.name,
        "source": plan.model.source,
        "gpu": plan.gpu.name,
        "starts": str(plan.verdict),
        "settings": settings,
        "weights_gib": _listed(plan.memory.weights),
        "token_bytes": plan.token_bytes,
        "block_size": plan.cache.block_size,
        "block_bytes": plan.cache.block_bytes,
        "blocks_a_request": plan.blocks_a_request,
        **numbers,
        "largest_input_share": _share(plan, limit),
        "serve": serve_line(model, plan.settings),
        "explained": explained(plan),
    }


def answers_json(answers: Iterable[Answer], model: str) -> list[dict[str, Any]]:
    """Return the ways to a concurrency as plain values."""
    return [
        {
            "change": answer.change,
            "cost": answer.cost,
            "concurrency": _listed(answer.plan.concurrency),
            "serve": serve_line(model, answer.plan.settings),
        }
        for answer in answers
    ]


def print_json(value: Any) -> None:
    """Print plain values as JSON."""
    print(json.dumps(value, indent=2))  # noqa: T201 - what the command was asked for


def _rows(plan: Plan, limit: int) -> list[tuple[str, str]]:
    rows = [
        ("weights", f"{figure(plan.memory.weights)} GiB on a GPU"),
        ("KV cache", "none" if plan.pool_gib.high <= 0 else f"{figure(plan.pool_gib)} GiB on a GPU"),
        ("a token", f"{plan.token_bytes:,.0f} bytes"),
        ("tokens", figure(plan.tokens, 0)),
        ("at once", f"{figure(plan.concurrency)} requests of {plan.settings.max_model_len:,} tokens"),
    ]
    if plan.requests is not None:
        rows.append(("", f"{figure(plan.requests, 1)} requests of the given lengths"))
    share = _share(plan, limit)
    if share is not None:
        rows.append(
            ("one input", f"of {min(limit, plan.settings.max_model_len):,} tokens takes {share:.0%} of the cache")
        )
    return rows


def _share(plan: Plan, limit: int) -> float | None:
    """Return the part of the pool that one request of the longest input takes; None where there is no pool."""
    tokens = min(limit, plan.settings.max_model_len)
    needed = plan.cache.blocks_for(tokens, plan.settings.tokens_in_flight)
    return needed / plan.blocks.likely if plan.blocks.likely else None


def _verdict(plan: Plan) -> str:
    colour = _COLOURS[plan.verdict]
    why = ""
    if plan.pool_gib.high <= 0:
        allowed = plan.memory.total.each(lambda gib: gib * plan.memory.utilisation)
        why = f" (weights take {figure(plan.memory.weights)} GiB of the {figure(allowed)} that vLLM may use of a GPU)"
    elif plan.verdict is not Verdict.STARTS:
        needed = plan.blocks_a_request * plan.cache.block_bytes / GIB
        why = f" (one request needs {needed:.2f} GiB of KV cache, {figure(plan.pool_gib)} GiB are there)"
    return f"[{colour}]{plan.verdict}[/]{why}"


def _listed(value: Range) -> list[float]:
    return [value.low, value.likely, value.high]
