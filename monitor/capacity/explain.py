"""Every number of a plan with the formula it comes from."""

from collections.abc import Iterator

from monitor.capacity.dtypes import weight_bytes
from monitor.capacity.layers import Kind, Layers
from monitor.capacity.memory import GIB
from monitor.capacity.plan import Plan, loaded_as, mean_blocks, weights_gib
from monitor.capacity.ranges import Range

# GiB that two ways to one number may differ by.
_ROUNDING = 1e-6


def figure(value: Range, digits: int = 2, unit: str = "") -> str:
    """Return a number, with its range in brackets where it is not known exactly."""
    likely = f"{value.likely:,.{digits}f}{unit}"
    return likely if value.is_exact else f"{likely} ({value.low:,.{digits}f} to {value.high:,.{digits}f})"


def explained(plan: Plan) -> list[str]:
    """Return the lines, in the order of the arithmetic."""
    return [*_tokens(plan), *_memory(plan), *_blocks(plan), *_requests(plan)]


def _tokens(plan: Plan) -> Iterator[str]:
    tensor = plan.settings.tensor_parallel_size
    for layers in plan.model.layers:
        if layers.count:
            yield f"{layers.count} layers of {layers.kind}: {_layer(layers, tensor, plan.bytes_a_number)}"
    parts = (
        f" / {plan.settings.pipeline_parallel_size} pipeline stages" if plan.settings.pipeline_parallel_size > 1 else ""
    )
    yield f"a token of context, over the layers that keep all of it{parts}: {plan.token_bytes:,.0f} bytes on a GPU"


def _layer(layers: Layers, tensor: int, number: float) -> str:
    split = f" (of {layers.kv_heads}, over {tensor} GPUs)" if tensor > 1 else ""
    match layers.kind:
        case Kind.STATE:
            return f"{layers.state_on(tensor):,} bytes a request, whatever its length"
        case Kind.LATENT:
            size = layers.numbers_a_token(tensor) * number
            return f"{layers.head_size} numbers x {number:g} bytes = {size:,.0f} bytes a token, whole on every GPU"
        case _:
            size = layers.numbers_a_token(tensor) * number
            width = layers.head_size + layers.value_size
            window = f", of the last {layers.window:,} tokens" if layers.window else ""
            heads = f"{layers.heads_on(tensor)} KV heads{split}"
            return f"{heads} x {width} x {number:g} bytes = {size:,.0f} bytes a token{window}"


def _weights(plan: Plan) -> str:
    model, settings, known = plan.model, plan.settings, plan.memory.weights
    shares = settings.tensor_parallel_size * settings.pipeline_parallel_size
    parts = f" / {shares} GPUs" if shares > 1 else ""
    if abs(weights_gib(model, settings) / shares - known.likely) > _ROUNDING:
        return f"weights: {figure(known)} GiB on a GPU, as a start-up log has them"
    if settings.quantization is None and model.weights_bytes is not None:
        return f"weights: {model.weights_bytes:,} bytes{parts} = {figure(known)} GiB on a GPU"
    dtype = loaded_as(model, settings)
    return (
        f"weights: {model.parameters:,} parameters x {weight_bytes(dtype):g} bytes ({dtype}){parts} = "
        f"{figure(known)} GiB on a GPU"
    )


def _memory(plan: Plan) -> Iterator[str]:
    memory = plan.memory
    source = "from a start-up log" if memory.total.is_exact and plan.gpu.source != "given" else plan.gpu.source
    yield f"a GPU has {figure(memory.total)} GiB: {source}"
    yield _weights(plan)
    guess = "known" if memory.reserve.is_exact else "a guess until a start-up log or --reserve-gib says it"
    yield f"activations, CUDA and graphs: {figure(memory.reserve)} GiB, {guess}"
    yield (
        f"KV cache of a GPU: {figure(memory.total)} GiB x {memory.utilisation:g} - weights {figure(memory.weights)} - "
        f"activations, CUDA and graphs {figure(memory.reserve)} = {figure(plan.pool_gib)} GiB"
    )


def _blocks(plan: Plan) -> Iterator[str]:
    cache = plan.cache
    if cache.block_size != plan.settings.block_size:
        yield f"a block is enlarged to {cache.block_size} tokens, so that it can hold a state"
    if len(cache.groups) > 1:
        groups = ", ".join(f"{count} of {layers.kind}" for layers, count in cache.groups)
        padding = f", {cache.padding} places stay empty" if cache.padding else ""
        yield f"layers in groups that share the blocks: {groups}{padding}"
    size = f"{cache.block_bytes:,} bytes ({cache.block_bytes / GIB * 1024:.2f} MiB)"
    yield f"blocks: {figure(plan.pool_gib)} GiB / {size} = {figure(plan.blocks, 0)}"
    yield (
        f"one request of {plan.settings.max_model_len:,} tokens takes {plan.blocks_a_request:,} blocks of "
        f"{cache.block_size} tokens"
    )


def _requests(plan: Plan) -> Iterator[str]:
    yield f"at once: {figure(plan.blocks, 0)} blocks / {plan.blocks_a_request:,} = {figure(plan.concurrency)}"
    yield f"tokens in all: {figure(plan.concurrency)} x {plan.settings.max_model_len:,} = {figure(plan.tokens, 0)}"
    if plan.requests is not None:
        lengths = ", ".join(f"{share:g} of {tokens:,}" for tokens, share in plan.settings.lengths.items())
        most, mean = plan.settings.max_num_seqs, mean_blocks(plan.cache, plan.settings)
        yield (
            f"requests of the given lengths ({lengths}), which take {mean:,.0f} blocks on average, at most "
            f"{most}: {figure(plan.requests, 1)}"
        )
    if plan.settings.data_parallel_size > 1:
        yield f"{plan.settings.data_parallel_size} replicas have such a pool each; they are never added up"
