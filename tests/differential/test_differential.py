"""
Our engine beside the real Prometheus 3 and, but for what has changed since, 2.42: random series, random expressions.

`VLLM_MONITOR_EXPRESSIONS` sets how many are asked, `VLLM_MONITOR_SEED` repeats a run; a run of more than the usual
number without a seed takes a new one, and prints it.
"""

import os
from collections import Counter
from collections.abc import Iterator
from random import Random, SystemRandom

import pytest

from monitor.promql import Engine
from monitor.storage.window import Window
from tests.differential.comparison import difference, ours
from tests.differential.dialect import NEWER, OLDER, Dialect
from tests.differential.expressions import Expressions
from tests.differential.remote_write import push
from tests.differential.series import MINUTE, ROWS_MINUTES, fill, targets
from tests.differential.server import Server, prometheus
from tests.engines import engine

_USUAL = 300
_DATASETS = 3
_START = 1_700_000_040_000
_DAY = 24 * 60 * MINUTE


@pytest.fixture(scope="module", params=[("newer", NEWER), ("", OLDER)], ids=["prometheus-3", "prometheus-2"])
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Dialect]]:
    suite, dialect = request.param
    with prometheus(engine("prometheus", suite), tmp_path_factory.mktemp("prometheus")) as running:
        yield running, dialect


def test_random_expressions_answer_as_prometheus_does(asked: tuple[Server, Dialect]) -> None:
    count = int(os.environ.get("VLLM_MONITOR_EXPRESSIONS", _USUAL))
    given = os.environ.get("VLLM_MONITOR_SEED")
    seed = int(given) if given else 1 if count <= _USUAL else SystemRandom().randrange(10**6)
    differences, seen = _run(*asked, seed, count)
    print(f"seed {seed}: {sum(seen.values())} expressions, {dict(seen)}")  # noqa: T201 - to repeat the run
    assert not differences, f"VLLM_MONITOR_SEED={seed} VLLM_MONITOR_EXPRESSIONS={count}"
    # Expressions that fail or find nothing prove little: most must not.
    assert seen["answered"] > sum(seen.values()) / 2


def _run(server: Server, dialect: Dialect, seed: int, count: int) -> tuple[list[str], Counter[str]]:
    random = Random(seed)  # noqa: S311 - it must be repeatable
    differences: list[str] = []
    seen: Counter[str] = Counter()
    for number in range(_DATASETS):
        start = _START + number * _DAY
        window = Window(10**15)
        push(server.url, fill(window, targets(random, start, late=dialect.late)))
        asker = Asker(server, dialect, Engine(window), random, start)
        for _ in range(count // _DATASETS):
            what, text = asker.ask()
            seen[what] += 1
            if what == "different":
                differences.append(text)
    return differences, seen


class Asker:
    """Asks both engines the same random things about one set of series."""

    def __init__(self, server: Server, dialect: Dialect, engine_: Engine, random: Random, start: int) -> None:
        self._server = server
        self._dialect = dialect
        self._engine = engine_
        self._random = random
        self._start = start
        self._expressions = Expressions(random)

    def ask(self) -> tuple[str, str]:
        """Return what came of one expression, and what differs."""
        query, at = self._query(), self._time()
        end = at + self._random.choice((5, 10)) * MINUTE if self._random.random() < 0.5 else None
        step = self._random.choice((15_000, 30_000, MINUTE, 47_000))
        mine = self._dialect.without_remarks(ours(self._engine, query, at, end, step))
        theirs = self._dialect.without_remarks(self._server.query(query, at, end, step))
        found = difference(query, mine, theirs)
        if found is None:
            return ("answered" if mine["status"] == "success" and mine["data"]["result"] else "nothing"), ""
        if self._dialect.knows(query, found):
            return "known", ""
        return "different", f"{query} at {at} to {end} every {step}: {found}"

    def _query(self) -> str:
        while True:
            middle = self._start + self._random.randint(5, ROWS_MINUTES) * MINUTE
            query = self._dialect.asks(self._expressions.any())
            if query is not None:
                return query.replace("@middle@", str((middle + (self._dialect.beyond or 0)) / 1000))

    def _time(self) -> int:
        random = self._random
        at = self._start + random.randint(2 * MINUTE, (ROWS_MINUTES + 5) * MINUTE)
        if self._dialect.beyond is not None:
            return at - at % 1000 + self._dialect.beyond
        return at - random.choice((at % 1000, at % 15_000, 0))
