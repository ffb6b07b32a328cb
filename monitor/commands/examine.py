"""`vllm-monitor check --target`: every rule and every query of a dashboard against live servers, or pages in files."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from monitor.commands.page import PageFileError, read_page
from monitor.expressions import check_expr
from monitor.model.instant import SECOND, Duration
from monitor.model.labels import INSTANCE, JOB, Labels
from monitor.model.target import Target
from monitor.ownnames import own_names
from monitor.probe.client import Client
from monitor.probe.options import ROUND
from monitor.probe.questions import Questions, Round
from monitor.probe.readings import NOTHING
from monitor.promql.needs import Leaf
from monitor.rules.spec import AlertingRule, RuleGroup
from monitor.scrape.content import format_of
from monitor.scrape.errors import ScrapeError
from monitor.scrape.fetch import Fetcher
from monitor.scrape.labels import LabelMaker
from monitor.scrape.options import ScrapeOptions
from monitor.scrape.page import PageReader
from monitor.scrape.shape import Page
from monitor.scrape.whole import Ingest
from monitor.sight.fleet import View
from monitor.sight.offer import Offer, offer_of
from monitor.sight.reason import Blind
from monitor.sight.report import Report

_AT_ONCE = 8
# For all questions together; they are asked once, and a server that is busy answers slowly.
PROBES: Duration = 15 * SECOND
ALERT, RECORD, QUERY = "alert", "record", "query"
# The file and the name of a group, and the number of a rule in it.
Place = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Seen:
    """
    One page: whose it is, what it offers or why it could not be had.

    `probes` is what the server answered beside it, None where nobody asked.
    """

    labels: Labels
    where: str
    offer: Offer | None = None
    error: str = ""
    probes: Round | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A rule, or the query of a panel, on one target; `error`: it is none that can be evaluated."""

    kind: str
    group: str
    name: str
    blind: Blind | None = None
    error: str = ""

    @property
    def health(self) -> str:
        if self.error:
            return "err"
        return "ok" if self.blind is None else "nodata"

    @property
    def works(self) -> bool:
        """Whether it finds something, or what runs explains why not."""
        return not self.error and (self.blind is None or self.blind.reason.explained)


@dataclass(frozen=True, slots=True)
class Examined:
    """What came of one target."""

    seen: Seen
    rows: Sequence[Row] = field(default_factory=tuple)

    @property
    def works(self) -> bool:
        return not self.seen.error and all(row.works for row in self.rows)


def from_server(target: Target, options: ScrapeOptions) -> Seen:
    """Fetch the page of a target, and ask what it does not say."""
    try:
        page = fetched(target, options)
    except ScrapeError as err:
        return Seen(target.labels, target.url, error=str(err))
    probes = Questions(partial(Client, target.url, options, PROBES))(ROUND, NOTHING)
    offer = offer_of((one.labels for one in page.series), page.families, target.labels, probes.readings.version)
    return Seen(target.labels, target.url, offer, probes=probes)


def fetched(target: Target, options: ScrapeOptions) -> Page:
    """Return the page of a target. Raises ScrapeError."""
    fetch = Fetcher(target.url, options)
    try:
        answer = fetch()
        form = format_of(answer.content_type, options.fallback_scrape_protocol)
        ingest = Ingest(labels_of=LabelMaker(target.labels, options.honor_labels, options.label_limits))
        return PageReader(ingest).read(answer.body, form)
    finally:
        fetch.close()


def from_file(path: Path, version: str = "") -> Seen:
    """Read a page in a file, as one of a job `vllm`; `version` is the server's, where somebody knows it."""
    labels = Labels.of({JOB: "vllm", INSTANCE: str(path)})
    try:
        page = read_page(path).page
    except PageFileError as err:
        return Seen(labels, str(path), error=str(err))
    series = (one.labels.with_(labels) for one in (*page.series, *(timed.series for timed in page.timed)))
    return Seen(labels, str(path), offer_of(series, page.families, labels, version))


def from_servers(targets: Iterable[tuple[Target, ScrapeOptions]]) -> list[Seen]:
    """Fetch several pages, some at once."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda one: from_server(*one), targets))


def examined(pages: Sequence[Seen], groups: Sequence[RuleGroup], queries: Sequence[RuleGroup]) -> list[Examined]:
    """Judge rules, which have been checked, and queries on each page."""
    sound, errors = _sound(queries)
    report = Report([*groups, *sound], own_names())
    findings = report.findings(_views(pages, report.leaves))
    blind = {(one.target, one.file, one.group, one.number): one.blind for one in findings}

    def rows(seen: Seen) -> Iterable[Row]:
        for group in (*groups, *queries):
            for number, rule in enumerate(group.rules):
                place = (group.file, group.name, number)
                kind = QUERY if group in queries else ALERT if isinstance(rule, AlertingRule) else RECORD
                yield Row(kind, group.name, rule.name, blind.get((seen.labels, *place)), errors.get(place, ""))

    return [
        Examined(seen, tuple(rows(seen)) if seen.offer is not None and seen.offer.running is not None else ())
        for seen in pages
    ]


def _views(pages: Iterable[Seen], leaves: Iterable[Leaf]) -> list[View]:
    wanted = tuple(leaves)
    return [View.of(seen.offer, wanted) for seen in pages if seen.offer is not None]


def _sound(queries: Iterable[RuleGroup]) -> tuple[list[RuleGroup], dict[Place, str]]:
    """Return the queries with what cannot be evaluated replaced by what needs nothing, and what is wrong with it."""
    sound: list[RuleGroup] = []
    errors: dict[Place, str] = {}
    for group in queries:
        rules = list(group.rules)
        for number, rule in enumerate(rules):
            problem = check_expr(rule.expr)
            if problem is not None:
                errors[group.file, group.name, number] = problem.what
                rules[number] = AlertingRule(rule.name, "vector(1)")
        sound.append(RuleGroup(group.name, group.file, rules=tuple(rules)))
    return sound, errors
