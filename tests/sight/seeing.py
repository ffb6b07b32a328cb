"""Pages as offers, and rules as the daemon reads them."""

from pathlib import Path

from monitor.expressions import check_expr, check_template
from monitor.model.labels import Labels
from monitor.promql import parse
from monitor.promql.needs import Leaf, needs
from monitor.rules.rulefmt import read_rules
from monitor.rules.spec import RecordingRule, RuleGroup
from monitor.scrape.labels import LabelMaker
from monitor.scrape.page import PageReader
from monitor.scrape.text import TEXT
from monitor.scrape.whole import Ingest
from monitor.sight.offer import Offer, offer_of

TARGET = Labels.of(job="vllm", instance="gpu-1:8000")


def offered(text: str, target: Labels = TARGET, version: str = "") -> Offer:
    """Return what a page offers as the page of `target`."""
    page = PageReader(Ingest(labels_of=LabelMaker(target))).read(text.encode(), TEXT)
    return offer_of([series.labels for series in page.series], page.families, target, version)


def leaf(selector: str) -> Leaf:
    found = needs(parse(selector))
    assert isinstance(found, Leaf)
    return found


def recording(*rules: tuple[str, str]) -> RuleGroup:
    """Return a group that records each name as an expression."""
    return RuleGroup("records", rules=tuple(RecordingRule(name, expr) for name, expr in rules))


def read(path: Path, text: str) -> tuple[RuleGroup, ...]:
    """Return the groups of a rule file with this text."""
    path.write_text(text)
    return read_rules([path], check_expr, check_template)
