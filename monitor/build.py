"""From a configuration to the parts it describes. Builds only; nothing is started, and nothing at work is touched."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from monitor.changes import EngineChanges
from monitor.charts.child import Child
from monitor.clock import Clock, monotonic_seconds
from monitor.config.config import Config
from monitor.discoveries import Discoveries
from monitor.dispatch.dispatcher import Dispatcher, Integration
from monitor.dispatch.notification import Notifier
from monitor.embedded import EmbeddedQuery, WindowAppender, keep, read_further_back, spelled_names, wanted_names
from monitor.expressions import check_expr, check_template, expressions_of
from monitor.facts import EngineFacts
from monitor.graphs import GraphPainter, range_of
from monitor.jobs import options_of, probe_options_of, settings_of, static_groups
from monitor.journal import Journal
from monitor.metrics import Metrics
from monitor.notify.letter import Attempt
from monitor.notify.outbox import Outbox
from monitor.notify.slack.graph import Graphs
from monitor.notify.slack.workspace import Workspace
from monitor.ownnames import own_names
from monitor.ownseries import OwnSeries
from monitor.pipeline import Pipeline
from monitor.pool import Job, Pool, ProberKey, TargetKey
from monitor.probe.loop import ProbeLoop
from monitor.probe.page import PAGE_NAMES
from monitor.promql import Engine, Limits, Switched
from monitor.receivers import fallbacks_of, receivers_of
from monitor.rulebook.read import shipped_groups
from monitor.rules.context import Context, Query
from monitor.rules.manager import Manager
from monitor.rules.rulefmt import read_rules
from monitor.rules.spec import RuleGroup
from monitor.scrape.target import ScrapeLoop
from monitor.starts import Starts
from monitor.storage.history.keep import Keep
from monitor.storage.snapshot import REACH as SNAPSHOT_REACH
from monitor.storage.window import Window
from monitor.watching import Watch, version_in

if TYPE_CHECKING:
    from rich.console import Console

    from monitor.upstream.upstream import Upstream

# What the numbers of a message, or its graph, may cost.
FACTS_SAMPLES, FACTS_SECONDS = 1_000_000, 1.0

# One rule must keep neither the others nor the end of the daemon waiting: what costs more is that rule's failure.
RULE_LIMITS = Limits(points=10_000_000, seconds=3.0)


@dataclass(frozen=True)
class Parts:
    """What a configuration describes; each part is at rest."""

    config: Config
    pool: Pool
    manager: Manager
    appender: WindowAppender
    integrations: Mapping[str, Sequence[Integration]]
    notifiers: Mapping[str, Notifier]
    expressions: Sequence[str]
    watch: Watch | None = None
    keep: Keep = field(default_factory=Keep)
    upstream: "Upstream | None" = None

    @property
    def loops(self) -> Mapping[TargetKey, ScrapeLoop]:
        return self.pool.members.loops

    @property
    def probers(self) -> Mapping[ProberKey, ProbeLoop]:
        return self.pool.members.probers


@dataclass(frozen=True)
class Builder:
    """
    What every configuration is built on; `build` and `assemble` belong together.

    Without `draws` no thread in Slack gets a graph, and without `probes` no target is asked for more than its page,
    whatever the configuration says. Without `watches` nobody looks which rules are blind, and without `synchronizes`
    a Prometheus is asked for the time of our clock, whatever its own says.
    """

    clock: Clock
    window: Window
    metrics: Metrics
    draws: bool = True
    probes: bool = False
    watches: bool = False
    synchronizes: bool = False

    @cached_property
    def discoveries(self) -> Discoveries:
        """What finds targets, for all configurations: what two of them share goes on."""
        return Discoveries()

    @cached_property
    def starts(self) -> Starts:
        """What the servers of all configurations were at their last starts."""
        return Starts()

    @cached_property
    def glance(self) -> Switched:
        """What evaluates the expressions of messages: quickly, or not at all."""
        return Switched(self._glance())

    @cached_property
    def workspace(self) -> Workspace:
        """What the Slack bots of all configurations share, their incidents among it."""
        engine = self.glance
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
        # reference: Prometheus 3, docs/querying/basics.md: the step of a subquery that names none.
        step = config.global_.evaluation_interval
        query = EmbeddedQuery(Engine(self.window, limits=RULE_LIMITS, default_subquery_step=step))
        appender = WindowAppender(self.window) if old is None else old.appender
        context = Context(query, appender, config.global_.external_labels, config.web.external_url, reads=spelled_names)
        upstream, groups = self._upstream(config, specs, query), specs
        if upstream is not None:
            context, groups = replace(context, query=upstream.query, ahead=upstream.query.ahead), upstream.split.groups
        read = (expr for group in groups for rule in group.rules for expr in expressions_of(rule))
        expressions = tuple(expr for expr in read if upstream is None or upstream.split.is_local(expr))
        global_ = config.global_
        integrations, notifiers = receivers_of(config, console, self.workspace)
        pool = Pool(self._jobs(config), self.window, old.pool if old is not None else None)
        return Parts(
            config,
            pool,
            Manager(groups, context, global_.evaluation_interval, monotonic_seconds, global_.rule_query_offset),
            appender,
            integrations,
            notifiers,
            expressions,
            self._watch(specs, pool, old),
            config.storage.history.keep().with_names(read_further_back(expressions, SNAPSHOT_REACH)),
            upstream,
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
        own_engine = self._glance()
        self.glance.evaluator = (
            own_engine if parts.upstream is None else parts.upstream.engine(own_engine, FACTS_SECONDS)
        )
        keep(self.window, parts.expressions, parts.config.storage.retention)
        wanted = wanted_names(parts.expressions)
        parts.pool.want(wanted | PAGE_NAMES if wanted is not None and parts.pool.probes else wanted)
        return Pipeline(
            self.clock,
            self.window,
            parts.pool,
            parts.manager,
            dispatcher,
            Outbox(parts.notifiers, report, journal, fallbacks=fallbacks_of(parts.config, parts.integrations)),
            self.metrics,
            journal,
            own.writer(parts.appender, wanted) if own is not None else lambda _: None,
            parts.watch,
            self.starts,
            parts.upstream,
        )

    def _glance(self) -> Engine:
        return Engine(self.window, limits=Limits(samples=FACTS_SAMPLES, seconds=FACTS_SECONDS))

    def _upstream(self, config: Config, groups: Sequence[RuleGroup], local: Query) -> "Upstream | None":
        if config.prometheus is None:
            return None
        # Memory that only a daemon with a Prometheus needs.
        from monitor.upstreaming import upstream_of

        clock = self.clock if self.synchronizes else None
        return upstream_of(config, config.prometheus, groups, local, self.metrics, clock)

    def _jobs(self, config: Config) -> tuple[Job, ...]:
        return tuple(
            Job(
                settings_of(job),
                options_of(job),
                probe_options_of(job) if self.probes else None,
                static_groups(job),
                self.discoveries.providers_of(job),
            )
            for job in config.scrape_configs
        )

    def _watch(self, groups: Sequence[RuleGroup], pool: Pool, old: Parts | None) -> Watch | None:
        if not self.watches:
            return None
        watch = Watch(groups, tuple(pool.members.loops.values()), version_in(self.window), own_names())
        if old is not None and old.watch is not None:
            watch.take_over(old.watch)
        return watch


def rule_groups(config: Config) -> tuple[RuleGroup, ...]:
    """
    Read the rule files: those that are named, else the shipped ones, built with the values that are named.

    Raises DocumentError with all mistakes.
    """
    if config.rule_files is not None:
        return read_rules(config.rule_files, check_expr, check_template)
    return shipped_groups(config.rule_values_file, check_expr, check_template, config.rule_settings)
