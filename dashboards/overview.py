"""The dashboard "vLLM overview": is it serving, and if not, where does it jam."""

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import dashboard as models

from dashboards.panels import DATASOURCE, About, Panel, Query, Steps, lines, number, states
from dashboards.thresholds import threshold

SERVERS = 'job=~"$job", instance=~"$instance"'
ENGINES = f'{SERVERS}, model_name=~"$model_name"'
ENGINE = "{{instance}} {{engine}}"
FULL_WIDTH = 24

WAITING: Steps = {"orange": threshold("VLLMRequestsWaiting", "vllm_engine:requests_waiting:p50_1m")}
KV_FULL: Steps = {"orange": threshold("VLLMKVCacheFull", "vllm_engine:kv_cache_usage:p90_1m")}
PREEMPTIONS: Steps = {
    "orange": threshold("VLLMPreemptionsHigh", "vllm_engine:preemptions:rate5m"),
    "red": threshold("VLLMPreemptionStorm", "vllm_engine:preemptions:rate2m"),
}


def overview() -> dashboard.Dashboard:
    page = (
        dashboard.Dashboard("vLLM overview")
        .uid("vllm-monitor-overview")
        .description(
            "Is it serving, and if not, where does it jam. Reads recorded names only; the rules must be loaded."
        )
        .tags(["vllm", "vllm-monitor"])
        .readonly()
        .time("now-1h", "now")
        .refresh("30s")
        .timezone("browser")
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .variables(_variables())
        .link(_other_dashboards())
        .annotation(_firing())
    )
    for title, panels in _rows().items():
        page = page.with_row(dashboard.Row(title))
        for panel in panels:
            page = page.with_panel(panel.span(FULL_WIDTH // len(panels)))
    return page


def _rows() -> dict[str, list[Panel]]:
    return {
        "Alerts": _alerts(),
        "Now": _now(),
        "Load": _load(),
        "Latency": _latency(),
        "KV cache": _kv_cache(),
    }


def _alerts() -> list[Panel]:
    firing = f'ALERTS{{alertstate="firing", alertname=~"VLLM.+", {SERVERS}}} * 2'
    pending = f'ALERTS{{alertstate="pending", alertname=~"VLLM.+", {SERVERS}}}'
    about = About("Alerts", "Pending: true, but not yet for long enough. Firing: somebody has been told.", "none")
    query = Query(f"max by (alertname, instance) ({firing} or {pending})", "{{alertname}} {{instance}}")
    return [states(about, query, {1: ("pending", "yellow"), 2: ("firing", "red")})]


def _now() -> list[Panel]:
    down = About("Servers down", "Servers whose last scrape failed.", "short", "VLLMTargetDown")
    running = About("Running now", "Requests in the batches of all engines.", "short")
    waiting = About("Waiting now", "Requests in the longest queue of any engine.", "short", "VLLMRequestsWaiting")
    kv = About("KV cache now", "The fullest engine, 90th percentile of a minute.", "percentunit", "VLLMKVCacheFull")
    tokens = About("Generation now", "Tokens generated a second, all engines.", "suffix: tok/s")
    ttft = About("First token now", "95th percentile over 5 minutes, slowest engine.", "s")
    return [
        number(down, Query(f"count(up{{{SERVERS}}}) - sum(up{{{SERVERS}}})", "down"), steps={"red": 1}),
        number(running, Query(f"sum(vllm_engine:requests_running{{{ENGINES}}})", "running")),
        number(waiting, Query(f"max(vllm_engine:requests_waiting:p50_1m{{{ENGINES}}})", "waiting"), steps=WAITING),
        number(kv, Query(f"max(vllm_engine:kv_cache_usage:p90_1m{{{ENGINES}}})", "used"), steps=KV_FULL),
        number(tokens, Query(f"sum(vllm_engine:generation_tokens:rate1m{{{ENGINES}}})", "tokens")),
        number(ttft, Query(f"max(vllm_engine:ttft_seconds:p95_5m{{{ENGINES}}})", "p95")),
    ]


def _load() -> list[Panel]:
    requests = About(
        "Requests",
        "In the batch, and in the queue. A queue longer than the batch is overload; a queue beside an empty batch is a "
        "blocked scheduler. The line is where VLLMRequestsWaiting counts from.",
        "short",
        "VLLMOverloaded",
    )
    tokens = About(
        "Tokens",
        "Read and generated, a second. Flat at 0 while requests run: a hang, or one long prefill.",
        "suffix: tok/s",
        "VLLMEngineStuck",
    )
    finished = About("Finished requests", "By reason. Client disconnects are counted nowhere.", "reqps")
    return [
        lines(
            requests,
            Query(f"vllm_engine:requests_running{{{ENGINES}}}", f"running {ENGINE}"),
            Query(f"vllm_engine:requests_waiting{{{ENGINES}}}", f"waiting {ENGINE}"),
            steps=WAITING,
        ),
        lines(
            tokens,
            Query(f"vllm_engine:prompt_tokens:rate1m{{{ENGINES}}}", f"prompt {ENGINE}"),
            Query(f"vllm_engine:generation_tokens:rate1m{{{ENGINES}}}", f"generation {ENGINE}"),
        ),
        lines(
            finished,
            Query(
                f"sum by (finished_reason) (vllm_engine:requests_finished:rate5m{{{ENGINES}}})", "{{finished_reason}}"
            ),
        ),
    ]


def _latency() -> list[Panel]:
    ttft = About("Time to first token", "95th percentile over 5 minutes. Known as soon as a first token leaves.", "s")
    between = About("Time between tokens", "95th percentile over 5 minutes, for each output of the engine.", "s")
    whole = About("Whole request", "95th percentile over 5 minutes. Known when a request ends: silent in a stall.", "s")
    return [
        lines(ttft, Query(f"vllm_engine:ttft_seconds:p95_5m{{{ENGINES}}}", ENGINE)),
        lines(between, Query(f"vllm_engine:inter_token_seconds:p95_5m{{{ENGINES}}}", ENGINE)),
        lines(whole, Query(f"vllm_engine:e2e_seconds:p95_5m{{{ENGINES}}}", ENGINE)),
    ]


def _kv_cache() -> list[Panel]:
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
    return [
        lines(
            usage,
            Query(f"vllm_engine:kv_cache_usage:ratio{{{ENGINES}}}", f"now {ENGINE}"),
            Query(f"vllm_engine:kv_cache_usage:p90_1m{{{ENGINES}}}", f"p90 {ENGINE}"),
            steps=KV_FULL,
            top=1,
        ),
        lines(preemptions, Query(f"vllm_engine:preemptions:rate5m{{{ENGINES}}}", ENGINE), steps=PREEMPTIONS),
    ]


def _variables() -> list[Builder[models.VariableModel]]:
    source = dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus")
    return [
        source,
        _label("job", "Job", "label_values(up, job)"),
        _label("model_name", "Model", 'label_values(vllm_engine:requests_running{job=~"$job"}, model_name)'),
        # Of `up`, not of an engine's series: a server that is down must stay in the list.
        _label("instance", "Instance", 'label_values(up{job=~"$job"}, instance)'),
    ]


def _label(name: str, label: str, query: str) -> dashboard.QueryVariable:
    variable = dashboard.QueryVariable(name).label(label).datasource(DATASOURCE).query(query).definition(query)
    variable = variable.multi(True).include_all(True).all_value(".+").sort(models.VariableSort.ALPHABETICAL_ASC)
    return variable.refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)


def _other_dashboards() -> dashboard.DashboardLink:
    link = dashboard.DashboardLink("vLLM").type(models.DashboardLinkType.DASHBOARDS).tags(["vllm"])
    return link.as_dropdown(True).keep_time(True).include_vars(True)


def _firing() -> dashboard.AnnotationQuery:
    firing = dashboard.AnnotationQuery().name("Firing alerts").datasource(DATASOURCE).enable(True).icon_color("red")
    firing = firing.expr(f'ALERTS{{alertstate="firing", alertname=~"VLLM.+", {SERVERS}}}')
    return firing.title_format("{{alertname}}").text_format("{{instance}} {{engine}}").tag_keys("severity,model_name")
