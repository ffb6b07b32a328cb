"""A rule that finds something at a moment is never called blind at that moment, whatever the rule."""

from functools import lru_cache
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.model.instant import SECOND, Instant
from monitor.promql import Engine, PromqlError, Vector, parse
from monitor.rules.spec import AlertingRule, RuleGroup
from monitor.scrape.labels import LabelMaker
from monitor.scrape.page import PageReader
from monitor.scrape.text import TEXT
from monitor.scrape.whole import Ingest
from monitor.sight.fleet import View
from monitor.sight.offer import Offer, offer_of
from monitor.sight.report import Report
from monitor.storage.window import Window
from tests.differential.expressions import Expressions
from tests.scrape.pages import recorded_pages
from tests.sight.seeing import TARGET

START: Instant = 1_700_000_000_000
# What the expressions are about, in place of what the generator knows; some of it is not on the page.
NAMES = {
    "latency_seconds_bucket": "vllm:time_to_first_token_seconds_bucket",
    "requests_total": "vllm:request_success_total",
    "errors_total": "vllm:gpu_cache_usage_perc",
    "wild": "vllm:spec_decode_num_drafts_total",
    "path": "finished_reason",
    "version": "engine",
    "nosuch": "vllm:request_error_total",
    '"/a"': '"stop"',
    '"/b"': '"error"',
    "@middle@": "1700000030",
}


@lru_cache
def world() -> tuple[Window, Offer, Instant]:
    """Return a minute of a recorded overload in a window, what its last page offers, and when that was."""
    window, reader = Window(10**15), PageReader(Ingest(labels_of=LabelMaker(TARGET)))
    block = window.block("target")
    for number, text in enumerate(recorded_pages()[120:181:15]):
        at = START + number * 15 * SECOND
        page = reader.read(text.encode(), TEXT)
        columns = [block.column(one.labels, counter=one.counter) for one in page.series]
        up = block.column(TARGET.with_(__name__="up"))
        block.append(at, [*columns, up], [*page.values, 1.0])
    return window, offer_of((one.labels for one in page.series), page.families, TARGET, "0.32.0"), at


@given(st.integers(0, 2**32))
@settings(max_examples=500, deadline=None)
def test_what_finds_something_is_not_called_blind(seed: int) -> None:
    window, offer, at = world()
    text = Expressions(Random(seed)).any()  # noqa: S311 - repeatable
    for old, new in NAMES.items():
        text = text.replace(old, new)
    try:
        value = Engine(window).instant(parse(text), at).value
    except PromqlError:
        return
    if isinstance(value, Vector) and len(value):
        report = Report([RuleGroup("g", rules=(AlertingRule("A", text),))])
        assert report.findings([View.of(offer, report.leaves)]) == (), text
