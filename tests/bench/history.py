"""
The history of one server: what 35 days of it take on disk, what a minute costs, and how long a month takes to be read.

The series are those that the shipped rules record of a server in overload, and their values are stirred each minute, as
those of a real server are: a recording that is played in a circle would compress to nothing.
"""

import itertools
import lzma
import tempfile
import zlib
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median

from monitor.clock import monotonic_seconds
from monitor.config.history import HistoryConfig
from monitor.embedded import EmbeddedQuery, WindowAppender, read_further_back, wanted_names
from monitor.expressions import check_expr, check_template
from monitor.longterm import LongEngine, LongTerm
from monitor.model.instant import DAY, HOUR, MINUTE, SECOND, Instant
from monitor.model.labels import Labels
from monitor.promql import Engine, parse
from monitor.rules.context import Context
from monitor.rules.manager import Manager
from monitor.rules.rulefmt import read_rules
from monitor.scrape.options import ScrapeOptions
from monitor.scrape.target import Answer, ScrapeLoop
from monitor.shipped import shipped_rules
from monitor.storage.db import Database
from monitor.storage.history.chunk import packed
from monitor.storage.history.history import History
from monitor.storage.history.keep import Keep
from monitor.storage.snapshot import REACH
from monitor.storage.window import Window
from tests.bench.pages import CONTENT_TYPE, OVERLOAD, TARGET, pages

_DAYS, _KEPT = 3, 35
_BUDGET = 60
# What is recorded every five minutes.
_SPARSE = "_bucket:increase5m"
_START: Instant = 1_767_571_200_000
_MONTH = 30 * DAY


class Nobody:
    """Hears of nothing that goes wrong."""

    def failed(self) -> None:
        raise AssertionError

    def damaged(self) -> None:
        raise AssertionError

    def refused(self, series: int) -> None:
        raise AssertionError(series)


def recorded() -> tuple[Keep, dict[Labels, float]]:
    """Return what is kept, and each kept series of a server in overload with its newest value."""
    specs = read_rules(shipped_rules(), check_expr, check_template)
    expressions = [rule.expr for spec in specs for rule in spec.rules]
    window = Window()
    bodies = itertools.cycle(pages()[second] for second in OVERLOAD)
    loop = ScrapeLoop(
        TARGET,
        ScrapeOptions(),
        window,
        lambda: Answer(next(bodies), CONTENT_TYPE),
        wanted=wanted_names(expressions),
        seconds=lambda: 0.0,
    )
    context = Context(EmbeddedQuery(Engine(window)), WindowAppender(window))
    manager = Manager(specs, context, 5 * SECOND, monotonic_seconds)
    for slot in range(_START, _START + 10 * MINUTE, 15 * SECOND):
        loop.scrape(slot)
        manager.evaluate(slot)
    keep = HistoryConfig().keep().with_names(read_further_back(expressions, REACH))
    found: dict[Labels, float] = {}
    for matchers in keep.selectors:
        for column in window.select(matchers):
            sample = column.newest(_START, _START + HOUR)
            if sample is not None:
                found[column.labels] = sample[1]
    return keep, found


def stirred(value: float, dice: Random) -> float:
    """Return another value of the same kind."""
    if value == 0 or (value == int(value) and value <= 1):
        return value
    return value * dice.uniform(0.8, 1.2) if value != int(value) else float(int(value * dice.uniform(0.8, 1.2)))


