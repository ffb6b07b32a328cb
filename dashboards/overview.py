"""The dashboard "vLLM overview": is it serving, and if not, where does it jam."""

from dashboards.chosen import ENGINE, alerts, count, engines, models, servers
from dashboards.look import About, Query, Steps, Words
from dashboards.page import Page, its_engine
from dashboards.panels import Panel, lines, number, states
from dashboards.tables import Column, rows
from dashboards.thresholds import burn_rates, threshold

WAITING: Steps = {"orange": threshold("VLLMRequestsWaiting", "waiting")}
KV_FULL: Steps = {"orange": threshold("VLLMKVCacheFull", "usage_ratio")}
SLOW: Steps = {"orange": threshold("VLLMTTFTHigh", "seconds"), "red": threshold("VLLMTTFTCritical", "seconds")}
ERRORS: Steps = {
    "orange": threshold("VLLMErrorRateHigh", "error_ratio"),
    "red": threshold("VLLMErrorRateCritical", "error_ratio"),
}
# Slowest first: an objective's budget of thirty days is gone at its end, or in ten days, five, two.
BURN: Steps = dict(zip(("yellow", "orange", "dark-orange", "red"), sorted(burn_rates().values()), strict=True))
ALERT_STATES: Words = {1: ("pending", "yellow"), 2: ("info", "blue"), 3: ("warning", "orange"), 4: ("critical", "red")}


def overview() -> Page:
    return Page(
        "overview",
        "vLLM overview",
        "Is it serving, and if not, where does it jam?",
        {
            "": _now(),
            " ": [alert_lanes()],
            "  ": _load(),
            "   ": _quality(),
            "Models": [_models()],
        },
    )


def alert_lanes() -> Panel:
    critical, warning = (alerts("firing", f'severity="{severity}"') for severity in ("critical", "warning"))
    every = f"{critical} * 4 or {warning} * 3 or {alerts('firing')} * 2 or {alerts('pending')}"
    query = f"max by (alertname, instance, model_name) ({every})"
    about = About("Alerts", "Pending: true, but not yet for long enough. From then on, how severe it is.", "none")
    return states(about, Query(query, "{{alertname}} {{instance}}"), ALERT_STATES)


def burn(window: str) -> str:
    """Return how many times faster than thirty days allow the budget of each objective burns, over a window."""
    return f"{models(f'vllm_engine:slo_bad:ratio_{window}')} / {models('vllm_engine:slo_budget:ratio')}"


def _now() -> list[Panel]:
    up = servers("vllm_engine:up")
    serving = About(
        "Servers serving",
        "The share of the servers that answer and have no critical alert.",
        "percentunit",
        "VLLMTargetDown",
    )
    firing = About("Critical alerts", "How many fire, for somebody to be woken by.", "short")
    waiting = About("Waiting", "Requests in the longest queue of any engine.", "short", "VLLMRequestsWaiting")
    kv = About("KV cache", "The fullest engine, 90th percentile of a minute.", "percentunit", "VLLMKVCacheFull")
    ttft = About("First token", "95th percentile over 5 minutes, slowest engine.", "s", "VLLMTTFTHigh")
    budget = About(
        "Budget burn",
        "Of the objective that burns fastest, over an hour. At 1 its budget lasts thirty days, at 14.4 two. What "
        "nobody answers is not counted: a server that is down burns nothing.",
        "suffix:x",
        "VLLMAvailabilityBudgetBurn",
    )
    critical = alerts("firing", 'severity="critical"')
    healthy = f"count({up} == 1 unless on (job, instance) {critical}) or 0 * count({up})"
    return [
        number(
            serving,
            Query(f"({healthy}) / count({up})", "serving"),
            steps={"orange": 0.001, "green": 1},
            base="red",
            words={0: ("none", "red"), 1: ("all", "green")},
        ),
        number(firing, Query(count(critical), "firing"), steps={"red": 1}, words={0: ("none", "green")}),
        number(waiting, Query(f"max({engines('vllm_engine:requests_waiting:p50_1m')})", "waiting"), steps=WAITING),
        number(kv, Query(f"max({engines('vllm_engine:kv_cache_usage:p90_1m')})", "used"), steps=KV_FULL),
        number(ttft, Query(f"max({engines('vllm_engine:ttft_seconds:p95_5m')})", "p95"), steps=SLOW),
        number(budget, Query(f"max({burn('1h')})", "burn"), steps=BURN),
    ]


