"""The commands about capacity, as typer reads them."""

from typing import Annotated

import typer

from monitor.commands.usage import fail

_LIMIT = 15_000


def plan_command(
    model: Annotated[str, typer.Option("--model", help="A name of the table (llama-3.1-8b), or a config.json.")],
    gpu: Annotated[str, typer.Option("--gpu", help="A name (L4, A100-40GB), or GiB as CUDA reports them.")],
    max_model_len: Annotated[int, typer.Option("--max-model-len", help="Tokens of the longest request.")],
    gpu_memory_utilization: Annotated[float, typer.Option(help="A ratio; vLLM's default, 0.9 before 0.20.")] = 0.92,
    kv_cache_dtype: Annotated[str, typer.Option(help="auto, fp8, bfloat16 …")] = "auto",
    quantization: Annotated[str | None, typer.Option(help="Of the weights: fp8, awq, gptq, int8 …")] = None,
    tensor_parallel_size: Annotated[int, typer.Option()] = 1,
    pipeline_parallel_size: Annotated[int, typer.Option()] = 1,
    data_parallel_size: Annotated[int, typer.Option()] = 1,
    max_num_seqs: Annotated[int, typer.Option()] = 256,
    max_num_batched_tokens: Annotated[int, typer.Option()] = 8192,
    block_size: Annotated[int, typer.Option()] = 16,
    disable_hybrid_kv_cache_manager: Annotated[
        bool, typer.Option("--disable-hybrid-kv-cache-manager", help="Layers with a window keep everything.")
    ] = False,
    length: Annotated[list[str] | None, typer.Option(help="TOKENS=SHARE of the traffic; several times.")] = None,
    weights_gib: Annotated[float | None, typer.Option(help="All weights, where they are known better.")] = None,
    reserve_gib: Annotated[
        float | None, typer.Option(help="Activations, CUDA and graphs of a GPU, from a start-up log.")
    ] = None,
    input_limit: Annotated[int, typer.Option(help="Longest input you accept, in tokens.")] = _LIMIT,
    explain: Annotated[bool, typer.Option("--explain", help="Every number with its formula.")] = False,
    solve: Annotated[str | None, typer.Option(help="concurrency=2.5: which settings reach it.")] = None,
    compare: Annotated[list[str] | None, typer.Option(help="kv-cache-dtype=fp8,…: a variant; several times.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Plain values instead of a text.")] = False,
) -> None:
    """Compute what fits into the KV cache, and whether vLLM starts; ends with 1 where it does not."""
    from rich.console import Console

    from monitor.capacity.failure import CapacityError
    from monitor.capacity.plan import Settings
    from monitor.commands.planning import Planning, answer, lengths

    try:
        settings = Settings(
            max_model_len,
            gpu_memory_utilization,
            kv_cache_dtype,
            quantization,
            tensor_parallel_size,
            pipeline_parallel_size,
            data_parallel_size,
            max_num_seqs,
            max_num_batched_tokens,
            block_size,
            False if disable_hybrid_kv_cache_manager else None,
            lengths(length or ()),
        )
        asked = Planning(model, gpu, settings, weights_gib, reserve_gib, input_limit)
        starts = answer(asked, Console(), solve_for=solve, variants=compare or (), explain=explain, json=as_json)
    except CapacityError as err:
        fail(str(err))
    if not starts:
        raise typer.Exit(1)
