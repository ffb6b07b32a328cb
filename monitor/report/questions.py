"""
What is asked for a report: each question gives one series for each model.

A model is what has the same `job` and `model_name`. All names are recorded by the shipped rules, and kept in the
history.
"""

from enum import StrEnum

from monitor.model.instant import Duration, format_duration

BY = "by (job, model_name)"
# What is known of a server, as of its model; of several names that a server has, one.
_OF_MODEL = (
    "* on (job, instance) group_left (model_name) "
    "topk by (job, instance) (1, group by (job, instance, model_name) (vllm_engine:requests_running))"
)


class Question(StrEnum):
    """The value is the expression; units are those of the recorded series."""

    # Ratios of the fullest engine: the highest of each minute, and what it exceeded for a tenth of it. Under load the
    # gauge dips for single scrapes, so that one sample a minute says little of how long the cache was full.
    KV_PEAK = f"max {BY} (vllm_engine:kv_cache_usage:max_1m)"
    KV_P90 = f"max {BY} (vllm_engine:kv_cache_usage:p90_1m)"
    # A second, all engines.
    PREEMPTIONS = f"sum {BY} (vllm_engine:preemptions:rate5m)"
    # Requests, all engines.
    WAITING_PEAK = f"sum {BY} (vllm_engine:requests_waiting:max_1m)"
    WAITING = f"sum {BY} (vllm_engine:requests_waiting)"
    RUNNING = f"sum {BY} (vllm_engine:requests_running)"
    # Requests a second, all engines.
    ENDED = f"sum {BY} (vllm_engine:requests_finished:rate5m)"
    FAILED = f'sum {BY} (vllm_engine:requests_finished:rate5m{{finished_reason="error"}})'
    # Requests in five minutes.
    ANSWERED = f"sum {BY} (vllm_engine:http_requests:increase5m)"
    ANSWERED_5XX = f'sum {BY} (vllm_engine:http_requests:increase5m{{status="5xx"}})'
    # Tokens a second, all engines.
    PROMPT_TOKENS = f"sum {BY} (vllm_engine:prompt_tokens:rate1m)"
    GENERATED_TOKENS = f"sum {BY} (vllm_engine:generation_tokens:rate1m)"
    # Seconds, of the slowest engine.
    TTFT_P50 = f"max {BY} (vllm_engine:ttft_seconds:p50_5m)"
    TTFT_P95 = f"max {BY} (vllm_engine:ttft_seconds:p95_5m)"
    TTFT_P99 = f"max {BY} (vllm_engine:ttft_seconds:p99_5m)"
    ITL_P50 = f"max {BY} (vllm_engine:inter_token_seconds:p50_5m)"
    ITL_P95 = f"max {BY} (vllm_engine:inter_token_seconds:p95_5m)"
    ITL_P99 = f"max {BY} (vllm_engine:inter_token_seconds:p99_5m)"
    E2E_P50 = f"max {BY} (vllm_engine:e2e_seconds:p50_5m)"
    E2E_P95 = f"max {BY} (vllm_engine:e2e_seconds:p95_5m)"
    E2E_P99 = f"max {BY} (vllm_engine:e2e_seconds:p99_5m)"
    # Tokens of a prompt.
    PROMPT_P99 = f"max {BY} (vllm_engine:request_prompt_tokens:p99_5m)"
    PROMPT_MEAN = f"max {BY} (vllm_engine:prompt_length:mean_10m)"
    # Of the smallest engine: requests of full length, tokens, tokens.
    CONCURRENCY = f"min {BY} (vllm_engine:max_concurrency {_OF_MODEL})"
    KV_TOKENS = f"min {BY} (vllm_engine:kv_cache_tokens {_OF_MODEL})"
    MAX_MODEL_LEN = f"min {BY} (vllm_engine:max_model_len {_OF_MODEL})"


class Distribution(StrEnum):
    """Histograms of five minutes, next to each other; those of a period add up to its distribution."""

    TTFT = "vllm_engine:ttft_seconds_bucket:increase5m"
    ITL = "vllm_engine:inter_token_seconds_bucket:increase5m"
    E2E = "vllm_engine:e2e_seconds_bucket:increase5m"
    PROMPT = "vllm_engine:request_prompt_tokens_bucket:increase5m"

    def over(self, length: Duration) -> str:
        """Return what asks for the counts of the last `length` by their edges."""
        return f"sum by (job, model_name, le) (sum_over_time({self}[{format_duration(length)}]))"


# A range of a minute: what fired for seconds counts as well. What always fires (severity none) is no news.
ALERTS = (
    'max by (alertname, severity, job, model_name) (last_over_time(ALERTS{alertstate="firing",severity!="none"}[1m]))'
)
DAILY_PEAK = f"max {BY} (max_over_time(vllm_engine:kv_cache_usage:max_1m[1d]))"
