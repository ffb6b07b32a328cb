"""The daemon's own parts live through a story, on a clock that is moved; what fired stands in the window afterwards."""

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from prometheus_client import CollectorRegistry

from monitor.build import Builder, Parts
from monitor.clock import VirtualClock
from monitor.config.read import load
from monitor.dispatch.notification import Notification, NotifyError
from monitor.dispatch.silence import Silences
from monitor.dispatching import Dispatching
from monitor.embedded import wanted_names
from monitor.expressions import check_expr, check_template
from monitor.metrics import Metrics
from monitor.model.instant import HOUR, Duration, Instant
from monitor.model.labels import INSTANCE
from monitor.model.target import Target
from monitor.ownseries import OwnSeries
from monitor.pipeline import Pipeline
from monitor.replay import replay
from monitor.reporting import refresh, report
from monitor.rules.rulefmt import read_rules
from monitor.scrape.options import ScrapeOptions
from monitor.scrape.target import ScrapeLoop
from monitor.storage.column import Column
from monitor.storage.window import Window
from tests.incidents.firing import Firing, firings
from tests.incidents.hosts import Life, Scraping
from tests.incidents.probing import Probing
from tests.incidents.story import Story

# A Monday, 2026-01-05 00:00 UTC.
START: Instant = 1_767_571_200_000
FOREVER: Duration = 1_000 * HOUR


@dataclass(frozen=True)
class Played:
    """What the daemon saw and found; `scraped` and `probed` are the series that no rule wrote."""

    story: Story
    firings: Sequence[Firing]
    scraped: Sequence[Column]
    probed: Sequence[Column]


def play(story: Story, rules: Sequence[Path], reading: Sequence[Path] = ()) -> Played:
    """Live through `story` with the rule files `rules`; what `reading` reads is kept as well."""
    with tempfile.TemporaryDirectory(prefix="vllm-monitor-incident-") as folder:
        return _Stage(story, rules, reading, Path(folder)).play()


@dataclass
class _Receiver:
    """Whoever is told; from `deaf_from` on nobody."""

    clock: VirtualClock
    deaf_from: Instant | None

    def notify(self, notification: Notification) -> None:
        del notification
        if self.deaf_from is not None and self.clock.now() >= self.deaf_from:
            raise NotifyError("nobody home", reason="unreachable", retryable=True)


@dataclass
class _Stage:
    story: Story
    rules: Sequence[Path]
    reading: Sequence[Path]
    folder: Path
    clock: VirtualClock = field(default_factory=lambda: VirtualClock(START))
    window: Window = field(default_factory=Window)

    def play(self) -> Played:
        story = self.story
        registry = CollectorRegistry()
        metrics = Metrics(registry, "incidents")
        metrics.reload_successful.set(1)
        builder = Builder(self.clock, self.window, metrics, draws=False)
        parts, lives = self._parts(builder)
        dispatcher = Dispatching(parts.config, parts.integrations).dispatcher
        silences = Silences()
        own = OwnSeries(registry, lambda: refresh(metrics, pipeline, silences, state_written=True), "monitor:9100")
        pipeline = builder.assemble(parts, dispatcher, partial(report, metrics), own=own)
        self._keep_all(parts, pipeline)
        is_probed = {host.name: host.probed for host in story.hosts}
        probing = [
            Probing(lives[loop.target.url], loop.target.labels, self.window)
            for loop in pipeline.loops
            if is_probed[loop.target.labels.value(INSTANCE)]
        ]

        def before(slot: Instant) -> None:
            for each in probing:
                each.probe(slot)

        replay(pipeline, self.clock, range(START, START + story.duration + 1, story.interval), before)
        blocks = dict(self.window.blocks())
        scraped = [column for loop in pipeline.loops for column in blocks[loop.owner].columns.values()]
        asked = [column for each in probing for column in each.block.columns.values()]
        return Played(story, firings(self.window, START, story.interval), scraped, asked)

    def _parts(self, builder: Builder) -> tuple[Parts, dict[str, Life]]:
        parts = builder.build(load(self._config()))
        lives: dict[str, Life] = {}
        loops: dict[tuple[Target, ScrapeOptions], ScrapeLoop] = {}
        hosts = {host.name: host for host in self.story.hosts}
        for target, options in parts.loops:
            lives[target.url] = hosts[target.labels.value(INSTANCE)].begin(START)
            scraping = Scraping(lives[target.url], self.clock.now, options.scrape_timeout)
            loops[target, options] = ScrapeLoop(target, options, self.window, scraping.fetch, seconds=scraping.seconds)
        receiver = _Receiver(self.clock, None if self.story.deaf_from is None else START + self.story.deaf_from)
        return replace(parts, loops=loops, notifiers=dict.fromkeys(parts.notifiers, receiver)), lives

    def _keep_all(self, parts: Parts, pipeline: Pipeline) -> None:
        """Keep what foreign rules read as well, and all of it: afterwards a Prometheus is asked about it."""
        self.window.retention = FOREVER
        groups = read_rules(self.reading, check_expr, check_template)
        others = [rule.expr for group in groups for rule in group.rules]
        wanted = wanted_names([*parts.expressions, *others])
        for loop in pipeline.loops:
            loop.wanted = wanted

    def _config(self) -> Path:
        targets: defaultdict[str, list[str]] = defaultdict(list)
        for host in self.story.hosts:
            targets[host.job].append(host.name)
        jobs = "".join(
            f"  - {{job_name: {job}, static_configs: [{{targets: {names}}}]}}\n" for job, names in targets.items()
        )
        interval = f"{self.story.interval // 1000}s"
        files = "".join(f"  - {path.resolve()}\n" for path in self.rules)
        path = self.folder / "monitor.yaml"
        path.write_text(
            f"global: {{scrape_interval: {interval}, scrape_timeout: 5s}}\n"
            f"scrape_configs:\n{jobs}rule_files:\n{files}"
            "route: {receiver: oncall, group_by: [alertname, model_name], group_wait: 0s}\n"
            "receivers: [{name: oncall, console_configs: [{}]}]\n"
            f"storage: {{path: {self.folder / 'data'}}}\n"
        )
        return path
