"""
The PromQL compliance suite of the Prometheus project, statement by statement, beside the real Prometheus 3.

Its eleven statements are the keys of STATEMENTS, in its order. The queries are range queries, as there; they are our
own, over the same functions, operators, ranges and offsets. What it does not cover is in tests/differential and
tests/conformance.
"""

import math
from collections.abc import Iterator
from itertools import product

import pytest

from monitor.model.instant import MINUTE, SECOND
from monitor.model.labels import Labels
from monitor.model.sample import STALE
from monitor.promql import Engine
from monitor.storage.window import Window
from tests.differential.comparison import difference, ours
from tests.differential.remote_write import Series, push
from tests.differential.server import Server, prometheus
from tests.engines import engine

FIRST = 1_700_000_010_000
INTERVAL = 15 * SECOND
ROWS = 90 * MINUTE // INTERVAL
START, END, STEP = FIRST + 75 * MINUTE, FIRST + 85 * MINUTE, 45 * SECOND

RANGES = ("1s", "15s", "1m", "5m", "15m", "1h")
SIMPLE = ("sum", "avg", "max", "min", "count", "stddev", "stdvar")
GROUPINGS = ("", "by ()", "by (instance)", "by (instance, mode)", "by (none)", "without ()", "without (instance)")
OVER_TIME = ("sum", "avg", "max", "min", "count", "stddev", "stdvar", "absent", "last")
QUANTILES = ("-0.5", "0.1", "0.5", "0.75", "0.95", "0.90", "0.99", "1", "1.5")
ARITHMETIC = ("+", "-", "*", "/", "%", "^")
COMPARISON = ("==", "!=", "<", ">", "<=", ">=")
NUMBERS = ("1", "-1.5", "(time() / 1e9)")
MATHEMATICS = ("abs", "ceil", "floor", "exp", "sqrt", "ln", "log2", "log10", "round")
DATES = ("minute", "hour", "day_of_month", "day_of_week", "days_in_month", "month", "year")


def every(form: str, *values: tuple[str, ...]) -> list[str]:
    """Return `form` with every combination of `values`."""
    return [form.format(*some) for some in product(*values)]


