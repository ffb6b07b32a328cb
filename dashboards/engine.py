"""The dashboard "vLLM engine": one server from the inside, everything that its engine says."""

from dashboards.chosen import ENGINE, engines, servers
from dashboards.host import gpus, server
from dashboards.look import About, Query, Steps, Words
from dashboards.overview import ERRORS, KV_FULL, WAITING
from dashboards.page import Page
from dashboards.panels import Panel, heat, lines, number
from dashboards.thresholds import threshold

PREEMPTIONS: Steps = {
    "orange": threshold("VLLMPreemptionsHigh", "preemptions_per_second"),
    "red": threshold("VLLMPreemptionStorm", "preemptions_per_second"),
}
UP: Words = {0: ("down", "red"), 1: ("up", "green")}
ASLEEP: Words = {0: ("awake", "green"), 1: ("asleep", "blue")}


def engine() -> Page:
    return Page(
        "engine",
        "vLLM engine",
        "What does one engine do, and what holds it up?",
        {
            "Now": _now(),
            "Requests": _requests(),
            "KV cache": _cache(),
            "Latency": _latency(),
            "How latencies are spread": _heatmaps(),
            "Tokens": _tokens(),
            "Server": server(),
            "Speculative decoding": _speculation(),
            **gpus(),
        },
    )


def _now() -> list[Panel]:
    return [
        number(
            About("Server", "Whether the metrics page answers.", "none", "VLLMTargetDown"),
            Query(f"min({servers('vllm_engine:up')})", "up"),
            base="red",
            steps={"green": 1},
            words=UP,
        ),
        number(
            About("Running now", "Requests in the batches of the chosen engines.", "short"),
            Query(f"sum({engines('vllm_engine:requests_running')})", "running"),
            base="text",
        ),
        number(
            About("Waiting now", "Requests in the longest queue.", "short", "VLLMRequestsWaiting"),
            Query(f"max({engines('vllm_engine:requests_waiting:p50_1m')})", "waiting"),
            steps=WAITING,
        ),
        number(
            About("KV cache now", "The fullest engine, 90th percentile of a minute.", "percentunit", "VLLMKVCacheFull"),
            Query(f"max({engines('vllm_engine:kv_cache_usage:p90_1m')})", "used"),
            steps=KV_FULL,
        ),
        number(
            About(
                "Without progress", "Requests that run while nothing of their engine moves.", "short", "VLLMEngineStuck"
            ),
            Query(
                f"max({engines('vllm_engine:requests_running:frozen_90s')}) or 0 * "
                f"max({engines('vllm_engine:requests_running')})",
                "frozen",
            ),
            steps={"red": 1},
            words={0: ("none", "green")},
        ),
        number(
            About(
                "Sleep", "Whether the engine was put to sleep (0.11.1 and later): its gauges stand still then.", "none"
            ),
            Query(f"max({engines('vllm_engine:asleep')})", "asleep"),
            words=ASLEEP,
        ),
    ]


def _requests() -> list[Panel]:
    queue = About(
        "Batch and queue",
        "A queue longer than the batch is overload; a queue beside an empty batch is a blocked scheduler.",
        "short",
        "VLLMAdmissionStalled",
    )
    reasons = About(
        "Why they wait",
        "capacity: for room in the batch or the cache, which more replicas bring. deferred: for a LoRA slot, a KV "
        "transfer or a grammar, which they do not (0.20.0 and later).",
        "short",
        "VLLMWaitingDeferred",
    )
    ended = About(
        "Finished requests",
        "By reason. Client disconnects are counted nowhere, and nothing ends during a stall.",
        "reqps",
        "VLLMAbortsHigh",
    )
    refused = About(
        "Errors and refusals",
        "The share that failed in the engine, the share of answers that are 4xx or 5xx, as HTTP counts them.",
        "percentunit",
        "VLLMErrorRateHigh",
    )
    return [
        lines(
            queue,
            Query(engines("vllm_engine:requests_running"), f"running {ENGINE}"),
            Query(engines("vllm_engine:requests_waiting"), f"waiting {ENGINE}"),
            steps=WAITING,
        ),
        lines(
            reasons, Query(engines("vllm_engine:requests_waiting_by_reason"), f"{{{{reason}}}} {ENGINE}"), stacked=True
        ),
        lines(
            ended,
            Query(
                f"sum by (finished_reason) ({engines('vllm_engine:requests_finished:rate5m')})", "{{finished_reason}}"
            ),
            stacked=True,
        ),
        lines(
            refused,
            Query(engines("vllm_engine:request_errors:ratio_5m"), f"engine {ENGINE}"),
            Query(servers("vllm_engine:http_errors:ratio_5m"), "5xx {{instance}}"),
            Query(servers("vllm_engine:http_client_errors:ratio_10m"), "4xx {{instance}}"),
            steps=ERRORS,
        ),
    ]


