"""The dashboard "vLLM fleet": servers side by side, and what sets one apart."""

from dashboards.chosen import ENGINE, engines, models, ranks, servers
from dashboards.engine import UP
from dashboards.look import About, Query, Steps, Words
from dashboards.overview import KV_FULL, WAITING
from dashboards.page import Page, its_engine
from dashboards.panels import Panel, lines, now, number, states
from dashboards.tables import Column, rows
from dashboards.thresholds import threshold

SKEWED: Steps = {"orange": threshold("VLLMEngineRankSkewed", "times")}
RESTARTS: Steps = {"orange": 1, "red": threshold("VLLMRestartLoop", "restarts")}
HEALTH: Words = {0: ("fails", "red"), 1: ("ok", "green")}


def fleet() -> Page:
    return Page(
        "fleet",
        "vLLM fleet",
        "Which server is not like the others?",
        {
            "Drift": _drift(),
            " ": [_servers()],
            "  ": [_up()],
            "Load, side by side": _load(),
            "Speed, side by side": _speed(),
            "Ranks": _ranks(),
            "Settings": [_versions(), _settings()],
        },
    )


def _drift() -> list[Panel]:
    servers_up = About("Servers up", "That answer.", "short", "VLLMTargetDown")
    down = About("Servers down", "Whose last scrape failed.", "short", "VLLMTargetDown")
    versions = About("Versions", "Of vLLM, of the model that has most of them.", "short", "VLLMVersionMix")
    settings = About(
        "Variants of settings",
        "Of the KV cache's settings or of --max-model-len, of the model that has most of them.",
        "short",
        "VLLMConfigDrift",
    )
    load = About(
        "Imbalance",
        "What the busiest server of a model runs, over ten minutes, for each request of its mean server. 1 is even.",
        "suffix:x",
        "VLLMEngineRankSkewed",
    )
    restarts = About("Restarts", "In the last hour, of the server that has most.", "short", "VLLMRestartLoop")
    up = servers("vllm_engine:up")
    running = f"sum by (job, model_name, instance) ({engines('vllm_engine:requests_running:avg_10m')})"
    by = "by (job, model_name)"
    more_versions: Steps = {"orange": threshold("VLLMVersionMix", "versions") + 1}
    more_settings: Steps = {"orange": threshold("VLLMConfigDrift", "variants") + 1}
    return [
        number(servers_up, Query(f"sum({up})", "up"), steps={"text": 1}, base="red"),
        number(down, Query(f"count({up}) - sum({up})", "down"), steps={"red": 1}),
        number(versions, Query(f"max({models('vllm_engine:versions:count')})", "versions"), steps=more_versions),
        number(settings, Query(f"max({models('vllm_engine:config_variants:count')})", "variants"), steps=more_settings),
        number(load, Query(f"max(max {by} ({running}) / (avg {by} ({running}) > 0))", "busiest"), steps=SKEWED),
        now(restarts, Query(f"max({servers('vllm_engine:restarts:changes1h')})", "restarts"), steps=RESTARTS),
    ]


def _servers() -> Panel:
    about = About("Servers", "Each server, now. A click on its name shows its engine.", "short")
    by = "by (instance)"
    return rows(
        about,
        ("instance",),
        Column("Page", f"max {by} ({servers('vllm_engine:up')})", words=UP, width=60),
        Column("/health", f"max {by} ({servers('vllm_monitor_target_health_up')})", words=HEALTH, width=70),
        Column(
            "Version", f"max by (instance, version) ({servers('vllm_monitor_target_version_info')})", label="version"
        ),
        Column(
            "Model", f"max by (instance, model_name) ({engines('vllm_engine:requests_running')})", label="model_name"
        ),
        Column("Running", f"sum {by} ({engines('vllm_engine:requests_running')})"),
        Column("Waiting", f"sum {by} ({engines('vllm_engine:requests_waiting')})", steps=WAITING),
        Column("KV cache", f"max {by} ({engines('vllm_engine:kv_cache_usage:p90_1m')})", "percentunit", steps=KV_FULL),
        Column("Generated", f"sum {by} ({engines('vllm_engine:generation_tokens:rate1m')})", "suffix:tok/s"),
        Column("TTFT p95", f"max {by} ({engines('vllm_engine:ttft_seconds:p95_5m')})", "s"),
        Column("Fit at once", f"min {by} ({ranks('vllm_engine:max_concurrency')})", "short"),
        Column("Max length", f"max {by} ({servers('vllm_engine:max_model_len')})", "short"),
        Column("Started", f"max {by} ({servers('process_start_time_seconds')}) * 1000", "dateTimeFromNow", width=115),
        link=("instance", its_engine("instance")),
        lowest_first="Page",
    )


