"""The dashboard "vLLM KV cache & capacity": does the cache hold what is sent, when will it not, and what would."""

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models import dashboard as models

from dashboards.chosen import ENGINE, engines, ranks, servers
from dashboards.chosen import models as of_models
from dashboards.engine import CACHES, PREEMPTIONS, cache_hits
from dashboards.look import About, Query, Steps
from dashboards.overview import KV_FULL
from dashboards.page import Page
from dashboards.panels import Panel, bars, heat, lines, now, number
from dashboards.thresholds import threshold

LENGTHS = ("2048", "4096", "8192", "16384", "32768", "65536", "131072", "262144")
FLOOR: Steps = {"orange": 1, "green": threshold("VLLMMaxConcurrencyBelowFloor", "concurrency")}
WEEK = "7 * 86400"


def capacity() -> Page:
    return Page(
        "capacity",
        "vLLM KV cache & capacity",
        "Does the KV cache hold what is sent, when will it not, and what would help?",
        {
            "Now": _now(),
            "How full": _usage(),
            "The busiest hour": _hours(),
            "What if": _what_if(),
            "What it costs, and what it saves": _costs(),
            "Blocks that travel": _travel(),
        },
        more=[_length()],
    )


def _now() -> list[Panel]:
    tokens = About(
        "Tokens in the pool", "That fit into the KV cache of the smallest engine.", "short", "VLLMKVPoolBelowOneRequest"
    )
    length = About("Longest request", "--max-model-len: tokens of a prompt and its answer together.", "short")
    concurrency = About(
        "Requests of full length",
        "How many fit into the KV cache of the smallest engine at once.",
        "short",
        "VLLMMaxConcurrencyBelowFloor",
    )
    used = About("Used now", "The fullest engine, 90th percentile of a minute.", "percentunit", "VLLMKVCacheFull")
    ahead = About(
        "Soon",
        "How full the fullest engine will be in 15 minutes, as it has gone for the last 15: a straight line, and "
        "traffic is none.",
        "percentunit",
        "VLLMKVCacheFillingUp",
    )
    week = About(
        "In a week",
        "What the fullest engine uses on average, as it has grown over the last 7 days. Of less than one day "
        "nothing is said, of a few not much.",
        "percentunit",
    )
    seen = f"count_over_time({engines('vllm_engine:kv_cache_usage:avg_1h')}[7d:1h]) > 24"
    growth = f"predict_linear({engines('vllm_engine:kv_cache_usage:avg_1h')}[7d:1h], {WEEK})"
    return [
        number(tokens, Query(f"min({ranks('vllm_engine:kv_cache_tokens')})", "tokens"), base="text"),
        number(length, Query(f"max({servers('vllm_engine:max_model_len')})", "tokens"), base="text"),
        number(concurrency, Query(f"min({ranks('vllm_engine:max_concurrency')})", "requests"), steps=FLOOR, base="red"),
        number(used, Query(f"max({engines('vllm_engine:kv_cache_usage:p90_1m')})", "used"), steps=KV_FULL),
        number(
            ahead, Query(f"max({engines('vllm_engine:kv_cache_usage:predicted')})", "predicted"), steps={"orange": 1}
        ),
        now(week, Query(f"clamp(max({growth} and {seen}), 0, 2)", "predicted"), steps=KV_FULL),
    ]


