"""The window: every series of the last hour or so, in memory, found by label matchers."""

import threading
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from monitor.model.instant import HOUR, Duration, Instant
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import Matcher
from monitor.model.sample import is_stale
from monitor.storage.column import Block, Column
from monitor.storage.found import Found, exact_name

# How much older than the retention rows may become before they are cut off: cutting copies every column.
_SLACK = 0.125
# Selectors come from the rules, which are few, and from whoever asks over HTTP: of those only so many are remembered.
_MOST_FOUND = 1_000
# So many label pairs are kept at least before those are sought that no series has any more.
_LEAST_PAIRS = 1000


class Window:
    """
    All series of all writers. Safe to read from any thread; each writer belongs to one thread at a time.

    `retention`: how long series are kept, in milliseconds; `longer`: how long those of these names are, because a range
    reaches that far back. A writer's series share their rows, so what it writes is kept as long as the longest of them.
    """

    def __init__(self, retention: Duration = HOUR) -> None:
        self.retention = retention
        self.longer: Mapping[str, Duration] = {}
        self._lock = threading.Lock()
        self._blocks: dict[Hashable, Block] = {}
        self._ended: set[Hashable] = set()
        # How often each was adopted: one that comes back while it is being pruned is adopted before it is forgotten.
        self._by_name: dict[str, dict[Column, int]] = {}
        self._pairs: dict[tuple[str, str], tuple[str, str]] = {}
        self._most_pairs = _LEAST_PAIRS
        self._found = Found(_MOST_FOUND)

    def block(self, owner: Hashable) -> Block:
        """Return the block that `owner` writes; the same owner goes on with the same rows."""
        with self._lock:
            self._ended.discard(owner)
            return self._blocks.setdefault(owner, Block(self._adopt))

    def end(self, owner: Hashable, at: Instant) -> None:
        """All series of `owner` are over at `at`, or right behind their newest sample: each gets a staleness marker."""
        with self._lock:
            block = self._blocks.get(owner)
            self._ended.add(owner)
        if block is not None:
            block.end(at)

    def owners(self) -> tuple[Hashable, ...]:
        with self._lock:
            return tuple(self._blocks)

    def blocks(self) -> tuple[tuple[Hashable, Block], ...]:
        """Return the owners that still write, each with its block."""
        with self._lock:
            return tuple((owner, block) for owner, block in self._blocks.items() if owner not in self._ended)

    def shift(self, by: Duration) -> None:
        """The clock was set by so much: every sample moves along, as if it had been right all the time."""
        with self._lock:
            blocks = list(self._blocks.values())
        for block in blocks:
            block.shift(by)

    def select(self, matchers: Sequence[Matcher]) -> Sequence[Column]:
        """
        Return the series that satisfy all `matchers`, each label set once.

        The same object comes back until a series of this name is added or gone, so a caller may remember what it made
        of it; but for selectors of which a thousand others have been asked for since.
        """
        key = tuple(matchers)
        with self._lock:
            found = self._found.get(key)
            if found is None:
                found, lasting = _unique(self._matching(key))
                if lasting:
                    self._found.remember(key, found)
        return found

    def names(self) -> tuple[str, ...]:
        """Return the metric names in the window, sorted."""
        with self._lock:
            return tuple(sorted(self._by_name))

    def prune(self, now: Instant) -> None:
        """Forget what is older than the retention, a little later than it could be."""
        latest = now - self.retention * (1 + _SLACK)
        with self._lock:
            old = [
                (owner, block) for owner, block in self._blocks.items() if block.view[0] and block.view[0][0] < latest
            ]
        for owner, block in old:
            kept = self._kept(block)
            if block.view[0][0] >= now - kept * (1 + _SLACK):
                continue
            # Not under the lock: a writer in the middle of a row may wait for it, and the block for the writer.
            gone = block.prune(now - kept)
            with self._lock:
                for column in gone:
                    self._forget(column)
                if not block.columns and owner in self._ended:
                    self._ended.discard(owner)
                    del self._blocks[owner]
        with self._lock:
            self._forget_pairs()

    def size(self) -> tuple[int, int]:
        """Return the number of series and of samples held."""
        with self._lock:
            columns = [column for columns in self._by_name.values() for column in columns]
        return len(columns), sum(len(column.view[0]) for column in columns)

    def _kept(self, block: Block) -> Duration:
        """Return how long the rows of `block` are kept."""
        if not self.longer or not block.columns:
            return self.retention
        return max(self.retention, *(self.longer.get(labels.name, 0) for labels in tuple(block.columns)))

    def _adopt(self, column: Column) -> None:
        with self._lock:
            # Most pairs (model_name="…", instance="…") stand in hundreds of series: each is kept once.
            column.labels = Labels(self._pairs.setdefault(pair, pair) for pair in column.labels)
            named = self._by_name.setdefault(column.labels.name, {})
            named[column] = named.get(column, 0) + 1
            self._found.outdate(column.labels.name)

    def _forget(self, column: Column) -> None:
        named = self._by_name[column.labels.name]
        named[column] -= 1
        if not named[column]:
            del named[column]
        if not named:
            del self._by_name[column.labels.name]
        self._found.outdate(column.labels.name)

    def _forget_pairs(self) -> None:
        """Drop the pairs of series that are gone, or a label that never repeats would fill the memory."""
        if len(self._pairs) > self._most_pairs:
            columns = (column for named in self._by_name.values() for column in named)
            self._pairs = {pair: pair for column in columns for pair in column.labels}
            self._most_pairs = max(_LEAST_PAIRS, 2 * len(self._pairs))

    def _matching(self, matchers: tuple[Matcher, ...]) -> Iterable[Column]:
        on_name = [matcher for matcher in matchers if matcher.name == METRIC_NAME]
        others = [matcher for matcher in matchers if matcher.name != METRIC_NAME]
        for name in self._candidates(on_name):
            for column in self._by_name.get(name, ()):
                if all(matcher.accepts(column.labels) for matcher in others):
                    yield column

    def _candidates(self, on_name: Sequence[Matcher]) -> Iterable[str]:
        exact = exact_name(on_name)
        names = self._by_name if exact is None else (exact,)
        return [name for name in names if all(matcher.matches(name) for matcher in on_name)]


