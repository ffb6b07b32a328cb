"""From a configuration to the parts it describes. Builds only; nothing is started, and nothing at work is touched."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from monitor.changes import EngineChanges
from monitor.charts.child import Child
from monitor.clock import Clock, monotonic_seconds
from monitor.config.config import Config
from monitor.dispatch.dispatcher import Dispatcher, Integration
from monitor.dispatch.notification import Notifier
from monitor.embedded import EmbeddedQuery, WindowAppender, keep, read_further_back, wanted_names
from monitor.expressions import check_expr, check_template, expressions_of
from monitor.facts import EngineFacts
from monitor.graphs import GraphPainter, range_of
from monitor.jobs import options_of, probe_options_of, targets_of
from monitor.journal import Journal
from monitor.metrics import Metrics
from monitor.model.target import Target
from monitor.notify.letter import Attempt
from monitor.notify.outbox import Outbox
from monitor.notify.slack.graph import Graphs
from monitor.notify.slack.workspace import Workspace
from monitor.ownnames import own_names
from monitor.ownseries import OwnSeries
from monitor.pipeline import Pipeline
from monitor.probe.loop import ProbeLoop
from monitor.probe.options import ProbeOptions
from monitor.probe.page import PAGE_NAMES
from monitor.probing import prober_of
from monitor.promql import Engine, Limits
from monitor.receivers import fallbacks_of, receivers_of
from monitor.rulebook.read import shipped_groups
from monitor.rules.context import Context
from monitor.rules.manager import Manager
from monitor.rules.rulefmt import read_rules
from monitor.rules.spec import RuleGroup
from monitor.scrape.fetch import Fetcher
from monitor.scrape.options import ScrapeOptions
from monitor.scrape.target import ScrapeLoop
from monitor.starts import Starts
from monitor.storage.history.keep import Keep
from monitor.storage.snapshot import REACH as SNAPSHOT_REACH
from monitor.storage.window import Window
from monitor.watching import Watch, version_in

if TYPE_CHECKING:
    from rich.console import Console

# What the numbers of a message, or its graph, may cost.
FACTS_SAMPLES, FACTS_SECONDS = 1_000_000, 1.0

TargetKey = tuple[Target, ScrapeOptions]
ProberKey = tuple[Target, ProbeOptions]


# One rule must keep neither the others nor the end of the daemon waiting: what costs more is that rule's failure.
RULE_LIMITS = Limits(points=10_000_000, seconds=3.0)


@dataclass(frozen=True)
class Parts:
    """What a configuration describes; each part is at rest."""

    config: Config
    loops: Mapping[TargetKey, ScrapeLoop]
    manager: Manager
    appender: WindowAppender
    integrations: Mapping[str, Sequence[Integration]]
    notifiers: Mapping[str, Notifier]
    expressions: Sequence[str]
    probers: Mapping[ProberKey, ProbeLoop] = field(default_factory=dict)
    watch: Watch | None = None
    keep: Keep = field(default_factory=Keep)


@dataclass(frozen=True)
class Builder:
    """
    What every configuration is built on; `build` and `assemble` belong together.

    Without `draws` no thread in Slack gets a graph, and without `probes` no target is asked for more than its page,
    whatever the configuration says. Without `watches` nobody looks which rules are blind.
    """

    clock: Clock
    window: Window
    metrics: Metrics
    draws: bool = True
    probes: bool = False
    watches: bool = False

    @cached_property
    def starts(self) -> Starts:
        """What the servers of all configurations were at their last starts."""
        return Starts()

    @cached_property
    def workspace(self) -> Workspace:
        """What the Slack bots of all configurations share, their incidents among it."""
        limits = Limits(samples=FACTS_SAMPLES, seconds=FACTS_SECONDS)
        engine = Engine(self.window, limits=limits)
        graphs = Graphs(GraphPainter(range_of(engine), Child()), self.clock.now, self.metrics.count_graph)
        return Workspace(
            self.clock.now,
            facts=EngineFacts(engine),
            changes=EngineChanges(engine, self.starts),
            graphs=graphs if self.draws else None,
            refused=self.metrics.count_simplified,
        )

    def build(self, config: Config, old: Parts | None = None, console: "Console | None" = None) -> Parts:
        """
        Return the parts; a target that `old` scrapes in the same way goes on as it is.

        `console` is where a console receiver prints, if not on standard output. Raises DocumentError when a rule file
        is wrong.
        """
        specs = rule_groups(config)
        expressions = tuple(expr for spec in specs for rule in spec.rules for expr in expressions_of(rule))
        # reference: Prometheus 3, docs/querying/basics.md: the step of a subquery that names none.
        step = config.global_.evaluation_interval
        query = EmbeddedQuery(Engine(self.window, limits=RULE_LIMITS, default_subquery_step=step))
        appender = WindowAppender(self.window) if old is None else old.appender
        context = Context(query, appender, config.global_.external_labels, config.web.external_url)
        integrations, notifiers = receivers_of(config, console, self.workspace)
        loops = self._loops(config, old.loops if old is not None else {})
        return Parts(
            config,
            loops,
            Manager(specs, context, config.global_.evaluation_interval, monotonic_seconds),
            appender,
            integrations,
            notifiers,
            expressions,
            self._probers(config, loops, old.probers if old is not None else {}) if self.probes else {},
            self._watch(specs, loops, old),
            config.storage.history.keep().with_names(read_further_back(expressions, SNAPSHOT_REACH)),
        )

    def assemble(
        self,
        parts: Parts,
        dispatcher: Dispatcher,
        report: Callable[[Attempt], None],
        journal: Journal | None = None,
        own: OwnSeries | None = None,
    ) -> Pipeline:
        """
        Return the pipeline of `parts`; from here on the window keeps what their rules read, and for how long.

        Without a journal nothing outlives the process; without `own` rules cannot read the daemon's own metrics.
        """
        if journal is not None:
            self.starts.begin(parts.config.storage.path)
        keep(self.window, parts.expressions, parts.config.storage.retention)
        wanted = wanted_names(parts.expressions)
        for loop in parts.loops.values():
            loop.wanted = wanted | PAGE_NAMES if wanted is not None and parts.probers else wanted
        return Pipeline(
            self.clock,
            self.window,
            tuple(parts.loops.values()),
            parts.manager,
            dispatcher,
            Outbox(parts.notifiers, report, journal, fallbacks=fallbacks_of(parts.config, parts.integrations)),
            self.metrics,
            journal,
            own.writer(parts.appender, wanted) if own is not None else lambda _: None,
            tuple(parts.probers.values()),
            parts.watch,
            self.starts,
        )

    def _loops(self, config: Config, old: Mapping[TargetKey, ScrapeLoop]) -> dict[TargetKey, ScrapeLoop]:
        loops: dict[TargetKey, ScrapeLoop] = {}
        for job in config.scrape_configs:
            options = options_of(job)
            for target in targets_of(job):
                key = (target, options)
                loops[key] = old.get(key) or ScrapeLoop(target, options, self.window, Fetcher(target.url, options))
        return loops

    def _watch(
        self, groups: Sequence[RuleGroup], loops: Mapping[TargetKey, ScrapeLoop], old: Parts | None
    ) -> Watch | None:
        if not self.watches:
            return None
        watch = Watch(groups, tuple(loops.values()), version_in(self.window), own_names())
        if old is not None and old.watch is not None:
            watch.take_over(old.watch)
        return watch

    def _probers(
        self, config: Config, loops: Mapping[TargetKey, ScrapeLoop], old: Mapping[ProberKey, ProbeLoop]
    ) -> dict[ProberKey, ProbeLoop]:
        probers: dict[ProberKey, ProbeLoop] = {}
        for job in config.scrape_configs:
            options = probe_options_of(job)
            if options is None:
                continue
            for target in targets_of(job):
                key = (target, options)
                probers[key] = old.get(key) or prober_of(target, options, self.window, loops[target, options.scrape])
        return probers


def rule_groups(config: Config) -> tuple[RuleGroup, ...]:
    """
    Read the rule files: those that are named, else the shipped ones, built with the values that are named.

    Raises DocumentError with all mistakes.
    """
    if config.rule_files is not None:
        return read_rules(config.rule_files, check_expr, check_template)
    return shipped_groups(config.rule_values_file, check_expr, check_template)
