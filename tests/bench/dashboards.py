"""
Dashboards fed by the daemon: all panels of Overview at once, and a panel of a month, beside Prometheus on the same.

Whoever asks is a process of its own, as a browser is; what is asked goes over HTTP.
"""

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from statistics import median

from monitor.clock import monotonic_seconds
from monitor.commands.startlimits import settle
from monitor.longterm import LongEngine, LongTerm
from monitor.model.instant import DAY, HOUR, MINUTE, SECOND, Duration, Instant, to_seconds
from monitor.model.labels import Labels
from monitor.promql import Engine, Evaluator
from monitor.storage.db import Database
from monitor.storage.history.history import History
from monitor.storage.history.keep import Keep
from monitor.storage.window import Window
from tests.bench.history import Nobody, recorded, stirred
from tests.dashboards.queries import Asked, asked
from tests.differential.remote_write import push
from tests.differential.server import prometheus
from tests.engines import find
from tests.web.serving import serve

Row = tuple[str, str, str]
_END: Instant = 1_767_571_200_000
_SHOWN, _STEP = 6 * HOUR, 20 * SECOND
_MONTH = 30 * DAY
_WINDOW = HOUR
_OFTEN = 15 * SECOND
# How often somebody looks whether what must be on time is.
_BEAT_SECONDS = 0.02
_ROUNDS = 5
_MONTHLY = ("vllm_engine:kv_cache_usage:p90_1m", "max_over_time(vllm_engine:kv_cache_usage:p90_1m[1h])")


@dataclass
class Beating:
    """A thread that wants to run every 20 ms, as scrapes and evaluations do; `late` are its delays in milliseconds."""

    late: list[float] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.stopping.is_set():
            due = monotonic_seconds() + _BEAT_SECONDS
            self.stopping.wait(_BEAT_SECONDS)
            self.late.append((monotonic_seconds() - due) * 1000)


@contextmanager
def beating() -> Iterator[Beating]:
    one = Beating()
    thread = threading.Thread(target=one.run, daemon=True)
    thread.start()
    try:
        yield one
    finally:
        one.stopping.set()
        thread.join()


@contextmanager
def _lived(keep: Keep, series: dict[Labels, float], lived: Duration) -> Iterator[tuple[Window, History]]:
    """Yield the window of a daemon at _END, and its history, as far as it reaches back."""
    dice = Random(4)  # noqa: S311 - figures that can be had again
    with tempfile.TemporaryDirectory() as folder:
        Database(Path(folder)).close()
        history = History(Path(folder), Nobody(), keep)
        past = Window(2 * lived)
        _write(past, series, range(_END - lived, _END, MINUTE), dice)
        history.save(past, _END)
        history.save(past, _END + MINUTE)
        recent = Window(_WINDOW)
        _write(recent, series, range(_END - _WINDOW, _END, _OFTEN), dice)
        yield recent, history
        history.close()


def _write(window: Window, series: dict[Labels, float], times: Sequence[Instant], dice: Random) -> None:
    block = window.block("rules")
    columns = tuple(block.column(labels) for labels in series)
    for at in times:
        block.append(at, columns, [stirred(value, dice) for value in series.values()])


def _engines(window: Window, history: History, lookback: Duration, seconds: float) -> Evaluator:
    del seconds
    engine = Engine(window, lookback=lookback, default_subquery_step=MINUTE)
    return LongEngine(engine, LongTerm(window, history, _END - _WINDOW, _END - _WINDOW), _END, lookback)


def _requests(queries: Sequence[Asked]) -> list[tuple[str, dict[str, str]]]:
    times = {"start": _END - _SHOWN, "end": _END, "step": _STEP}
    ranged = {name: str(to_seconds(value)) for name, value in times.items()}
    return [
        ("query", {"query": one.expr, "time": str(to_seconds(_END))})
        if one.kind == "instant"
        else ("query_range", {"query": one.expr, **ranged})
        for one in queries
    ]


def _loaded(url: str, questions: Sequence[tuple[str, dict[str, str]]]) -> list[float]:
    """Return the seconds that a process takes to load them all, six at a time, round by round."""
    wanted = json.dumps({"url": url, "questions": questions, "rounds": _ROUNDS})
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.browser"], input=wanted, capture_output=True, text=True, check=True
    )
    return [float(line) for line in done.stdout.split()]


def _overview(keep: Keep, series: dict[Labels, float]) -> Iterator[Row]:
    overview = [one for one in asked() if one.dashboard == "vllm-monitor-overview"]
    questions = _requests(overview)
    with _lived(keep, series, _SHOWN + HOUR) as (window, history):
        engines = partial(_engines, window, history)
        # As the daemon does when it has started.
        settle()
        with serve(window, now=_END, engines=engines) as served, beating() as beats:
            beats.stopping.wait(1)
            idle = max(beats.late)
            beats.late.clear()
            taken = _loaded(served.url, questions)
            late = max(beats.late)
        named = f"dashboard: Overview, {len(overview)} queries over 6 h of one target"
        yield named, f"{median(taken):.2f} s, worst {max(taken):.2f}", "≤ 2 s"
        figure = f"{late:.0f} ms (idle: {idle:.0f})"
        yield "dashboard: a thread that wants to run meanwhile waits at most", figure, "≤ 100 ms"
        yield _of_prometheus(window, history, questions)


def _of_prometheus(window: Window, history: History, questions: Sequence[tuple[str, dict[str, str]]]) -> Row:
    program = find("prometheus", "newer")
    what = "dashboard: the same of Prometheus 3"
    if program is None:
        return what, "not installed", ""
    samples = [(one.labels, list(zip(*one.samples, strict=True))) for one in history.reader.select((), 0, _END)]
    recent = [(column.labels, list(zip(*column.between(0, _END), strict=True))) for column in window.select(())]
    with tempfile.TemporaryDirectory() as folder, prometheus(program, Path(folder)) as server:
        push(server.url, [(labels, [one for one in some if one[0] < _END - _WINDOW]) for labels, some in samples])
        push(server.url, recent)
        taken = _loaded(server.url, questions)
    return what, f"{median(taken):.2f} s, worst {max(taken):.2f}", ""


def _month(keep: Keep, series: dict[Labels, float]) -> Iterator[Row]:
    shown = {"start": _END - _MONTH, "end": _END, "step": HOUR}
    ranged = {name: str(to_seconds(value)) for name, value in shown.items()}
    with (
        _lived(keep, series, _MONTH) as (window, history),
        serve(window, now=_END, engines=partial(_engines, window, history)) as served,
    ):
        for query in _MONTHLY:
            taken = _loaded(served.url, [("query_range", {"query": query, **ranged})])
            yield f"dashboard: 30 days of one target: {query}", f"{median(taken):.2f} s", "≤ 1 s"


def rows() -> list[Row]:
    """Return what was measured, the figure and its budget."""
    keep, series = recorded()
    return [*_overview(keep, series), *_month(keep, series)]
