"""Queries: the CPU time of ours, beside how a real Prometheus 3 that holds the same answers them over HTTP."""

import re
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from monitor.model.instant import HOUR, SECOND, Duration
from monitor.model.labels import Labels
from monitor.promql import Engine, Plan, Result, parse
from monitor.storage.window import Window
from tests.bench.fleet import BUCKETS, NOW, samples_of, write_counters, write_histograms
from tests.bench.pages import milliseconds
from tests.differential.comparison import difference, ours
from tests.differential.remote_write import push
from tests.differential.server import Server, prometheus
from tests.engines import find

Row = tuple[str, str, str]
_STEP = 15 * SECOND
_RANGE = 6 * HOUR
_FIRST_ROUNDS = 7
_COUNTER = "vllm:request_success_total"
_P95 = 'histogram_quantile(0.95, sum by (le, model_name) (rate({name}{{job="{job}"}}[5m])))'


@dataclass(frozen=True)
class Question:
    """A query, at `NOW` or at the steps of the `range_` before it, and how many milliseconds it may take."""

    what: str
    query: str
    budget: float
    range_: Duration | None = None
    rounds: int = 30

    def ask(self, engine: Engine, plan: Plan) -> Result:
        if self.range_ is None:
            return engine.instant(plan, NOW)
        return engine.range(plan, NOW - self.range_, NOW, _STEP)


QUESTIONS = (
    Question("p95 over 100 targets of 22 buckets, 60 samples", _P95.format(name=BUCKETS, job="fleet"), 30),
    Question("sum of the rates of 1,000 series", f'sum by (model_name) (rate({_COUNTER}{{job="counters"}}[5m]))', 10),
    Question(
        "p95 of one target, six hours every 15 s", _P95.format(name=BUCKETS, job="one"), 300, range_=_RANGE, rounds=7
    ),
)


def cpu_milliseconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return (time.process_time() - begun) * 1000


def filled() -> Window:
    window = Window(2 * _RANGE)
    write_histograms(window, "one", targets=1, samples=(_RANGE + HOUR) // (5 * SECOND), interval=5 * SECOND)
    write_histograms(window, "fleet", targets=100, samples=60, interval=5 * SECOND)
    write_counters(window, _COUNTER, "counters", targets=100, series=10, samples=60)
    return window


def first(window: Window, question: Question) -> float:
    """Return what the first evaluation of an expression takes, when nothing is known of its series yet."""
    # A series more, and the window forgets what it had found for any selector.
    block = window.block("another")
    block.column(Labels.of(__name__="another", number=str(len(block.columns))))
    plan = parse(question.query)
    return cpu_milliseconds(lambda: question.ask(Engine(window), plan))


def our_rows(window: Window, question: Question) -> list[Row]:
    engine, plan = Engine(window), parse(question.query)
    question.ask(engine, plan)
    taken = median(cpu_milliseconds(lambda: question.ask(engine, plan)) for _ in range(question.rounds))
    cold = median(first(window, question) for _ in range(_FIRST_ROUNDS))
    return [
        (f"query: {question.what}", f"{taken:.1f} ms CPU", f"≤ {question.budget:.0f} ms"),
        ("query: the same for the first time", f"{cold:.1f} ms CPU", ""),
    ]


def their_row(server: Server, window: Window, question: Question) -> Row:
    start, end = (NOW, None) if question.range_ is None else (NOW - question.range_, NOW)
    found = difference(
        question.query,
        ours(Engine(window), question.query, start, end, _STEP),
        server.query(question.query, start, end, _STEP),
    )
    before = _cpu_seconds(server)
    taken = median(
        milliseconds(lambda: server.query(question.query, start, end, _STEP)) for _ in range(question.rounds)
    )
    cpu = (_cpu_seconds(server) - before) * 1000 / question.rounds
    agrees = "" if found is None else f"; ANOTHER ANSWER: {found}"
    return ("query: the same of Prometheus 3 over HTTP", f"{taken:.1f} ms ({cpu:.1f} ms CPU){agrees}", "")


def _cpu_seconds(server: Server) -> float:
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=30) as answer:  # noqa: S310 - a loopback address
        found = re.search(rb"^process_cpu_seconds_total (\S+)$", answer.read(), re.MULTILINE)
    return float(found[1]) if found else 0.0


@contextmanager
def filled_prometheus(window: Window) -> Iterator[Server | None]:
    """Run a Prometheus 3 that holds what `window` holds; None when there is none on this machine."""
    program = find("prometheus", "newer")
    if program is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder, prometheus(program, Path(folder)) as server:
        # The longest first: what is an hour older than the newest sample is not taken.
        for job in ("one", "fleet", "counters"):
            push(server.url, samples_of(window, job))
        yield server


def rows() -> list[Row]:
    """Return what was measured, the figure and its budget."""
    window = filled()
    found: list[Row] = []
    with filled_prometheus(window) as server:
        for question in QUESTIONS:
            found += our_rows(window, question)
            if server is None:
                found.append(("query: the same of Prometheus 3 over HTTP", "not installed", ""))
            else:
                found.append(their_row(server, window, question))
    return found
