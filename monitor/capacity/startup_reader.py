"""Reads a start-up log line by line, so that one can be followed while it grows."""

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import UTC, datetime

from monitor.capacity.numerals import number
from monitor.capacity.startup import Fact, Found, Ill, Illness, Startup
from monitor.capacity.startup_lines import (
    COLOUR,
    ENGINE,
    ENGINE_LINES,
    ILLS,
    LINES,
    READY,
    STAMP,
    STARTS,
    STOPPING,
    WARNINGS,
)
from monitor.capacity.traffic import TrafficReader

# The longest line that says something has some thousand characters (the configuration of an engine).
_LONGEST = 20_000
_MOST_WARNINGS = 20
# Numbers that are written in units.
_UNITS = {"MiB": 1 / 1024, "GiB": 1.0}
# Of several ranks and versions the one that limits counts: the smallest cache, the largest weights.
_LEAST = frozenset((Fact.KV_GIB, Fact.BLOCKS))
_MOST = frozenset(
    (
        *(Fact.WEIGHTS_GIB, Fact.ACTIVATION_GIB, Fact.NON_TORCH_GIB, Fact.LOAD_SECONDS, Fact.WEIGHTS_SECONDS),
        *(Fact.INIT_SECONDS, Fact.COMPILE_SECONDS, Fact.CAPTURE_SECONDS),
    )
)
_SOME_LEAP_YEAR = 2000
_WORDS = frozenset((Fact.VERSION, Fact.ENGINE, Fact.MODEL, Fact.DTYPE, Fact.KV_CACHE_DTYPE))
# What a server that is told to stop writes as well.
_AT_THE_END = frozenset((Ill.WORKER_DIED, Ill.ENGINE_DIED))
_GRAVITY = {ill: place for place, ill in enumerate(Ill)}


class StartupReader:
    """
    A log that is being read, of one start after the other.

    A container's log has all starts of the container, and a file that is appended to as well: the last one counts.
    """

    def __init__(self) -> None:
        self._lines = 0
        self._starts = 1
        self._last = _Start()

    def feed(self, line: str) -> None:
        """Read one line, of whatever."""
        self._lines += 1
        text = COLOUR.sub("", line[:_LONGEST])
        begins = {number for number, pattern in enumerate(STARTS) if pattern.search(text)}
        if begins and self._last.is_over(begins):
            self._last = _Start()
            self._starts += 1
        self._last.feed(text, self._lines, begins)

    def startup(self) -> Startup:
        """Return what was found so far."""
        return replace(self._last.startup(), lines=self._lines, starts=self._starts)


class _Start:
    """One start."""

    def __init__(self) -> None:
        self._facts: dict[Fact, Found] = {}
        self._engines: dict[str, dict[Fact, float]] = {}
        self._illness: Illness | None = None
        self._warnings: dict[str, None] = {}
        self._traffic = TrafficReader()
        self._line = 0
        self._begun: set[int] = set()
        self._began_at: datetime | None = None
        self._ready = False
        self._stopping = False

    def is_over(self, begins: AbstractSet[int]) -> bool:
        """Tell whether what begins is another start, and not this one: it ended, or has begun like this already."""
        return self._ready or self._stopping or self._illness is not None or not self._begun.isdisjoint(begins)

    def feed(self, text: str, line: int, begins: AbstractSet[int]) -> None:
        """Read one line of it."""
        self._line = line
        self._begun |= begins
        self._note_time(text)
        for pattern, facts in LINES:
            if found := pattern.search(text):
                self._note(facts, found)
        self._note_engine(text)
        self._note_illness(text)
        self._traffic.feed(text)
        self._ready = self._ready or READY.search(text) is not None
        self._stopping = self._stopping or STOPPING.search(text) is not None
        for pattern in WARNINGS:
            if (warned := pattern.search(text)) and len(self._warnings) < _MOST_WARNINGS:
                self._warnings[warned[0]] = None

    def startup(self) -> Startup:
        """Return what was found so far."""
        engines = {number: dict(facts) for number, facts in self._engines.items()}
        return Startup(
            dict(self._facts),
            engines,
            self._illness,
            tuple(self._warnings),
            ready=self._ready,
            stopped=self._stopping,
            traffic=dict(self._traffic.engines),
        )

    def _note_time(self, text: str) -> None:
        """Note how long it has taken so far; what is written once it is up is no part of it."""
        found = None if self._ready else STAMP.search(text)
        if found is None:
            return
        month, day, hour, minute, second = map(int, found.groups())
        try:
            at = datetime(_SOME_LEAP_YEAR, month, day, hour, minute, second, tzinfo=UTC)
        except ValueError:
            return
        self._began_at = self._began_at or at
        taken = (at - self._began_at).total_seconds()
        # Over New Year there is no telling: the lines have no year.
        if taken > 0:
            self._facts[Fact.START_SECONDS] = Found(taken, self._line)

    def _note(self, facts: tuple[Fact, ...], found: re.Match[str]) -> None:
        for fact, written in zip(facts, found.groups(), strict=True):
            value = written if written is None or fact in _WORDS else number(written)
            if value is not None:
                self._keep(fact, value)

    def _keep(self, fact: Fact, value: str | float) -> None:
        known = self._facts.get(fact)
        if known is not None and isinstance(known.value, float) and isinstance(value, float):
            if fact in _LEAST:
                value = min(value, known.value)
            if fact in _MOST:
                value = max(value, known.value)
            if value == known.value:
                return
        self._facts[fact] = Found(value, self._line)

    def _note_engine(self, text: str) -> None:
        for pattern, facts in ENGINE_LINES:
            if found := pattern.search(text):
                process = ENGINE.search(text)
                engine = self._engines.setdefault((process[1] if process else None) or "0", {})
                for fact, written in zip(facts, found.groups(), strict=True):
                    value = number(written)
                    if value is not None:
                        engine[fact] = value
                    if value is not None and fact is Fact.MAX_MODEL_LEN:
                        self._keep(fact, value)

    def _note_illness(self, text: str) -> None:
        for pattern, ill, names in ILLS:
            found = pattern.search(text)
            numbers = None if found is None else _numbers(names, found)
            if found is None or numbers is None:
                continue
            known = self._illness
            if known is None and self._stopping and ill in _AT_THE_END:
                return
            # The first line that names the cause counts: what follows it are its consequences, and repetitions.
            if known is None or _GRAVITY[ill] < _GRAVITY[known.ill]:
                self._illness = Illness(ill, numbers, self._line, found[0])
            return


def read(lines: Iterable[str]) -> Startup:
    """Return what a whole log says."""
    reader = StartupReader()
    for line in lines:
        reader.feed(line)
    return reader.startup()


def _numbers(names: tuple[str, ...], found: re.Match[str]) -> dict[str, float] | None:
    """Return the numbers of a failure by their names, None where one of them is none."""
    read = {name: text for name, text in zip(names, found.groups(), strict=True) if text is not None}
    numbers = {name: _UNITS.get(text) or number(text) for name, text in read.items()}
    known = {name: value for name, value in numbers.items() if value is not None}
    return known if len(known) == len(numbers) else None