def _cache() -> list[Panel]:
    usage = About(
        "KV cache",
        "It swings under load, because preemption frees what it then fills again; the alert reads the 90th percentile "
        "of a minute. Full without a queue and without preemptions is not trouble.",
        "percentunit",
        "VLLMKVCacheFull",
    )
    preemptions = About(
        "Preemptions",
        "Requests thrown out of the cache, a second over 5 minutes. Each is computed again.",
        "ops",
        "VLLMPreemptionsHigh",
    )
    hits = About(
        "Found in caches",
        "The share of the tokens (of images, of the items) that need not be computed: the engine's own prefix cache, "
        "that of a KV connector, and the one of images.",
        "percentunit",
        "VLLMPrefixHitsCollapsed",
    )
    return [
        lines(
            usage,
            Query(engines("vllm_engine:kv_cache_usage:ratio"), f"now {ENGINE}"),
            Query(engines("vllm_engine:kv_cache_usage:p90_1m"), f"p90 {ENGINE}"),
            steps=KV_FULL,
            top=1,
        ),
        lines(preemptions, Query(engines("vllm_engine:preemptions:rate5m"), ENGINE), steps=PREEMPTIONS),
        lines(hits, *(cache_hits(cache, legend) for cache, legend in CACHES), top=1),
    ]


CACHES = (("prefix_cache", "prefix"), ("external_prefix_cache", "connector"), ("mm_cache", "images"))


def cache_hits(cache: str, legend: str) -> Query:
    """Return the share of a cache's queries that it answered, by engine; nothing while nobody asks."""
    hits, queries = (engines(f"vllm_engine:{cache}_{what}:rate5m") for what in ("hits", "queries"))
    return Query(f"{hits} / ({queries} > 0)", f"{legend} {ENGINE}")


def _percentiles(title: str, description: str, name: str, alert: str | None = None) -> Panel:
    queries = [Query(f"max({engines(f'vllm_engine:{name}_seconds:p{q}_5m')})", f"p{q}") for q in (50, 95, 99)]
    return lines(About(title, description, "s", alert), *queries)


def _latency() -> list[Panel]:
    phases = About(
        "Where the time goes",
        "95th percentile over 5 minutes of what a request spends in the queue, reading its prompt, and generating. "
        "Known when it ends: silent in a stall.",
        "s",
        "VLLMTimeInQueueHigh",
    )
    return [
        _percentiles(
            "Time to first token", "Over 5 minutes, slowest engine. Known when it leaves.", "ttft", "VLLMTTFTHigh"
        ),
        _percentiles(
            "Time between tokens",
            "Over 5 minutes, slowest engine, for each output of the engine.",
            "inter_token",
            "VLLMInterTokenLatencyHigh",
        ),
        _percentiles("Whole request", "Over 5 minutes, slowest engine. Known when a request ends.", "e2e"),
        lines(
            phases,
            *(
                Query(f"max({engines(f'vllm_engine:{phase}_seconds:p95_5m')})", phase)
                for phase in ("queue", "prefill", "decode")
            ),
        ),
    ]