def _usage() -> list[Panel]:
    usage = About(
        "Use and forecast",
        "The highest of each minute, its 90th percentile, and what a straight line says of 15 minutes from then.",
        "percentunit",
        "VLLMKVCacheFull",
    )
    tokens = About(
        "Tokens held",
        "What is used of the pool, and its size. Blocks that are kept for their prefix only are free.",
        "suffix:tok",
    )
    fits = About(
        "Requests and what fits",
        "Running, and how many of the full length fit. More run than that where they are shorter; many more wait where "
        "the pool is what limits.",
        "short",
        "VLLMMaxConcurrencyBelowFloor",
    )
    pool = ranks("vllm_engine:kv_cache_tokens")
    return [
        lines(
            usage,
            Query(engines("vllm_engine:kv_cache_usage:max_1m"), f"highest {ENGINE}"),
            Query(engines("vllm_engine:kv_cache_usage:p90_1m"), f"p90 {ENGINE}"),
            Query(engines("vllm_engine:kv_cache_usage:predicted"), f"predicted {ENGINE}"),
            steps=KV_FULL,
        ),
        lines(
            tokens,
            Query(
                f"{engines('vllm_engine:kv_cache_usage:p90_1m')} * on (job, instance, engine) group_left () {pool}",
                f"used {ENGINE}",
            ),
            Query(pool, f"pool {ENGINE}"),
        ),
        lines(
            fits,
            Query(engines("vllm_engine:requests_running:avg_1m"), f"running {ENGINE}"),
            Query(engines("vllm_engine:requests_waiting:p50_1m"), f"waiting {ENGINE}"),
            Query(ranks("vllm_engine:max_concurrency"), f"fit {ENGINE}"),
        ),
    ]


def _hours() -> list[Panel]:
    told = "Means of the hour before; choose some days above, and the busiest is the highest point."
    cache = About("KV cache by the hour", told, "percentunit")
    requests = About("Requests by the hour", told, "short")
    busiest = About(
        "Busiest hour",
        "The mean of the fullest hour of the time shown, of each engine.",
        "percentunit",
        "VLLMKVCacheFull",
    )
    return [
        lines(cache, Query(engines("vllm_engine:kv_cache_usage:avg_1h"), ENGINE), steps=KV_FULL, top=1),
        lines(
            requests,
            Query(engines("vllm_engine:requests_running:avg_1h"), f"running {ENGINE}"),
            Query(engines("vllm_engine:requests_waiting:avg_1h"), f"waiting {ENGINE}"),
        ),
        bars(
            busiest,
            Query(f"max_over_time({engines('vllm_engine:kv_cache_usage:avg_1h')}[$__range:5m])", ENGINE),
            steps=KV_FULL,
        ),
    ]


def _what_if() -> list[Panel]:
    fit = ranks("vllm_engine:max_concurrency")
    length = servers("vllm_engine:max_model_len")
    # What is not in eight bits yet: `auto` is the type of the model, of two bytes.
    sixteen = servers("vllm_engine:cache_config:info", 'cache_dtype!~"fp8.*|int8.*|nvfp4.*|turboquant.*"')
    other = f"{fit} * on (job, instance) group_left () {length} / $length"
    halved = f"2 * {fit} and on (job, instance) {sixteen}"
    told = "Of a model with full attention: where layers look back only some way, less is won by shorter requests."
    return [
        bars(
            About(
                "Requests at once with another --max-model-len",
                "How many fit into the smallest engine's cache of the full length as it is, of half, of a quarter, and "
                f"of the length chosen above. {told}",
                "short",
                "VLLMMaxConcurrencyBelowFloor",
            ),
            Query(f"min({fit})", "as it is"),
            Query(f"2 * min({fit})", "half"),
            Query(f"4 * min({fit})", "a quarter"),
            Query(f"min({other})", "$length tokens"),
            steps=FLOOR,
        ),
        bars(
            About(
                "Requests at once with --kv-cache-dtype fp8",
                "What fits into the smallest engine's cache when a token takes half of what it takes now: of the full "
                "length and of the length chosen above. Empty where it is 8 bits already. `vllm-monitor plan` counts "
                "it to the byte, with your model.",
                "short",
            ),
            Query(f"min({fit})", "as it is"),
            Query(f"min({halved})", "fp8"),
            Query(f"min(2 * ({other}) and on (job, instance) {sixteen})", "fp8, $length tokens"),
            steps=FLOOR,
        ),
    ]


