"""All histories in all engines that can play a past: promtool of both Prometheuses, a daemon that asks, vmalert."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from monitor.simulator.scenarios import SCENARIOS
from tests.differential.remote_write import Series, push
from tests.differential.server import Server, prometheus
from tests.engines import engine
from tests.sameness import promtool, served
from tests.sameness.history import History, alerts_alone, recorded, rule_files, simulated
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
# And these in a replay of vmalert.
OTHERWISE_IN_A_REPLAY = frozenset({"VLLMPreemptionStorm"})
Verdicts = dict[str, Sequence[str]]


def play(folder: Path, say: Callable[[str], None]) -> Iterator[str]:
    """Play every history; `say` the tables, and yield what must not be."""
    rules = rule_files(folder)
    played = [path for path in rules if path.name in PLAYED]
    for history in _histories(rules, folder):
        ours = Embedded(history)
        verdicts = {**_promtools(history, ours, folder), **_asked(history, ours, folder)}
        say(table(f"{history.name}: all shipped rules, each group at every evaluation", ours.moments, verdicts))
        yield from _wrong(history, verdicts)
    for history in _histories(played, folder):
        yield from _by_vmalert(history, folder, say, records=False)
    # Its replay writes no staleness markers, so what it records is compared where no server ends.
    yield from _by_vmalert(recorded(RECORDED[0], played), folder, say, records=True)


def _by_vmalert(history: History, folder: Path, say: Callable[[str], None], *, records: bool) -> Iterator[str]:
    ours = Embedded(history)
    rules = history.rules if records else alerts_alone(history.rules, folder)
    given = [*history.samples(), *(() if records else ours.recorded())]
    with prometheus(engine("prometheus", "newer"), _fresh(folder), _UNORDERED) as server:
        push(server.url, given)
        replay(history, rules, server.url, "300ms")
        found = served.moments(server.url, history.slots)
    verdicts: Verdicts = {"vmalert, Prometheus 3": differences(ours.moments, found, Texts.NONE)}
    verdicts |= _victoriametrics(history, ours, rules, given, folder)
    what = "rules" if records else "alerts"
    say(table(f"{history.name}: the {what} of the engine, by vmalert and over VictoriaMetrics", ours.moments, verdicts))
    yield from _wrong(history, verdicts)


def _histories(rules: Sequence[Path], folder: Path) -> Iterator[History]:
    for name in RECORDED:
        yield recorded(name, rules)
    for name in SIMULATED:
        yield simulated(SCENARIOS[name], rules, folder)


def _wrong(history: History, verdicts: Verdicts) -> Iterator[str]:
    for name, found in verdicts.items():
        known = OTHERWISE_IN_VICTORIAMETRICS if "VictoriaMetrics" in name else frozenset()
        known |= OTHERWISE_IN_A_REPLAY if "vmalert" in name else frozenset()
        for alert in sorted(alerts_of(found) - known):
            yield f"{history.name}, {name}: {alert}: {next(told for told in found if alert in alerts_of([told]))}"


def _promtools(history: History, ours: Embedded, folder: Path) -> Verdicts:
    suites = {"Prometheus 3": "newer", "Prometheus 2.42": ""}
    return {
        name: promtool.differences(engine("promtool", suite), history, ours.moments, folder)
        for name, suite in suites.items()
    }


def _asked(history: History, ours: Embedded, folder: Path) -> Verdicts:
    with _filled(folder, history, ours) as server, asked(history, server.url) as moments:
        return {"daemon, asking": differences(ours.moments, moments)}


def _victoriametrics(
    history: History, ours: Embedded, rules: Sequence[Path], given: Sequence[Series], folder: Path
) -> Verdicts:
    with victoria(_fresh(folder)) as url:
        push(url, given)
        flush(url)
        # What a rule finds is seen a second later.
        replay(history, rules, url, "1500ms")
        flush(url)
        played = differences(ours.moments, served.moments(url, history.slots), Texts.NONE)
        with asked(history, url) as moments:
            over = differences(ours.moments, moments, Texts.ROUNDED)
    return {"vmalert, VictoriaMetrics": played, "daemon, asking VictoriaMetrics": over}


@contextmanager
def _filled(folder: Path, history: History, ours: Embedded) -> Iterator[Server]:
    """Run a Prometheus that has the history, and what `ours` has recorded."""
    with prometheus(engine("prometheus", "newer"), _fresh(folder), _UNORDERED) as server:
        push(server.url, [*history.samples(), *ours.recorded()])
        yield server


def _fresh(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=folder))