STATEMENTS = {
    "literals and precedence": [
        *("42", "1.234", ".123", "1.23e-3", "0x3d", "Inf", "+Inf", "-Inf", "NaN", "-1 ^ 2", "1_000 * 2"),
        *("1 * 2 + 4 / 6 - 10 % 2 ^ 2", "2 ^ 3 ^ 2", "-(1 + 2) * 3", "1 > bool 2 == bool 0"),
    ],
    "selectors": [
        *("cpu_seconds_total", '{__name__="cpu_seconds_total"}', 'cpu_seconds_total{mode="idle"}'),
        *('cpu_seconds_total{mode!="idle"}', 'cpu_seconds_total{instance=~"a.*"}', 'cpu_seconds_total{mode=~"us|idl"}'),
        *('cpu_seconds_total{mode!~"us.*"}', '{mode="user"}', 'cpu_seconds_total{mode=~"user",instance!="b:1"}'),
        *('{__name__=~".*"}', "{}", "nonexistent", "intermittent", 'cpus{none=""}', "sum(intermittent)"),
        *every("cpus offset {}", ("1m", "5m", "10m", "-1m", "-5m")),
    ],
    "aggregations": [
        *every("{} {} (cpu_seconds_total)", SIMPLE, GROUPINGS),
        *every("{}(nonexistent)", SIMPLE),
        *every("{} {} (3, memory_bytes)", ("topk", "bottomk"), ("", "by (instance)", "without (type)")),
        *every("quantile {} ({}, memory_bytes)", ("", "by (type)"), QUANTILES),
        *("max by (type) (sum by (instance, type) (memory_bytes))", "count(sum by (instance) (cpu_seconds_total) > 0)"),
        *("quantile(NaN, memory_bytes)", "topk(scalar(cpus{instance='a:1'}), cpu_seconds_total)", "group(cpus)"),
    ],
    "binary operators": [
        *every("memory_bytes {} {}", ARITHMETIC, NUMBERS),
        *every("{} {} memory_bytes", NUMBERS, ARITHMETIC),
        *every("memory_bytes {} {}", COMPARISON, ("4096", "(time() / 4e5)")),
        *every("4096 {} memory_bytes", COMPARISON),
        *every("memory_bytes {} bool 4096", COMPARISON),
        *every("1 {} bool 2", COMPARISON),
        *every("memory_bytes {} on (instance, job, type) memory_bytes", (*ARITHMETIC, *COMPARISON)),
        *every(
            "sum by (instance, type) (memory_bytes) {} on (instance, type) group_left (job) memory_bytes", ARITHMETIC
        ),
        *every("memory_bytes {} bool on (instance, job, type) memory_bytes", COMPARISON),
        *(
            "cpu_seconds_total / on (instance, job) group_left () cpus",
            "cpu_seconds_total > on (instance) group_left cpus",
        ),
        *("cpus * on (instance) group_right (none) cpu_seconds_total", "cpus * on (__name__, instance) cpus", "1 > 2"),
        *("memory_bytes / on (none) cpus", "cpu_seconds_total / on (instance) cpus", "cpus - ignoring (none) cpus"),
        *(
            "memory_bytes and cpus",
            "memory_bytes and on (instance) cpus > 2",
            "cpus or memory_bytes",
            "cpus unless cpus > 2",
        ),
    ],
    "timestamps": [
        *("timestamp(cpus)", "timestamp(cpus * 1)", "timestamp(-cpus)", "timestamp(timestamp(cpus))"),
        *("timestamp(cpus offset 5m)", "timestamp(intermittent)", "timestamp(vector(1))"),
    ],
    "infinities, NaN and unary minus": [
        *every("cpus {} {}", ARITHMETIC, ("Inf", "-Inf", "NaN", "0")),
        *("-cpus", "--cpus", "-(cpus ^ 2)", "-cpus ^ 2", "0 / 0", "cpus / 0 - cpus / 0", "+cpus"),
    ],
    "functions of ranges": [
        *every("{}_over_time(memory_bytes[{}])", OVER_TIME, RANGES),
        *every("quantile_over_time({}, memory_bytes[{}])", QUANTILES, ("1m", "15m")),
        *every("{}(cpu_seconds_total[{}])", ("rate", "increase", "irate"), RANGES),
        *every("{}(memory_bytes[{}])", ("delta", "idelta", "deriv", "resets", "changes"), RANGES),
        *every("predict_linear(memory_bytes[{}], {})", RANGES, ("600", "-60")),
        *every("{}(intermittent[{}])", ("rate", "changes", "count_over_time", "present_over_time"), ("1m", "15m")),
        *("absent_over_time(nonexistent{a='b'}[5m])", "rate(cpus)", "rate(cpu_seconds_total[5m] offset 10m)"),
        *("double_exponential_smoothing(memory_bytes[5m], 0.5, 0.1)", "mad_over_time(memory_bytes[5m])"),
    ],
    "label_replace and label_join": [
        'label_replace(cpus, "job", "to-$1", "instance", "(.*):1")',
        'label_replace(cpus, "job", "to-$1", "instance", "(.*):")',
        'label_replace(cpus, "job", "${2}-$1", "instance", "(.)(.*)")',
        'label_replace(cpus, "job", "", "instance", ".*")',
        'label_replace(cpus, "job", "$1", "none", "(.*)")',
        'label_replace(cpus, "job", "$1", "instance", "(.*")',
        'label_replace(cpus, "~", "$1", "instance", ".*")',
        'label_replace(cpus, "instance", "one", "instance", ".*")',
        'label_join(cpus, "new", "-", "instance", "job")',
        'label_join(cpus, "job", "-", "instance", "job", "instance")',
        'label_join(cpus, "~", "-", "instance")',
        'label_join(cpus, "instance", "-", "none")',
    ],
    "mathematics, dates, clamps, vector and absent": [
        *every("{}(memory_bytes - 4096)", MATHEMATICS),
        *every("{}()", DATES),
        *every("{}(cpus * 1e8)", DATES),
        *("clamp(memory_bytes, 3000, 5000)", "clamp(cpus, 4, 2)", "clamp_min(cpus, 2)", "clamp_max(cpus, 2)"),
        *("round(memory_bytes, 500)", "sgn(memory_bytes - 4096)", "vector(1)", "vector(time())", "scalar(cpus)"),
        *("absent(cpus)", "absent(nonexistent)", 'absent(nonexistent{a="b",c=~"d"})', "absent(sum(nonexistent))"),
        *("sort(cpus)", "sort_desc(cpus)", "time()", "pi()"),
    ],
    "histogram_quantile": [
        *every("histogram_quantile({}, rate(latency_seconds_bucket[1m]))", QUANTILES),
        *("histogram_quantile(0.9, nonexistent)", "histogram_quantile(0.9, memory_bytes)"),
        *(
            'histogram_quantile(0.9, {__name__=~"latency_seconds_bucket|cpus"})',
            "histogram_quantile(NaN, latency_seconds_bucket)",
        ),
        "histogram_quantile(0.9, sum by (le) (rate(latency_seconds_bucket[5m])))",
    ],
    "count_values and subqueries": [
        'count_values("value", cpus)',
        'count_values by (type) ("value", round(memory_bytes, 1000))',
        'count_values("~", cpus)',
        *every("max_over_time(cpus[{}:10s])", ("1m", "5m", "15m")),
        "avg_over_time(rate(cpu_seconds_total[1m])[5m:45s] offset 5m)",
        "max_over_time((time() - max(memory_bytes))[5m:10s] offset 5m)",
        "sum_over_time(intermittent[15m:1m])",
    ],
}