def _costs() -> list[Panel]:
    preemptions = About(
        "Preemptions",
        "Requests thrown out of the cache, a second over 5 minutes. Each is computed again.",
        "ops",
        "VLLMPreemptionsHigh",
    )
    hits = About("Prefixes found", "The share of the tokens that a cache had, by engine and by cache.", "percentunit")
    usual = About(
        "Prefixes found, and what is usual",
        "Of a model over 30 minutes, and over a day.",
        "percentunit",
        "VLLMPrefixHitsCollapsed",
    )
    tiers = About(
        "Where prefixes lay",
        "Prompt tokens that need not be computed, by what held them: the GPU, the host, a disk, another server (0.32.0 "
        "and later).",
        "suffix:tok/s",
    )
    lengths = About(
        "Prompts by length",
        "How many a second, by their tokens, over all servers of a model, every five minutes; kept for weeks.",
        "short",
        "VLLMPromptsTooLong",
    )
    blocks = About(
        "Life of a block",
        "Medians: how long it is held, how long it lies idle before it is thrown out, and after how long it is wanted "
        "again (--kv-cache-metrics).",
        "s",
    )
    return [
        lines(preemptions, Query(engines("vllm_engine:preemptions:rate5m"), ENGINE), steps=PREEMPTIONS),
        lines(hits, *(cache_hits(cache, legend) for cache, legend in CACHES[:2]), top=1),
        lines(
            usual,
            Query(of_models("vllm_engine:prefix_cache_hits:ratio_30m"), "30 minutes {{model_name}}"),
            Query(of_models("vllm_engine:prefix_cache_hits:ratio_1d"), "a day {{model_name}}"),
            top=1,
        ),
        lines(
            tiers,
            Query(f"sum by (source) ({engines('vllm_engine:cached_prompt_tokens:rate5m')})", "{{source}}"),
            stacked=True,
        ),
        heat(lengths, f"sum by (le) ({of_models('vllm_engine:request_prompt_tokens_bucket:increase5m')}) / 300"),
        lines(
            blocks,
            *(
                Query(engines(f"vllm_engine:kv_block_{what}_seconds:p50_5m"), f"{what} {ENGINE}")
                for what in ("lifetime", "idle", "reuse")
            ),
        ),
    ]


def _travel() -> list[Panel]:
    between = About("Between servers", "What NIXL moves (--kv-transfer-config).", "Bps")
    seconds = About("Time of a transfer", "95th percentile over 5 minutes (NIXL).", "s")
    failures = About("Failed transfers", "In 5 minutes, by what failed.", "short", "VLLMKVTransferFailing")
    fetching = About("Requests that wait for their blocks", "By how far they have come (0.32.0 and later).", "short")
    room = About(
        "Room in the host's memory",
        "The share that is used, and how many blocks a second found none (0.26.0 and later).",
        "short",
    )
    host = About("To the host's memory and back", "What the OffloadingConnector moves, by direction.", "Bps")
    return [
        lines(between, Query(engines("vllm_engine:kv_transfer_bytes:rate5m"), ENGINE)),
        lines(seconds, Query(engines("vllm_engine:kv_transfer_seconds:p95_5m"), ENGINE)),
        lines(failures, Query(engines("vllm_engine:kv_transfer_failures:increase5m"), f"{{{{failure}}}} {ENGINE}")),
        lines(fetching, Query(engines("vllm_engine:kv_fetching_requests"), f"{{{{stage}}}} {ENGINE}"), stacked=True),
        lines(
            room,
            Query(engines("vllm_engine:kv_offload_usage:ratio"), f"used {ENGINE}"),
            Query(engines("vllm_engine:kv_offload_failures:rate5m"), f"failures/s {ENGINE}"),
        ),
        lines(host, Query(engines("vllm_engine:kv_offload_bytes:rate5m"), f"{{{{transfer_type}}}} {ENGINE}")),
    ]


def _length() -> dashboard.CustomVariable:
    chosen = models.VariableOption(selected=True, text="8192", value="8192")
    length = dashboard.CustomVariable("length").label("Another length").values(",".join(LENGTHS)).current(chosen)
    options = [models.VariableOption(selected=one == "8192", text=one, value=one) for one in LENGTHS]
    return length.description("Tokens of a request, for what would fit if none were longer.").options(options)
