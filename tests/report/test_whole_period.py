"""Percentiles of a period, from what the shipped rules record, against the histogram that the server itself counted."""

import re
from collections.abc import Mapping, Sequence
from math import inf

import pytest

from monitor.clock import monotonic_seconds
from monitor.embedded import EmbeddedQuery, WindowAppender, wanted_names
from monitor.expressions import check_expr, check_template
from monitor.model.instant import MINUTE, SECOND, Duration, Instant
from monitor.model.labels import Labels
from monitor.model.target import Target
from monitor.promql import Engine, Matrix, parse
from monitor.report.distribution import percentile
from monitor.report.gather import Points, gather
from monitor.report.period import Period
from monitor.report.questions import Distribution
from monitor.rules.context import Context
from monitor.rules.manager import Manager
from monitor.rules.rulefmt import read_rules
from monitor.scrape.options import ScrapeOptions
from monitor.scrape.target import Answer, ScrapeLoop
from monitor.shipped import shipped_rules
from monitor.simulator.script import Lengths, Phase
from monitor.storage.window import Window
from tests.simulator.reading import play

FAMILIES = {
    Distribution.TTFT: "vllm:time_to_first_token_seconds_bucket",
    Distribution.ITL: "vllm:inter_token_latency_seconds_bucket",
    Distribution.E2E: "vllm:e2e_request_latency_seconds_bucket",
    Distribution.PROMPT: "vllm:request_prompt_tokens_bucket",
}
TARGET = Target("vllm", "http://sim:8000/metrics", Labels.of(job="vllm", instance="sim:8000"), Labels.of({}))
CONTENT_TYPE = "text/plain; version=0.0.4"
LENGTH: Duration = 60 * MINUTE


def counted(page: str, family: str) -> dict[float, float]:
    found = re.findall(rf'^{family}{{[^}}]*le="([^"]+)"[^}}]*}} (\S+)$', page, re.MULTILINE)
    return {float(edge): float(count) for edge, count in found}


def grown(before: Mapping[float, float], after: Mapping[float, float]) -> dict[float, float]:
    return {edge: count - before.get(edge, 0) for edge, count in after.items()}


def test_what_is_recorded_of_a_period_adds_up_to_what_the_server_counted() -> None:
    simulator = play(Phase(at=0, duration=2 * LENGTH, clients=6, prompt=Lengths(1, 400), output=Lengths(10, 100)))
    start = -(-simulator.start // (5 * MINUTE)) * 5 * MINUTE
    specs = [spec for spec in read_rules(shipped_rules(), check_expr, check_template) if "distributions" in spec.name]
    window = Window()
    names = wanted_names([rule.expr for spec in specs for rule in spec.rules])
    loop = ScrapeLoop(
        TARGET, ScrapeOptions(), window, lambda: Answer(simulator.page().encode(), CONTENT_TYPE), wanted=names
    )
    manager = Manager(specs, Context(EmbeddedQuery(Engine(window)), WindowAppender(window)), MINUTE, monotonic_seconds)
    pages = {}
    for at in range(start, start + LENGTH + 1, 15 * SECOND):
        simulator.advance(at)
        loop.scrape(at)
        if at % (5 * MINUTE) == 0:
            manager.evaluate(at)
        pages[at] = simulator.page()

    def ask(expr: str, begin: Instant, end: Instant, step: Duration, /) -> Sequence[Points]:
        value = Engine(window).range(parse(expr), begin, end, step).value
        assert isinstance(value, Matrix)
        return [Points(one.labels, list(one.times), list(one.values)) for one in value.series]

    found = gather(ask, Period(start, start + LENGTH))
    for distribution, family in FAMILIES.items():
        truth = grown(*(counted(pages[at], family) for at in (start, start + LENGTH)))
        (counts,) = found.distributions[distribution].values()
        assert counts[inf] == pytest.approx(truth[inf], rel=0.03)
        for ratio in (0.5, 0.95, 0.99):
            assert percentile(counts, ratio) == pytest.approx(percentile(truth, ratio), rel=0.05)
