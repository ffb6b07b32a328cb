"""The daemon's own parts live through a story, on a clock that is moved; what fired stands in the window afterwards."""

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
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
from monitor.embedded import keep, wanted_names
from monitor.expressions import check_expr, check_template
from monitor.metrics import Metrics
from monitor.model.instant import HOUR, Duration, Instant
from monitor.model.labels import INSTANCE
from monitor.ownseries import OwnSeries
from monitor.pipeline import Pipeline
from monitor.pool import Members, ProberKey, TargetKey
from monitor.probe.errands import Exposure
from monitor.probe.loop import ProbeLoop
from monitor.probe.page import PAGE_NAMES
from monitor.probe.questions import Questions
from monitor.replay import replay
from monitor.reporting import refresh, report
from monitor.rules.rulefmt import read_rules
from monitor.scrape.shape import Page
from monitor.scrape.target import ScrapeLoop
from monitor.sight.blindness import Blindness
from monitor.storage.column import Column
from monitor.storage.window import Window
from tests.incidents.firing import Firing, firings
from tests.incidents.hosts import Asking, Fetching
from tests.incidents.story import Story

# A Monday, 2026-01-05 00:00 UTC.
START: Instant = 1_767_571_200_000
FOREVER: Duration = 1_000 * HOUR


@dataclass(frozen=True)
class Played:
    """What the daemon saw and found; `scraped` are what the pages said, without probes and rules."""

    story: Story
    firings: Sequence[Firing]
    scraped: Sequence[Column]


def _page_of(loop: ScrapeLoop) -> Page:
    return loop.page


def _unprobed(story: Story, job: str) -> str:
    """Return the setting that leaves hosts alone that are not vLLM."""
    return "" if all(host.probed for host in story.hosts if host.job == job) else ", probe: {enabled: false}"


def play(story: Story, rules: Sequence[Path], reading: Sequence[Path] = ()) -> Played:
    """Live through `story` with the rule files `rules`; what `reading` reads is kept as well."""
    with tempfile.TemporaryDirectory(prefix="vllm-monitor-incident-") as folder:
        return Stage(story, rules, Path(folder), reading).play()


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
class Stage:
    """The daemon on a clock that is moved, with the hosts of a story in the place of sockets; `folder` is its own."""

    story: Story
    rules: Sequence[Path]
    folder: Path
    reading: Sequence[Path] = ()
    start: Instant = START
    clock: VirtualClock = field(default_factory=lambda: VirtualClock(START))
    window: Window = field(default_factory=Window)

    def play(self) -> Played:
        story = self.story
        pipeline = self.live(range(START, START + story.duration + 1, story.interval))
        blocks = dict(self.window.blocks())
        scraped = [column for loop in pipeline.loops for column in blocks[loop.owner].columns.values()]
        return Played(story, firings(self.window, START, story.interval), scraped)

    def live(self, slots: Iterable[Instant]) -> Pipeline:
        """Live through the slots; afterwards everything stands in the window."""
        registry = CollectorRegistry()
        metrics = Metrics(registry, "incidents")
        metrics.reload_successful.set(1)
        builder = Builder(self.clock, self.window, metrics, draws=False, probes=True, watches=True)
        parts = self._parts(builder)
        silences = Silences()
        registry.register(Blindness(lambda: parts.watch.sight.unexplained if parts.watch else ()))
        own = OwnSeries(registry, lambda: refresh(metrics, pipeline, silences, state_written=True), "monitor:9100")
        dispatcher = Dispatching(parts.config, parts.integrations).dispatcher
        pipeline = builder.assemble(parts, dispatcher, partial(report, metrics), own=own)
        self._keep_all(parts, pipeline)
        replay(pipeline, self.clock, slots)
        return pipeline

    def _parts(self, builder: Builder) -> Parts:
        """Build what the configuration describes, with hosts of the story in the place of sockets."""
        config = load(self._config())
        bare = builder.build(replace(config, rule_files=()))
        lives = {host.name: host.begin(self.start) for host in self.story.hosts}
        loops: dict[TargetKey, ScrapeLoop] = {}
        for target, options in bare.loops:
            fetch = Fetching(lives[target.labels.value(INSTANCE)], self.clock.now, options.scrape_timeout)
            loops[target, options] = ScrapeLoop(target, options, self.window, fetch, seconds=fetch.seconds)
        probers: dict[ProberKey, ProbeLoop] = {}
        for target, probe in bare.probers:
            loop = loops[target, probe.scrape]
            connect = partial(Asking, lives[target.labels.value(INSTANCE)], self.clock.now, probe.timeout)
            errands = (Exposure(connect, probe.paths),)
            page = partial(_page_of, loop)
            probers[target, probe] = ProbeLoop(
                target, probe, self.window, Questions(connect), errands=errands, page=page
            )
        bare.pool.members = Members(loops, probers)
        parts = builder.build(config, replace(bare, watch=None))
        receiver = _Receiver(self.clock, None if self.story.deaf_from is None else START + self.story.deaf_from)
        return replace(parts, notifiers=dict.fromkeys(parts.notifiers, receiver))

    def _keep_all(self, parts: Parts, pipeline: Pipeline) -> None:
        """Keep what foreign rules read as well, and all of it: afterwards a Prometheus is asked about it."""
        groups = read_rules(self.reading, check_expr, check_template)
        others = [rule.expr for group in groups for rule in group.rules]
        keep(self.window, [*parts.expressions, *others], FOREVER)
        wanted = wanted_names([*parts.expressions, *others])
        for loop in pipeline.loops:
            loop.wanted = wanted | PAGE_NAMES if wanted is not None else None

    def _config(self) -> Path:
        targets: defaultdict[str, list[str]] = defaultdict(list)
        for host in self.story.hosts:
            targets[host.job].append(host.name)
        jobs = "".join(
            f"  - {{job_name: {job}, static_configs: [{{targets: {names}}}]{_unprobed(self.story, job)}}}\n"
            for job, names in targets.items()
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
