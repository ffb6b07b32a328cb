"""The `vllm serve` line of some settings, to be copied."""

import shlex

from monitor.capacity.plan import Settings


def serve_line(model: str, settings: Settings) -> str:
    """Return the command with every flag that differs from vLLM's default, and those that capacity hangs on."""
    flags = [
        ("--max-model-len", str(settings.max_model_len)),
        ("--gpu-memory-utilization", f"{settings.gpu_memory_utilization:g}"),
    ]
    if settings.kv_cache_dtype != "auto":
        flags.append(("--kv-cache-dtype", settings.kv_cache_dtype))
    if settings.dtype != "auto":
        flags.append(("--dtype", settings.dtype))
    if settings.quantization is not None:
        flags.append(("--quantization", settings.quantization))
    sizes = {
        "--tensor-parallel-size": settings.tensor_parallel_size,
        "--pipeline-parallel-size": settings.pipeline_parallel_size,
        "--data-parallel-size": settings.data_parallel_size,
    }
    flags.extend((flag, str(size)) for flag, size in sizes.items() if size > 1)
    flags.append(("--max-num-seqs", str(settings.max_num_seqs)))
    usual = Settings(settings.max_model_len)
    if settings.max_num_batched_tokens != usual.max_num_batched_tokens:
        flags.append(("--max-num-batched-tokens", str(settings.max_num_batched_tokens)))
    if settings.block_size != usual.block_size:
        flags.append(("--block-size", str(settings.block_size)))
    written = [word for flag in flags for word in flag]
    if settings.hybrid_kv_cache_manager is False:
        written.append("--disable-hybrid-kv-cache-manager")
    if not settings.async_scheduling:
        written.append("--no-async-scheduling")
    return shlex.join(["vllm", "serve", model, *written])