def _heatmaps() -> list[Panel]:
    told = (
        "How many a second, by how long it took: two bands are two crowds of requests, which no percentile shows. The "
        "monitor keeps these for an hour or two; those of weeks are on the dashboard of objectives, by model."
    )
    return [
        heat(About(title, told, "s"), f"sum by (le) ({engines(f'vllm_engine:{name}_seconds_bucket:rate5m')})")
        for title, name in (
            ("First tokens by time", "ttft"),
            ("Gaps between tokens by time", "inter_token"),
            ("Whole requests by time", "e2e"),
        )
    ]


def _tokens() -> list[Panel]:
    tokens = About(
        "Tokens",
        "Read and generated, a second. Flat at 0 while requests run: a hang, or one long prefill.",
        "suffix:tok/s",
        "VLLMThroughputCollapsed",
    )
    source = About(
        "Where prompt tokens come from",
        "Computed, found in the engine's own cache, or brought by a KV connector (0.16.0 and later).",
        "suffix:tok/s",
    )
    steps = About("Engine steps", "Steps a second, but for those that only prefill; and the tokens of one.", "short")
    shape = About(
        "Length of requests",
        "Tokens of the prompts and of the answers of what ended in 5 minutes: the median and the longest hundredth.",
        "suffix:tok",
        "VLLMPromptsTooLong",
    )
    return [
        lines(
            tokens,
            Query(engines("vllm_engine:prompt_tokens:rate1m"), f"prompt {ENGINE}"),
            Query(engines("vllm_engine:generation_tokens:rate1m"), f"generation {ENGINE}"),
        ),
        lines(
            source,
            Query(f"sum by (source) ({engines('vllm_engine:prompt_tokens_by_source:rate5m')})", "{{source}}"),
            stacked=True,
        ),
        lines(
            steps,
            Query(engines("vllm_engine:steps:rate1m"), f"steps/s {ENGINE}"),
            Query(engines("vllm_engine:step_tokens:avg_5m"), f"tokens a step {ENGINE}"),
        ),
        lines(
            shape,
            Query(f"max({engines('vllm_engine:request_prompt_tokens:p50_5m')})", "prompt p50"),
            Query(f"max({engines('vllm_engine:request_prompt_tokens:p99_5m')})", "prompt p99"),
            Query(f"max({engines('vllm_engine:request_generation_tokens:p50_5m')})", "answer p50"),
            Query(f"max({engines('vllm_engine:request_generation_tokens:p99_5m')})", "answer p99"),
        ),
    ]


def _speculation() -> list[Panel]:
    accepted, drafted = (engines(f"vllm_engine:spec_decode_{what}_tokens:rate5m") for what in ("accepted", "draft"))
    drafts = engines("vllm_engine:spec_decode_drafts:rate5m")
    acceptance = About(
        "Drafts accepted",
        "The share of the drafted tokens that were right. The line is below what VLLMSpecDecodeAcceptanceLow speaks.",
        "percentunit",
        "VLLMSpecDecodeAcceptanceLow",
    )
    length = About(
        "Tokens a step", "What one step of the large model gives: its own token, and the accepted ones.", "short"
    )
    position = About(
        "Accepted by place", "The share of the drafts of which the token at this place was right.", "percentunit"
    )
    output = About(
        "Time for a token",
        "95th percentile over 5 minutes of each request's own mean (0.11.0 and later): with drafts nearer to what a "
        "reader sees than the time between outputs.",
        "s",
    )
    return [
        lines(
            acceptance,
            Query(f"{accepted} / ({drafted} > 0)", ENGINE),
            steps={"orange": threshold("VLLMSpecDecodeAcceptanceLow", "acceptance_ratio")},
            top=1,
        ),
        lines(length, Query(f"1 + {accepted} / ({drafts} > 0)", ENGINE)),
        lines(
            position,
            Query(
                f"sum by (position) ({engines('vllm_engine:spec_decode_accepted_by_position:rate5m')})"
                f" / on () group_left () (sum({drafts}) > 0)",
                "place {{position}}",
            ),
            top=1,
        ),
        lines(output, Query(engines("vllm_engine:time_per_output_token_seconds:p95_5m"), ENGINE)),
    ]
