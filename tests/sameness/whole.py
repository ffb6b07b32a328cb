"""All histories in all engines that can play a past: promtool of both Prometheuses, a daemon that asks, vmalert."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from monitor.simulator.scenarios import SCENARIOS
from tests.differential.remote_write import push
from tests.differential.server import Server, prometheus
from tests.engines import engine
from tests.sameness import promtool, served
from tests.sameness.history import History, recorded, rule_files, simulated
from tests.sameness.moments import Texts, alerts_of, differences, table
from tests.sameness.ours import Embedded, asked
from tests.sameness.victoria import flush, replay, victoria

RECORDED = ("vllm-0.32.0-overload-1s", "vllm-0.32.0-hang")
SIMULATED = ("overload",)
# What vmalert plays: it takes a group with an interval of its own at that, promtool each at every evaluation.
PLAYED = ("engine.rules.yaml",)
_UNORDERED = "storage: {tsdb: {out_of_order_time_window: 1d}}\n"

# In VictoriaMetrics these find something else for an evaluation or two: docs/prometheus.md says why.
OTHERWISE_IN_VICTORIAMETRICS = frozenset(
    {"VLLMPreemptionStorm", "VLLMPreemptionsHigh", "VLLMTimeInQueueHigh", "VLLMTimeInQueueCritical"}
)
Verdicts = dict[str, Sequence[str]]


def play(folder: Path, say: Callable[[str], None]) -> Iterator[str]:
    """Play every history; `say` the tables, and yield what must not be."""
    rules = rule_files(folder)
    played = [path for path in rules if path.name in PLAYED]
    for history in _histories(rules, folder):
        ours = Embedded(history)
        verdicts = {**_promtools(history, ours, folder), **_asked(history, ours, folder)}
        say(table(f"{history.name}: all shipped rules, each group at every evaluation", ours.moments, verdicts))
        yield from _wrong(history, verdicts, {})
    for history in _histories(played, folder):
        ours = Embedded(history)
        verdicts = {**_vmalert_over_prometheus(history, ours, folder), **_victoriametrics(history, ours, folder)}
        say(
            table(
                f"{history.name}: the rules of the engine, by vmalert and over VictoriaMetrics", ours.moments, verdicts
            )
        )
        known = {name: OTHERWISE_IN_VICTORIAMETRICS for name in verdicts if "VictoriaMetrics" in name}
        yield from _wrong(history, verdicts, known)


def _histories(rules: Sequence[Path], folder: Path) -> Iterator[History]:
    for name in RECORDED:
        yield recorded(name, rules)
    for name in SIMULATED:
        yield simulated(SCENARIOS[name], rules, folder)


def _wrong(history: History, verdicts: Verdicts, known: Mapping[str, frozenset[str]]) -> Iterator[str]:
    for name, found in verdicts.items():
        unknown = alerts_of(found) - known.get(name, frozenset())
        if found and (unknown or name not in known):
            yield f"{history.name}, {name}: {', '.join(sorted(unknown))}: {found[0]}"


def _promtools(history: History, ours: Embedded, folder: Path) -> Verdicts:
    suites = {"Prometheus 3": "newer", "Prometheus 2.42": ""}
    return {
        name: promtool.differences(engine("promtool", suite), history, ours.moments, folder)
        for name, suite in suites.items()
    }


def _asked(history: History, ours: Embedded, folder: Path) -> Verdicts:
    with _filled(folder / "asked", history, ours) as server, asked(history, server.url) as moments:
        return {"daemon, asking": differences(ours.moments, moments)}


def _vmalert_over_prometheus(history: History, ours: Embedded, folder: Path) -> Verdicts:
    with _filled(folder / "vmalert", history) as server:
        replay(history, history.rules, server.url, "300ms")
        found = served.moments(server.url, history.slots)
        return {"vmalert, Prometheus 3": differences(ours.moments, found, Texts.NONE)}


def _victoriametrics(history: History, ours: Embedded, folder: Path) -> Verdicts:
    with victoria(_fresh(folder / "victoria")) as url:
        push(url, history.samples())
        flush(url)
        # What a rule finds is seen a second later.
        replay(history, history.rules, url, "1500ms")
        flush(url)
        played = differences(ours.moments, served.moments(url, history.slots), Texts.NONE)
        with asked(history, url) as moments:
            over = differences(ours.moments, moments, Texts.ROUNDED)
    return {"vmalert, VictoriaMetrics": played, "daemon, asking VictoriaMetrics": over}


@contextmanager
def _filled(folder: Path, history: History, ours: Embedded | None = None) -> Iterator[Server]:
    """Run a Prometheus that has the history, and what `ours` has recorded."""
    with prometheus(engine("prometheus", "newer"), _fresh(folder), _UNORDERED) as server:
        push(server.url, [*history.samples(), *(ours.recorded() if ours is not None else ())])
        yield server


def _fresh(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix=folder.name, dir=folder.parent))
