"""The commands about capacity, as typer reads them."""

from typing import Annotated

import typer

from monitor.commands.usage import fail

_LIMIT = 15_000
_URL = "A running server, http://127.0.0.1:8000."


def plan_command(
    model: Annotated[str, typer.Option("--model", help="A name of the table (llama-3.1-8b), or a config.json.")],
    gpu: Annotated[str, typer.Option("--gpu", help="A name (L4, A100-40GB), or GiB as CUDA reports them.")],
    max_model_len: Annotated[int, typer.Option("--max-model-len", help="Tokens of the longest request.")],
    gpu_memory_utilization: Annotated[float, typer.Option(help="A ratio; vLLM's default, 0.9 before 0.20.")] = 0.92,
    kv_cache_dtype: Annotated[str, typer.Option(help="auto, fp8, bfloat16 …")] = "auto",
    quantization: Annotated[str | None, typer.Option(help="Of the weights: fp8, awq, gptq, int8 …")] = None,
    dtype: Annotated[str, typer.Option(help="What the model computes in: auto, bfloat16, float16, float32.")] = "auto",
    tensor_parallel_size: Annotated[int, typer.Option()] = 1,
    pipeline_parallel_size: Annotated[int, typer.Option()] = 1,
    data_parallel_size: Annotated[int, typer.Option()] = 1,
    max_num_seqs: Annotated[int, typer.Option()] = 256,
    max_num_batched_tokens: Annotated[int, typer.Option()] = 8192,
    block_size: Annotated[int, typer.Option()] = 16,
    disable_hybrid_kv_cache_manager: Annotated[
        bool, typer.Option("--disable-hybrid-kv-cache-manager", help="Layers with a window keep everything.")
    ] = False,
    no_async_scheduling: Annotated[
        bool, typer.Option("--no-async-scheduling", help="One batch at a time; also for vLLM before 0.26.")
    ] = False,
    length: Annotated[list[str] | None, typer.Option(help="TOKENS=SHARE of the traffic; several times.")] = None,
    weights_gib: Annotated[float | None, typer.Option(help="All weights, where they are known better.")] = None,
    reserve_gib: Annotated[
        float | None, typer.Option(help="Activations, CUDA and graphs of a GPU, from a start-up log.")
    ] = None,
    log: Annotated[str | None, typer.Option(help="A start-up log of such a server, in place of guesses.")] = None,
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
    from monitor.commands.startuplog import LogError, whole

    try:
        settings = Settings(
            max_model_len,
            gpu_memory_utilization,
            kv_cache_dtype,
            quantization,
            dtype,
            tensor_parallel_size,
            pipeline_parallel_size,
            data_parallel_size,
            max_num_seqs,
            max_num_batched_tokens,
            block_size,
            False if disable_hybrid_kv_cache_manager else None,
            not no_async_scheduling,
            lengths(length or ()),
        )
        startup = whole(log) if log is not None else None
        asked = Planning(model, gpu, settings, weights_gib, reserve_gib, input_limit, startup)
        starts = answer(asked, Console(), solve_for=solve, variants=compare or (), explain=explain, json=as_json)
    except (CapacityError, LogError) as err:
        fail(str(err))
    if not starts:
        raise typer.Exit(1)


def doctor_command(
    log: Annotated[str, typer.Argument(help="A start-up log of vLLM; - is standard input.")] = "-",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait until the server is up, or has failed.")] = False,
    url: Annotated[str | None, typer.Option("--url", help=_URL)] = None,
    max_model_len: Annotated[int | None, typer.Option(min=1, help="The context you would like, in tokens.")] = None,
    input_limit: Annotated[
        int, typer.Option(min=1, help="Longest input you accept, in tokens: the prompts of --url are held against it.")
    ] = _LIMIT,
    as_json: Annotated[bool, typer.Option("--json", help="Plain values instead of a text.")] = False,
) -> None:
    """Explain a start of vLLM: what it says of memory and KV cache, why it failed, and what would work."""
    from rich.console import Console

    from monitor.capacity.doctor import diagnosed
    from monitor.commands.doctoring import as_plain, inputs_of, of_server, settled, show
    from monitor.commands.oneserver import server, told
    from monitor.commands.planshown import print_json
    from monitor.commands.startuplog import LogError, followed, whole
    from monitor.commands.usage import UsageError
    from monitor.scrape.errors import ScrapeError

    if url is not None and log != "-":
        raise typer.BadParameter("--url and a log exclude each other")
    try:
        said = told(server(url)) if url is not None else None
        startup = of_server(said) if said is not None else settled(followed(log, None)) if follow else whole(log)
    except UsageError as err:
        raise typer.BadParameter(str(err)) from err
    except (LogError, ScrapeError) as err:
        fail(str(err))
    inputs = inputs_of(said, input_limit) if said is not None else None
    if as_json:
        print_json(as_plain(startup, max_model_len, inputs))
    else:
        show(startup, diagnosed(startup, max_model_len), Console(), inputs)
    if not diagnosed(startup, max_model_len).healthy:
        raise typer.Exit(1)


def gate_command(
    min_concurrency: Annotated[float, typer.Option(help="Requests of full length that must fit at once.")] = 2.5,
    url: Annotated[str | None, typer.Option("--url", help=_URL)] = None,
    log: Annotated[str | None, typer.Option("--log", help="A start-up log; - is standard input.")] = None,
    timeout: Annotated[str, typer.Option(help="How long to wait for an answer: 0s, 10m.")] = "0s",
    as_json: Annotated[bool, typer.Option("--json", help="Plain values instead of a line.")] = False,
) -> None:
    """Let a deployment go on (0) or not (1), by how many requests of full length fit at once."""
    from monitor.commands.gating import gated, of_log, of_server
    from monitor.commands.oneserver import LOCAL, server
    from monitor.commands.planshown import print_json
    from monitor.commands.startuplog import LogError
    from monitor.commands.usage import UsageError
    from monitor.model.instant import DurationError, parse_duration, to_seconds

    if url is not None and log is not None:
        raise typer.BadParameter("--url and --log exclude each other")
    if not min_concurrency > 0:
        raise typer.BadParameter("--min-concurrency is more than 0")
    try:
        seconds = to_seconds(parse_duration(timeout))
        said = of_server(server(url or LOCAL), min_concurrency, seconds)
        judgement = gated(of_log(log, min_concurrency, seconds) if log is not None else said, min_concurrency)
    except DurationError as err:
        raise typer.BadParameter(f"--timeout: {err}") from err
    except UsageError as err:
        raise typer.BadParameter(str(err)) from err
    except LogError as err:
        fail(str(err))
    if as_json:
        print_json(judgement.as_json())
    else:
        typer.echo(f"{'pass' if judgement.passes else 'FAIL'}: {judgement.reason}")
    if not judgement.passes:
        raise typer.Exit(1)