def _load() -> list[Panel]:
    requests = About(
        "Requests",
        "In the batch, and in the queue. A queue longer than the batch is overload; a queue beside an empty batch is a "
        "blocked scheduler. The line is where VLLMRequestsWaiting counts from.",
        "short",
        "VLLMOverloaded",
    )
    usage = About(
        "KV cache usage",
        "It swings under load, because preemption frees what it then fills again; the alert reads the 90th percentile "
        "of a minute. Full without a queue and without preemptions is not trouble.",
        "percentunit",
        "VLLMKVCacheFull",
    )
    tokens = About(
        "Tokens",
        "Read and generated, a second. Flat at 0 while requests run: a hang, or one long prefill.",
        "suffix:tok/s",
        "VLLMEngineStuck",
    )
    return [
        lines(
            requests,
            Query(engines("vllm_engine:requests_running"), f"running {ENGINE}"),
            Query(engines("vllm_engine:requests_waiting"), f"waiting {ENGINE}"),
            steps=WAITING,
        ),
        lines(usage, Query(engines("vllm_engine:kv_cache_usage:p90_1m"), ENGINE), steps=KV_FULL, top=1),
        lines(
            tokens,
            Query(f"sum by (instance) ({engines('vllm_engine:prompt_tokens:rate1m')})", "prompt {{instance}}"),
            Query(f"sum by (instance) ({engines('vllm_engine:generation_tokens:rate1m')})", "generation {{instance}}"),
        ),
    ]


def _quality() -> list[Panel]:
    ttft = About("Time to first token", "95th percentile over 5 minutes. Known as soon as a first token leaves.", "s")
    between = About("Time between tokens", "95th percentile over 5 minutes, for each output of the engine.", "s")
    errors = About(
        "Errors",
        "What fails of what ends: in the engine, and as HTTP answers 5xx. The lines are where VLLMErrorRateHigh and "
        "VLLMErrorRateCritical count from. A client that goes away is counted nowhere.",
        "percentunit",
        "VLLMErrorRateHigh",
    )
    return [
        lines(ttft, Query(engines("vllm_engine:ttft_seconds:p95_5m"), ENGINE)),
        lines(between, Query(engines("vllm_engine:inter_token_seconds:p95_5m"), ENGINE)),
        lines(
            errors,
            Query(f"max by (instance) ({engines('vllm_engine:request_errors:ratio_5m')})", "engine {{instance}}"),
            Query(servers("vllm_engine:http_errors:ratio_5m"), "5xx {{instance}}"),
            steps=ERRORS,
        ),
    ]


def _models() -> Panel:
    by = "by (job, model_name)"
    about = About(
        "Models", "Every model that is served, over all of its servers. The slowest and the fullest count.", "short"
    )
    return rows(
        about,
        ("model_name", "job"),
        Column(
            "Servers", f"count {by} (count by (job, model_name, instance) ({engines('vllm_engine:requests_running')}))"
        ),
        Column("Running", f"sum {by} ({engines('vllm_engine:requests_running')})"),
        Column("Waiting", f"sum {by} ({engines('vllm_engine:requests_waiting')})", steps=WAITING),
        Column("KV cache", f"max {by} ({engines('vllm_engine:kv_cache_usage:p90_1m')})", "percentunit", steps=KV_FULL),
        Column("Answers", f"sum {by} ({engines('vllm_engine:requests_ended:rate5m')})", "reqps"),
        Column("Generated", f"sum {by} ({engines('vllm_engine:generation_tokens:rate1m')})", "suffix:tok/s"),
        Column("TTFT p95", f"max {by} ({engines('vllm_engine:ttft_seconds:p95_5m')})", "s"),
        Column("ITL p95", f"max {by} ({engines('vllm_engine:inter_token_seconds:p95_5m')})", "s"),
        Column("Burn 1 h", f"max {by} ({burn('1h')})", "suffix:x", steps=BURN),
        link=("model_name", its_engine("model_name")),
    )
