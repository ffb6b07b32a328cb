"""
One set of rules means the same everywhere: the same series and rule files, in every engine there is.

Quick: one recording, the rules of the engine. `make sameness` plays all of it, and in real time as well.
"""

from pathlib import Path

import pytest

from tests.differential.remote_write import push
from tests.differential.server import prometheus
from tests.engines import engine
from tests.sameness import promtool
from tests.sameness.history import History, recorded, rule_files
from tests.sameness.moments import alerts_of, differences, table, transitions
from tests.sameness.ours import Embedded, asked


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    rules = rule_files(tmp_path_factory.mktemp("rules"))
    return recorded("vllm-0.32.0-overload-1s", [path for path in rules if path.name == "engine.rules.yaml"])


@pytest.fixture(scope="module")
def daemon(history: History) -> Embedded:
    return Embedded(history)


def test_the_daemon_and_both_prometheuses_find_the_same_at_every_evaluation(
    history: History, daemon: Embedded, tmp_path: Path
) -> None:
    verdicts = {
        name: promtool.differences(engine("promtool", suite), history, daemon.moments, tmp_path)
        for name, suite in (("Prometheus 3", "newer"), ("Prometheus 2.42", ""))
    }
    print(table(history.name, daemon.moments, verdicts))  # noqa: T201 - the proof, for whoever looks
    assert verdicts == {"Prometheus 3": [], "Prometheus 2.42": []}
    # Alerts that never come prove little.
    assert len(transitions(daemon.moments)) == 12


def test_the_daemon_that_asks_a_prometheus_finds_the_same_as_in_its_own_window(
    history: History, daemon: Embedded, tmp_path: Path
) -> None:
    with prometheus(engine("prometheus", "newer"), tmp_path) as server:
        push(server.url, [*history.samples(), *daemon.recorded()])
        with asked(history, server.url) as moments:
            assert differences(daemon.moments, moments) == []


def test_a_difference_of_one_alert_at_one_evaluation_is_found(
    history: History, daemon: Embedded, tmp_path: Path
) -> None:
    at = next(at for at, now in daemon.moments.items() if now)
    wrong = {**daemon.moments, at: {}}
    found = promtool.differences(engine("promtool", "newer"), history, wrong, tmp_path)
    assert {told.partition(":")[0] for told in found} == {str(at)}
    names = {labels.value("alertname") for labels in daemon.moments[at]}
    assert alerts_of(differences(daemon.moments, wrong)) == names
