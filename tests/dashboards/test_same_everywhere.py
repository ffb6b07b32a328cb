"""
Every panel shows the same whichever the data source is: a Prometheus, old or new, or the daemon, from memory or disk.

The rules are evaluated by the daemon; that a Prometheus comes to the same by the same rule files is shown elsewhere
(tests/acceptance/test_recorded_overload.py, tests/sameness).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from math import isnan, nan
from pathlib import Path
from typing import Any

import pytest
import requests

from monitor.config.history import HistoryConfig
from monitor.longterm import LongEngine, LongTerm
from monitor.model.instant import MINUTE, SECOND, Duration, Instant, to_seconds
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import Matcher, MatchType
from monitor.promql import Engine, Evaluator
from monitor.shipped import shipped_rules
from monitor.storage.history.history import History
from monitor.storage.window import Window
from tests.dashboards.optional import why_empty
from tests.dashboards.played import short_story
from tests.dashboards.queries import Asked, asked
from tests.differential.remote_write import Series, push
from tests.differential.server import Server, prometheus
from tests.engines import engine
from tests.incidents.play import START, Stage
from tests.storage.history.keeping import Counted, Keeper
from tests.web.serving import Served, serve

ANY = (Matcher(METRIC_NAME, MatchType.REGEX, ".+"),)
SHOWN: Duration = 20 * MINUTE
STEP: Duration = 30 * SECOND
_BATCH = 300
# Sums of many floats are added in another order.
CLOSE = 1e-9

Answer = Mapping[Labels, Mapping[Instant, float]]


@dataclass(frozen=True)
class Sources:
    """The same samples everywhere; `thin` and `disk` have those that are kept, a sample a minute."""

    end: Instant
    ours: Served
    disk: Served
    old: Server
    new: Server
    thin: Server


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sources]:
    folder = tmp_path_factory.mktemp("same")
    story = short_story()
    stage = Stage(story, list(shipped_rules()), folder)
    stage.live(range(START, START + story.duration + 1, story.interval))
    end = START + story.duration
    with ExitStack() as stack:
        whole = [(column.labels, _samples(column)) for column in stage.window.select(())]
        history = _kept(folder, stage.window, end)
        kept = [(one.labels, list(zip(*one.samples, strict=True))) for one in history.reader.select(ANY, 0, end)]
        new = engine("prometheus", "newer")
        programs = (engine("prometheus"), whole), (new, whole), (new, kept)
        filled = [stack.enter_context(_filled(program, folder, samples)) for program, samples in programs]
        ours = stack.enter_context(serve(stage.window, now=end))
        disk = stack.enter_context(serve(Window(), now=end, engines=partial(_from_disk, history, end)))
        yield Sources(end, ours, disk, *filled)


def test_every_panel_has_data_or_a_reason_to_have_none(sources: Sources) -> None:
    empty = {str(one) for one in asked() if not _shows(_answer(sources.ours.url, one, sources.end))}
    assert {one for one in empty if not why_empty(_by_name()[one].expr)} == set()
    # The story is of use as long as most have.
    assert len(empty) < len(_by_name()) / 4


@pytest.mark.parametrize("version", ["old", "new"])
def test_every_panel_shows_the_same_from_a_prometheus_and_from_the_daemon(version: str, sources: Sources) -> None:
    theirs: Server = getattr(sources, version)
    different = {
        str(one): found
        for one in asked()
        if (found := _difference(_answer(theirs.url, one, sources.end), _answer(sources.ours.url, one, sources.end)))
    }
    assert different == {}


def test_every_panel_shows_the_same_from_what_is_kept_on_the_disk(sources: Sources) -> None:
    different: dict[str, str] = {}
    compared = 0
    for one in asked():
        theirs, ours = (_answer(server.url, one, sources.end) for server in (sources.thin, sources.disk))
        found = _difference(theirs, ours)
        compared += _shows(theirs)
        if found:
            different[str(one)] = found
    assert different == {}
    assert compared > len(asked()) / 2


def _by_name() -> dict[str, Asked]:
    return {str(one): one for one in asked()}


def _samples(column: Any) -> list[tuple[Instant, float]]:
    times, base = column.block.view
    values, first = column.view
    return list(zip(times[first - base :], values, strict=False))


def _kept(folder: Path, window: Window, end: Instant) -> History:
    Keeper(folder).history.close()
    history = History(folder, Counted(), HistoryConfig().keep())
    history.save(window, end + MINUTE)
    return history


def _from_disk(history: History, end: Instant, lookback: Duration, seconds: float) -> Evaluator:
    del seconds
    # Nothing is in memory: all of it was before this life.
    window = Window()
    engine = Engine(window, lookback=lookback, default_subquery_step=MINUTE)
    return LongEngine(engine, LongTerm(window, history, since=end + 1, begun=end + 1), end, lookback)


@contextmanager
def _filled(program: str, folder: Path, samples: Sequence[Series]) -> Iterator[Server]:
    own = folder / f"prometheus-{len(list(folder.iterdir()))}"
    own.mkdir()
    with prometheus(program, own) as server:
        for place in range(0, len(samples), _BATCH):
            push(server.url, samples[place : place + _BATCH])
        yield server


def _answer(url: str, one: Asked, end: Instant) -> Answer:
    asking: dict[str, str | float] = {"query": one.expr}
    if one.kind == "instant":
        asking["time"] = to_seconds(end)
    else:
        asking |= {"start": to_seconds(end - SHOWN), "end": to_seconds(end), "step": to_seconds(STEP)}
    path = "query" if one.kind == "instant" else "query_range"
    answer = requests.post(f"{url}/api/v1/{path}", data=asking, timeout=30).json()
    assert answer["status"] == "success", (str(one), answer)
    data = answer["data"]
    if data["resultType"] == "scalar":
        return {Labels(): {round(data["result"][0] * 1000): float(data["result"][1])}}
    return {
        Labels.of(series["metric"]): {
            round(at * 1000): float(value) for at, value in series.get("values", [series.get("value")])
        }
        for series in data["result"]
    }


def _shows(answer: Answer) -> bool:
    """Return whether there is anything: a large number says by NaN that there is none."""
    return any(not isnan(value) for points in answer.values() for value in points.values())


def _difference(theirs: Answer, ours: Answer) -> str:
    """Return where two answers differ, "" where they do not."""
    if theirs.keys() != ours.keys():
        return f"only one has {sorted(theirs.keys() ^ ours.keys())[:3]}"
    for labels, points in theirs.items():
        mine = ours[labels]
        if points.keys() != mine.keys():
            return f"{labels}: at {sorted(points.keys() ^ mine.keys())[:3]} only one has a value"
        for at, value in points.items():
            if not (math.isclose(value, mine[at], rel_tol=CLOSE, abs_tol=1e-12) or (isnan(value) and isnan(mine[at]))):
                return f"{labels} at {at}: {value} and {mine[at]}"
    return ""


@pytest.mark.parametrize(
    ("theirs", "ours", "found"),
    [
        ({1: 1.0, 2: nan}, {1: 1.0 + 1e-12, 2: nan}, False),
        ({1: 1.0}, {1: 1.000001}, True),
        ({1: 1.0}, {1: nan}, True),
        ({1: 1.0}, {1: 1.0, 2: 1.0}, True),
        ({1: 1.0}, None, True),
    ],
)
def test_a_difference_is_found(theirs: dict[int, float], ours: dict[int, float] | None, *, found: bool) -> None:
    labels = Labels.of(a="b")
    assert bool(_difference({labels: theirs}, {} if ours is None else {labels: ours})) is found