@contextmanager
def _history(keep: Keep) -> Iterator[tuple[History, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        Database(Path(folder)).close()
        history = History(Path(folder), Nobody(), keep)
        yield history, Path(folder)
        history.close()


def _written() -> int:
    """Return how many bytes this process has written so far."""
    return int(Path("/proc/self/io").read_text().split("wchar: ")[1].split()[0])


def _kept_for_days(keep: Keep, series: dict[Labels, float]) -> Iterator[tuple[str, str, str]]:
    dice = Random(1)  # noqa: S311 - figures that can be had again
    with _history(keep) as (history, _):
        window = Window()
        # As rules write: a row a minute, all series side by side, and of some a row in five minutes.
        sparse = {labels: value for labels, value in series.items() if labels.name.endswith(_SPARSE)}
        dense = {labels: value for labels, value in series.items() if labels not in sparse}
        writers = [
            (window.block(len(some)), tuple(some.values()), every, some)
            for some, every in ((dense, MINUTE), (sparse, 5 * MINUTE))
        ]
        columns = [tuple(block.column(labels) for labels in some) for block, _, _, some in writers]
        sizes, saves, before = [], [], _written()
        for day in range(_DAYS):
            for at in range(_START + day * DAY, _START + (day + 1) * DAY, MINUTE):
                for (block, values, every, _), cells in zip(writers, columns, strict=True):
                    if at % every == 0:
                        block.append(at, cells, [stirred(value, dice) for value in values])
                window.prune(at)
                begun = monotonic_seconds()
                history.save(window, at)
                saves.append((monotonic_seconds() - begun) * 1000)
            sizes.append(history.size()[0])
        size = (sizes[-1] - sizes[-2]) * _KEPT / 1e6
        hourly = (_written() - before) / (_DAYS * 24) / 1e6
    yield f"history: {len(series)} series of a server for {_KEPT} days", f"{size:.1f} MB", f"≤ {_BUDGET} MB"
    yield "history: written in an hour, folding and checkpoints included", f"{hourly:.2f} MB", ""
    yield "history: a minute is saved, median and worst", f"{median(saves):.1f} / {max(saves):.0f} ms", ""


def _read_for_a_month(keep: Keep, series: dict[Labels, float]) -> Iterator[tuple[str, str, str]]:
    dice = Random(2)  # noqa: S311 - as above
    labels, value = next((one, value) for one, value in series.items() if one.name.endswith("kv_cache_usage:p90_1m"))
    with _history(keep) as (history, _):
        window = Window(_MONTH * 2)
        block = window.block("rules")
        columns = tuple(block.column(labels.with_(instance=f"vllm-{number}")) for number in range(10))
        for at in range(_START, _START + _MONTH, MINUTE):
            block.append(at, columns, [stirred(value, dice) for _ in columns])
        history.save(window, _START + _MONTH)
        history.save(window, _START + _MONTH + DAY)
        engine = LongEngine(
            Engine(Window()), LongTerm(Window(), history, _START + _MONTH, _START + _MONTH), _START + _MONTH
        )
        for query in ("vllm_engine:kv_cache_usage:p90_1m", "max_over_time(vllm_engine:kv_cache_usage:p90_1m[1h])"):
            begun = monotonic_seconds()
            engine.range(parse(query), _START + HOUR, _START + _MONTH - HOUR, HOUR)
            yield f"history: 30 days, 10 series, step 1h: {query}", f"{monotonic_seconds() - begun:.2f} s", "≤ 30 s"


def _ways(series: dict[Labels, float]) -> Iterator[tuple[str, str, str]]:
    dice = Random(3)  # noqa: S311 - as above
    days = [array("d", [stirred(value, dice) for _ in range(1440)]) for value in series.values()]
    times = array("q", range(_START, _START + DAY, MINUTE))
    ways: dict[str, Callable[[array[float]], bytes]] = {
        "as it is": lambda values: packed(times, values),
        "zlib": lambda values: zlib.compress(values.tobytes(), 6),
        "bytes by place, zlib": lambda values: zlib.compress(_by_place(values.tobytes()), 6),
        "differences as Gorilla's (xor), bytes by place, zlib": lambda values: zlib.compress(
            _by_place(_changes(values.tobytes())), 6
        ),
        "bytes by place, lzma": lambda values: lzma.compress(_by_place(values.tobytes())),
        "text, zlib": lambda values: zlib.compress(",".join(map(repr, values)).encode(), 6),
    }
    for name, way in ways.items():
        size = sum(len(way(values)) for values in days) / (len(days) * 1440)
        yield f"history: bytes a sample, a day's chunks, {name}", f"{size:.2f}", ""


def _by_place(data: bytes) -> bytes:
    return b"".join([data[place::8] for place in range(8)])


def _changes(data: bytes) -> bytes:
    whole = int.from_bytes(data, "little")
    return (whole ^ (whole << 64) & ((1 << len(data) * 8) - 1)).to_bytes(len(data), "little")


def rows() -> list[tuple[str, str, str]]:
    """Return what was measured, the figure and its budget."""
    keep, series = recorded()
    return [*_kept_for_days(keep, series), *_read_for_a_month(keep, series), *_ways(series)]
