"""A vLLM without a GPU: queue, KV blocks, preemption, faults; serves true vLLM metrics."""