def _up() -> Panel:
    about = About(
        "Up and down", "Whether each server's metrics page answers: a gap of all is one of the monitor.", "none"
    )
    return states(about, Query(servers("vllm_engine:up"), "{{instance}}"), UP)


def _load() -> list[Panel]:
    by = "by (instance)"
    return [
        lines(
            About("Running by server", "Even for a good balancer, and equal servers.", "short", "VLLMEngineRankSkewed"),
            Query(f"sum {by} ({engines('vllm_engine:requests_running:avg_1m')})", "{{instance}}"),
        ),
        lines(
            About(
                "Waiting by server", "One queue among idle servers is the balancer's.", "short", "VLLMRequestsWaiting"
            ),
            Query(f"sum {by} ({engines('vllm_engine:requests_waiting:p50_1m')})", "{{instance}}"),
            steps=WAITING,
        ),
        lines(
            About("KV cache by server", "The fullest engine of each.", "percentunit", "VLLMKVCacheFull"),
            Query(f"max {by} ({engines('vllm_engine:kv_cache_usage:p90_1m')})", "{{instance}}"),
            steps=KV_FULL,
            top=1,
        ),
    ]


def _speed() -> list[Panel]:
    by = "by (instance)"
    return [
        lines(
            About("Tokens by server", "Generated, a second.", "suffix:tok/s", "VLLMThroughputCollapsed"),
            Query(f"sum {by} ({engines('vllm_engine:generation_tokens:rate1m')})", "{{instance}}"),
        ),
        lines(
            About("First token by server", "95th percentile over 5 minutes.", "s", "VLLMTTFTHigh"),
            Query(f"max {by} ({engines('vllm_engine:ttft_seconds:p95_5m')})", "{{instance}}"),
        ),
        lines(
            About("Time between tokens by server", "95th percentile over 5 minutes.", "s", "VLLMInterTokenLatencyHigh"),
            Query(f"max {by} ({engines('vllm_engine:inter_token_seconds:p95_5m')})", "{{instance}}"),
        ),
        lines(
            About("Preemptions by server", "A second over 5 minutes.", "ops", "VLLMPreemptionsHigh"),
            Query(f"sum {by} ({engines('vllm_engine:preemptions:rate5m')})", "{{instance}}"),
        ),
    ]


def _ranks() -> list[Panel]:
    present = About(
        "Ranks present",
        "Data-parallel ranks by server, and by model over the fleet. A step down is a rank that died.",
        "short",
        "VLLMEngineRankMissing",
    )
    running = About(
        "Running by rank",
        "Over ten minutes. One rank far from the others is skewed, or hangs.",
        "short",
        "VLLMEngineRankSkewed",
    )
    cache = About("KV cache by rank", "90th percentile of a minute.", "percentunit", "VLLMKVCacheFull")
    return [
        lines(
            present,
            Query(f"{servers('vllm_engine:engines:count', MODEL)}", "{{instance}}"),
            Query(models("vllm_engine:ranks:count"), "all of {{model_name}}"),
        ),
        lines(running, Query(engines("vllm_engine:requests_running:avg_10m"), ENGINE)),
        lines(cache, Query(engines("vllm_engine:kv_cache_usage:p90_1m"), ENGINE), steps=KV_FULL, top=1),
    ]


MODEL = 'model_name=~"$model_name"'


def _versions() -> Panel:
    about = About("Versions of vLLM", "As the probe reads them; vLLM has no metric of it.", "short", "VLLMVersionMix")
    return rows(
        about,
        ("version",),
        Column("Servers", f"count by (version) ({servers('vllm_monitor_target_version_info')})"),
    )


def _settings() -> Panel:
    names = ("cache_dtype", "block_size", "gpu_memory_utilization", "enable_prefix_caching")
    by = ", ".join(names)
    about = About(
        "Settings of the KV cache", "Each combination, and how many engines have it.", "short", "VLLMConfigDrift"
    )
    return rows(about, names, Column("Engines", f"count by ({by}) ({ranks('vllm_engine:cache_config:info')})"))
