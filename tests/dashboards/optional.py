"""What only some servers have: a query that reads one of these may find nothing, and this is why."""

import re
from collections.abc import Mapping

from tests.rules.lint import names

# By what begins the recorded name.
REASONS: Mapping[str, str] = {
    r"vllm_monitor_|vllm_monitor:": "the daemon's own series, and what its probes find: it must run, and be scraped",
    r"vllm_engine:(max_concurrency|kv_cache_tokens|max_model_len|versions:)": "what the daemon's probes find",
    r"vllm_engine:spec_decode_": "speculative decoding (--speculative-config)",
    r"vllm_engine:(external_prefix_cache|kv_(transfer|offload|fetching))_": "a KV connector (--kv-transfer-config)",
    r"vllm_engine:mm_cache_": "a model that takes images",
    r"vllm_engine:kv_block_": "--kv-cache-metrics",
    r"vllm_engine:lora_requests_info": "LoRA (--enable-lora)",
    r"vllm_engine:gpu_": "the DCGM exporter",
    r"vllm_engine:asleep": "sleep mode (--enable-sleep-mode)",
    r"vllm_engine:requests_running:frozen_90s": "an engine that hangs",
    r"vllm_engine:slo_bad:ratio_|vllm_engine:slo_budget:": "requests that an objective judges",
    r"vllm_engine:http_(client_)?errors:ratio": "an answer that is 4xx or 5xx",
    r"ALERTS": "an alert",
}


# By what is looked back at: steps of five minutes, of half an hour, of an hour.
LOOKING_BACK: Mapping[str, str] = {
    r"\[7d:1h\]": "a day of history",
    r"\[30d:30m\]": "half an hour of history",
    r":5m\]": "five minutes of history",
}


def why_empty(expr: str) -> list[str]:
    """Return the reasons for which a query may find nothing; none when it must find something."""
    read = names(expr)
    missing = [why for begins, why in REASONS.items() if any(re.match(begins, name) for name in read)]
    return missing + [why for range_, why in LOOKING_BACK.items() if re.search(range_, expr)]
