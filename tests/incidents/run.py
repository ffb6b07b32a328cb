"""Tells stories to both columns, several at once where the machine has the cores."""

import atexit
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from monitor.model.instant import Duration
from monitor.rulebook.build import build, write
from monitor.rulebook.values import read_values
from monitor.shipped import shipped_rules
from tests.incidents.play import Played, play
from tests.incidents.prometheus import PHASES, Prometheus
from tests.incidents.story import Column, Story
from tests.incidents.verdict import Foreign, Verdict, judge, judge_foreign

# Beside the bar, which is told in all phases: one between the daemon's slots.
FEW = (7500,)


@dataclass(frozen=True, slots=True)
class Told:
    """A story with the verdicts on our rules, and on each foreign rule set by its name."""

    story: Story
    daemon: Verdict
    rules: Verdict | None
    seldom: Verdict | None
    foreign: dict[str, Foreign]


@dataclass(frozen=True, slots=True)
class Teller:
    """
    `promtool` is the path of the program, or None: then nobody asks a Prometheus, and foreign rule sets run in ours.

    Prometheus is asked in these `phases`, about the bar in all; `seldom`: also with a scrape every 15 s.
    """

    promtool: str | None
    phases: Sequence[Duration] = FEW
    seldom: bool = False
    foreign: Sequence[Path] = ()

    def tell(self, story: Story) -> Told:
        own = [*rules_with(story.switched_on), *map(Path, story.rules)]
        played = play(story, own, self.foreign)
        daemon = judge(story, Column.DAEMON, [played.firings])
        foreign = {path.name: self._foreign(story, played, path) for path in self.foreign}
        if self.promtool is None:
            return Told(story, daemon, None, None, foreign)
        phases = PHASES if story.bar else self.phases
        rules = self._rules(Prometheus(self.promtool), played, own, phases)
        every = max(1, 15_000 // story.interval)
        seldom = self._rules(Prometheus(self.promtool, every), played, own, phases) if self.seldom else None
        return Told(story, daemon, rules, seldom, foreign)

    def _rules(
        self, prometheus: Prometheus, played: Played, rules: Sequence[Path], phases: Sequence[Duration]
    ) -> Verdict:
        with tempfile.TemporaryDirectory(prefix="vllm-monitor-incident-") as folder:
            fired = [prometheus.watch(played, rules, phase, Path(folder)) for phase in phases]
        return judge(played.story, Column.RULES, fired)

    def _foreign(self, story: Story, played: Played, path: Path) -> Foreign:
        if self.promtool is None:
            return judge_foreign(story, play(story, [path]).firings)
        with tempfile.TemporaryDirectory(prefix="vllm-monitor-incident-") as folder:
            return judge_foreign(story, Prometheus(self.promtool).watch(played, [path], 0, Path(folder)))


@cache
def rules_with(switched_on: tuple[str, ...]) -> Sequence[Path]:
    """Return the shipped rules, with these alerts as well."""
    if not switched_on:
        return shipped_rules()
    folder = Path(tempfile.mkdtemp(prefix="vllm-monitor-rules-"))
    atexit.register(shutil.rmtree, folder)
    values = read_values(settings=[f"alerts.{name}.enabled=true" for name in switched_on])
    return write(build(values), folder)


def tell_all(teller: Teller, stories: Iterable[Story], processes: int) -> Iterator[Told]:
    """Yield the verdicts in the order of the stories."""
    if processes < 2:
        yield from map(teller.tell, stories)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(teller.tell, stories)