def series() -> Iterator[Series]:
    """Yield an hour and a half of counters, gauges, a histogram, and a metric that comes and goes."""
    times = [FIRST + row * INTERVAL for row in range(ROWS)]
    for number, instance in enumerate(("a:1", "b:1", "c:1"), start=1):
        own = {"instance": instance, "job": "demo"}

        def of(name: str, values: list[float], own: dict[str, str] = own, **more: str) -> Series:
            return Labels.of(own, __name__=name, **more), list(zip(times, values, strict=True))

        for rate, mode in enumerate(("idle", "user", "system"), start=1):
            # Each restarts once.
            yield of("cpu_seconds_total", [(row + 50 * number) % 300 * rate * 1.5 for row in range(ROWS)], mode=mode)
        for size, kind in enumerate(("cached", "free"), start=1):
            waves = [4096 + 1000 * size * math.sin(row / 20 + number) for row in range(ROWS)]
            yield of("memory_bytes", waves, type=kind)
        yield of("cpus", [float(number)] * ROWS)
        for share, bound in ((0.3, "0.1"), (0.7, "0.5"), (0.95, "1"), (1.0, "+Inf")):
            yield of("latency_seconds_bucket", [math.floor(row * number * share) for row in range(ROWS)], le=bound)
        labels, points = of("intermittent", [1.0 if row // 9 % 2 else STALE for row in range(ROWS)])
        yield labels, [point for row, point in enumerate(points) if row // 9 % 2 or row % 9 == 0]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Server]]:
    window = Window(10**15)
    every_series = list(series())
    for labels, points in every_series:
        block = window.block(labels)
        column = (block.column(labels, counter=labels.name.endswith(("_total", "_bucket"))),)
        for at, value in points:
            present = () if labels.name == "intermittent" and value != 1.0 else column
            block.append(at, present, [value] * len(present))
    with prometheus(engine("prometheus", "newer"), tmp_path_factory.mktemp("prometheus")) as server:
        push(server.url, every_series)
        yield Engine(window), server


@pytest.mark.parametrize("statement", STATEMENTS)
def test_range_queries_answer_as_prometheus_does(both: tuple[Engine, Server], statement: str) -> None:
    mine, server = both
    answered = 0
    differences = []
    for query in STATEMENTS[statement]:
        theirs = server.query(query, START, END, STEP)
        answered += theirs["status"] == "success" and bool(theirs["data"]["result"])
        found = difference(query, ours(mine, query, START, END, STEP), theirs)
        if found is not None:
            differences.append(f"{query}: {found}")
    assert differences == []
    assert answered > len(STATEMENTS[statement]) / 2


def test_what_must_fail_fails(both: tuple[Engine, Server]) -> None:
    mine, _ = both
    must_fail = (
        '{__name__=~".*"}',
        "1 > 2",
        "rate(cpus)",
        "memory_bytes / on (none) cpus",
        'label_replace(cpus, "job", "$1", "instance", "(.*")',
        'label_join(cpus, "instance", "-", "none")',
    )
    assert [query for query in must_fail if ours(mine, query, START, END, STEP)["status"] != "error"] == []
