"""
What the templates of the rules call.

A raw name is written once, as `vllm:…`: the prefixes under which others export vLLM's metrics, and the names that a
quantity had in older versions, are put beside it here.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from monitor.model.instant import DAY, HOUR, MINUTE
from monitor.rulebook.kinds import Span
from monitor.vllm.buckets import one_two_five
from monitor.vllm.families import PREFIXES

# Newest first. Where a version has both, they have the same labels and values: `or` takes the left one.
RENAMED: Mapping[str, Sequence[str]] = {
    "kv_cache_usage_perc": ("gpu_cache_usage_perc",),
    "prefix_cache_queries_total": ("gpu_prefix_cache_queries_total",),
    "prefix_cache_hits_total": ("gpu_prefix_cache_hits_total",),
    **{
        f"inter_token_latency_seconds_{part}": (f"time_per_output_token_seconds_{part}",)
        for part in ("bucket", "sum", "count")
    },
}
# Which dashboard shows what an alert is about, by what its name has in it: the first that fits, else the overview.
LEADS_TO: Mapping[str, str] = {
    "alerts": "^VLLMMonitor",
    "slo": "BudgetBurn$",
    "capacity": "KVCache|KVPool|KVTransfer|Preemption|Concurrency|Capacity|PrefixHits",
    "fleet": "VersionMix|ConfigDrift|EngineRank|Restart",
    "engine": "Stuck|Stalled|Stall$|Frozen|Overloaded|Waiting|LoRA|Queue|Rejected|TTFT|InterToken|Error|Aborts|"
    "Throughput|SpecDecode|LengthLimited|Corrupted|Prompts|GPU|ScrapeSlow",
}
# Where an alert of an engine comes from. An engine of V0 has no number.
AT = "{{ $labels.instance }}{{ with $labels.engine }} (engine {{ . }}){{ end }}"
# Becomes a line break with the indentation of its line, which a macro does not know.
BREAK = "\v"
_RAW = re.compile(r"\bvllm:(\w+)")


def anywhere(expr: str) -> str:
    """Return `expr` for every prefix, and for every older name of what it reads, joined by `or`."""
    ages = max((len(RENAMED.get(name, ())) for name in _RAW.findall(expr)), default=0)
    return f"{BREAK}or ".join(_under(expr, prefix, age) for age in range(ages + 1) for prefix in PREFIXES)


def _under(expr: str, prefix: str, age: int) -> str:
    def named(found: re.Match[str]) -> str:
        names = [str(found[1]), *RENAMED.get(found[1], ())]
        return prefix + names[min(age, len(names) - 1)]

    return _RAW.sub(named, expr)


def links(values: Mapping[str, Any], alert: str, by: Sequence[str] = ("instance",)) -> str:
    """Return the annotations that lead to the runbook of `alert`, and to its dashboard for its labels `by`."""
    dashboard = next((page for page, names in LEADS_TO.items() if re.search(names, alert)), "overview")
    chosen = "&".join(f"var-{label}={{{{ $labels.{label} }}}}" for label in by)
    query = f"?{chosen}" if chosen else ""
    return (
        f"runbook_url: {values['runbooks_url']}#{alert.lower()}{BREAK}"
        f"dashboard_url: {values['grafana_url']}/d/vllm-monitor-{dashboard}{query}"
    )


def le(edge: Decimal | int) -> str:
    """Return the matcher of a bucket. Prometheus 3 makes `2.0` of a whole number, others keep what the page has."""
    edge = Decimal(edge)
    return f'le=~"{int(edge)}|{int(edge)}.0"' if edge == int(edge) else f'le="{shown(edge)}"'


def token_bucket(tokens: Decimal | int) -> int:
    """Return the smallest edge of the histograms of token counts (1, 2, 5, 10 …) that is not below `tokens`."""
    return next(int(edge) for edge in one_two_five(10 * max(1, int(tokens))) if edge >= tokens)


def more_names(counts: Sequence[int]) -> str:
    """Return the regular expression of `n;a,b,c`, with more names than its own n, for each n of `counts`."""
    return f"({'|'.join(f'{count};([^,]+,){{{count}}}' for count in counts)}).+"


def words(duration: int) -> str:
    """Return `5 minutes` for 300000 ms."""
    return Span(duration).words


def roughly(duration: Decimal) -> str:
    """Return `2 days` for a little more than that, in ms: as days, hours or minutes, whichever are at least two."""
    size = next((size for size in (DAY, HOUR) if duration >= 2 * size), MINUTE)
    return words(max(1, round(duration / size)) * size)


def percent(ratio: Decimal) -> str:
    """Return `95%` for 0.95."""
    return f"{shown(ratio * 100)}%"


def shown(value: Any) -> Any:
    """Return how a value stands in a rule."""
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, bool):
        raise TypeError("true and false are for <% if %>")
    return value


def indented(text: str) -> str:
    """Return `text` with the line breaks of macros made lines."""
    lines = []
    for line in text.split("\n"):
        margin = " " * (len(line) - len(line.lstrip(" ")))
        lines.append(line.replace(BREAK, f"\n{margin}"))
    return "\n".join(lines)
