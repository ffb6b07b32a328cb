"""A long time at speed: what it leaves in memory and on disk, and whether every slot was there."""

import gc
import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median

from monitor.clock import VirtualClock, monotonic_seconds
from monitor.model.instant import HOUR, MINUTE, SECOND, Duration, Instant, format_duration
from monitor.model.labels import METRIC_NAME
from monitor.model.matcher import equal
from monitor.replay import replay
from monitor.storage.db import FILE_NAME
from monitor.storage.snapshot import FILE_NAME as SNAPSHOT
from tests.recorded import Recording
from tests.soak.fleet import SPELL_EVERY, Fleet
from tests.soak.life import CountingReceiver, Life

SERVERS = 20
START: Instant = 1_767_571_200_000
DOWN: Duration = MINUTE
# What is asked of a long run: so little movement of the memory, and so small a file. In a week twenty servers leave
# half of that as history, of which each may take 60 MB in 35 days.
FLAT = 0.05
DATABASE = 100_000_000
# How far apart the looks at memory are: at the same phase of the spells, so that they can be compared.
LOOK_EVERY: Duration = SPELL_EVERY // SERVERS

CONFIG = """\
global: {{scrape_interval: {interval}}}
scrape_configs: [{{job_name: vllm, static_configs: [{{targets: [{targets}]}}]}}]
route: {{receiver: oncall, group_by: [alertname, model_name], group_interval: {group_interval}}}
receivers: [{{name: oncall, console_configs: [{{}}]}}]
storage: {{path: state}}
"""


@dataclass(frozen=True, slots=True)
class Pace:
    """
    How long a run is, and how often something happens in it.

    Memory is judged from `warm_up` on: the window is as long as it gets, every server has had its spell, and what a
    reload and a restart take at most has been taken once; the allocator does not give it back.
    """

    duration: Duration
    interval: Duration
    warm_up: Duration
    reload: Duration
    restart: Duration
    silence: Duration
    servers: int = SERVERS


WEEK = Pace(168 * HOUR, 30 * SECOND, 24 * HOUR, 5 * HOUR, 11 * HOUR, 3 * HOUR)
HOURS = Pace(6 * HOUR, MINUTE, 3 * HOUR, 70 * MINUTE, 150 * MINUTE, HOUR, servers=8)


@dataclass(frozen=True, slots=True)
class Look:
    """The process at one time: resident bytes, blocks that Python has allocated, series, bytes of the files."""

    at: Instant
    resident: int
    blocks: int
    series: int
    database: int
    snapshot: int


@dataclass
class Diary:
    """What a run came to; `holes` are slots that one server's `up` lacks within a life."""

    looks: list[Look] = field(default_factory=list)
    slots: int = 0
    missed: int = 0
    holes: list[Instant] = field(default_factory=list)
    restarts: int = 0
    reloads: int = 0
    silences: int = 0
    delivered: int = 0
    seconds: float = 0.0

    def spread(self, of: Callable[[Look], int], since: Instant) -> float:
        """
        Return how far a quantity drifted from `since` on, as a share of its middle.

        The looks are cut in four; the medians of the quarters are compared.
        """
        values = [of(look) for look in self.looks if look.at >= since]
        quarter = len(values) // 4
        medians = [median(values[k * quarter : (k + 1) * quarter]) for k in range(4)]
        return (max(medians) - min(medians)) / median(values)

    def most(self, of: Callable[[Look], int]) -> int:
        return max(of(look) for look in self.looks)

    def complaints(self, pace: Pace) -> Iterator[str]:
        """Say what is not as it should be."""
        since = START + pace.warm_up
        # Half of the drift lies on either side of the middle.
        if self.spread(lambda look: look.resident, since) > 2 * FLAT:
            yield "resident memory is not flat"
        if self.spread(lambda look: look.blocks, since) > 2 * FLAT:
            yield "the number of allocated blocks is not flat"
        if self.most(lambda look: look.database) > DATABASE:
            yield "the state file is too large"
        if self.holes:
            yield f"slots are missing or not aligned: {self.holes[:5]}"
        if self.missed:
            yield f"{self.missed} slots were not evaluated"


class Soak:
    """Lives through a long time with twenty servers, in `folder`; `said` hears of every look."""

    def __init__(self, folder: Path, pace: Pace, said: Callable[[Look], None] = lambda _: None) -> None:
        self._folder = folder
        self._pace = pace
        self._said = said
        self._clock = VirtualClock(START)
        self._receiver = CountingReceiver()
        self._fleet = Fleet(Recording.load("vllm-0.32.0-overload-1s"), 1, self._clock)
        self._born = START
        self.diary = Diary()
        self._write()
        self._life = self._begin()
        self._agenda: dict[Duration, Callable[[Instant], None]] = {
            MINUTE: lambda _: self._life.save(),
            HOUR: self._check_slots,
            pace.silence: self._silence,
            pace.reload: self._reload,
            LOOK_EVERY: self._look,
            pace.restart: self._restart,
        }

    def run(self) -> Diary:
        began = monotonic_seconds()
        interval = self._pace.interval
        for slot in range(START + interval, START + self._pace.duration + 1, interval):
            if slot < self._born:
                continue
            replay(self._life.pipeline, self._clock, [slot])
            self.diary.slots += 1
            due = [group for group in self._life.parts.manager.groups if slot % group.interval == 0]
            self.diary.missed += any(group.last_evaluation != slot for group in due)
            for every, action in self._agenda.items():
                if (slot - START) % every == 0:
                    action(slot)
        self._life.end()
        self.diary.delivered, self.diary.seconds = self._receiver.delivered, monotonic_seconds() - began
        return self.diary

    def _begin(self) -> Life:
        return Life(self._folder / "monitor.yaml", self._clock, self._fleet, self._receiver)

    def _silence(self, slot: Instant) -> None:
        self.diary.silences += 1
        self._life.silence(address(self.diary.silences % self._pace.servers))
        del slot

    def _reload(self, slot: Instant) -> None:
        self.diary.reloads += 1
        self._write()
        self._life.reload()
        del slot

    def _restart(self, slot: Instant) -> None:
        self.diary.restarts += 1
        self._life.end()
        # The new process has nothing of the old one.
        del self._life
        gc.collect()
        self._clock.at = self._born = slot + DOWN
        self._life = self._begin()

    def _check_slots(self, slot: Instant) -> None:
        (up,) = self._life.window.select((equal(METRIC_NAME, "up"), equal("instance", address(0))))
        times, _ = up.between(max(slot - HOUR, self._born - 1), slot)
        self.diary.holes += [at for at in times if at % self._pace.interval]
        self.diary.holes += [later for earlier, later in pairwise(times) if later - earlier != self._pace.interval]

    def _look(self, slot: Instant) -> None:
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        state = self._folder / "state"
        database = sum(path.stat().st_size for path in state.glob(f"{FILE_NAME}*"))
        snapshot = (state / SNAPSHOT).stat().st_size
        series = sum(len(block.columns) for _, block in self._life.window.blocks())
        look = Look(slot, pages * resource.getpagesize(), sys.getallocatedblocks(), series, database, snapshot)
        self.diary.looks.append(look)
        self._said(look)

    def _write(self) -> None:
        """Write the configuration; every second reload finds another group_interval."""
        text = CONFIG.format(
            interval=format_duration(self._pace.interval),
            targets=", ".join(f'"{address(server)}"' for server in range(self._pace.servers)),
            group_interval=("5m", "6m")[self.diary.reloads % 2],
        )
        (self._folder / "monitor.yaml").write_text(text)


def address(server: int) -> str:
    return f"10.0.0.{server}:8000"