def _unique(columns: Iterable[Column]) -> tuple[Sequence[Column], bool]:
    """Return the columns with those of equal labels merged, and whether none had to be."""
    by_labels: dict[Labels, list[Column]] = {}
    for column in columns:
        by_labels.setdefault(column.labels, []).append(column)
    if all(len(same) == 1 for same in by_labels.values()):
        return tuple(same[0] for same in by_labels.values()), True
    return tuple(same[0] if len(same) == 1 else _merged(same) for same in by_labels.values()), False


def _merged(columns: Sequence[Column]) -> Column:
    """Return one series of several writers' samples; where two have the same time, the first writer's stays."""
    samples: dict[Instant, float] = {}
    for column in reversed(columns):
        times, base = column.block.view
        values, first = column.view
        rows = zip(times[max(first - base, 0) :], values[max(base - first, 0) :], strict=False)
        samples.update(_written(rows))
    block = Block()
    merged = block.column(columns[0].labels, counter=columns[0].counter)
    alone = (merged,)
    for at, value in sorted(samples.items()):
        if is_stale(value):
            block.append(at, (), ())
        else:
            block.append(at, alone, (value,))
    return merged


def _written(rows: Iterable[tuple[Instant, float]]) -> Iterator[tuple[Instant, float]]:
    """Yield the rows in which the writer said something: of several markers in a row it is the first."""
    over = False
    for at, value in rows:
        was_over, over = over, is_stale(value)
        if not (over and was_over):
            yield at, value
