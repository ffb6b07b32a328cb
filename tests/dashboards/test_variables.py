"""What is chosen above a dashboard, as Grafana asks for it and writes it into queries, whatever the names are."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests

from dashboards.preview.variables import Chosen, Variables
from monitor.model.instant import to_seconds
from monitor.model.labels import Labels
from monitor.storage.window import Window
from tests.dashboards.queries import dashboards, panels
from tests.differential.remote_write import push
from tests.differential.server import prometheus
from tests.engines import engine
from tests.web.samples import START, Series, fill
from tests.web.serving import NOW, serve

NAMES = (
    "meta-llama/Llama-3.1-8B-Instruct",
    "10.0.0.1:8000",
    "[fd00::1]:8000",
    r"C:\models\new",
    'the "best" one',
    "it's $model_name",
    "a.*(b|c){2}+?^",
    "a|b",
    "a",
    "b",
    "模型 é",
)
EVERYTHING = Chosen(NAMES, every=".+")
PERIOD = {"start": to_seconds(START), "end": to_seconds(NOW)}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Yield where the daemon answers, and a Prometheus with the same samples."""
    samples: Series = [
        (
            Labels.of({"__name__": metric, "job": name, "instance": name, "model_name": name, "engine": "0"}),
            [(NOW - 15_000, 1.0), (NOW, number)],
        )
        for number, name in enumerate(NAMES)
        for metric in ("up", "vllm_engine:requests_running")
    ]
    window = Window()
    fill(window, samples)
    with (
        prometheus(engine("prometheus", "newer"), tmp_path_factory.mktemp("variables")) as theirs,
        serve(window) as ours,
    ):
        push(theirs.url, samples)
        yield ours.url, theirs.url


def _found(url: str, path: str, **asked: Any) -> Any:
    answer = requests.get(f"{url}/api/v1/{path}", params=asked, timeout=60).json()
    assert answer["status"] == "success", answer
    return answer["data"]


def _chosen(**names: Chosen) -> Variables:
    return Variables(
        {"job": EVERYTHING, "instance": EVERYTHING, "model_name": EVERYTHING, "engine": EVERYTHING} | names
    )


def _running(url: str, variables: Variables) -> dict[str, str]:
    """Return what the first query of "Requests" finds, by the name of the server."""
    page = next(page for page in dashboards() if page["uid"] == "vllm-monitor-overview")
    panel = next(panel for panel in panels(page) if panel["title"] == "Requests")
    found = _found(url, "query", query=variables.filled(panel["targets"][0]["expr"]), time=PERIOD["end"])
    return {one["metric"]["instance"]: one["value"][1] for one in found["result"]}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_chosen_whatever_characters_it_has(name: str, both: tuple[str, str]) -> None:
    for variables in (_chosen(instance=Chosen((name,))), _chosen(model_name=Chosen((name,)), job=Chosen((name,)))):
        ours, theirs = (_running(url, variables) for url in both)
        assert ours == theirs == {name: str(NAMES.index(name))}


def test_several_names_are_chosen_together(both: tuple[str, str]) -> None:
    some = NAMES[3:8]
    ours, theirs = (_running(url, _chosen(instance=Chosen(some))) for url in both)
    assert ours == theirs
    assert ours.keys() == set(some)


@pytest.mark.parametrize("job", [EVERYTHING, Chosen(NAMES[4:5]), Chosen(NAMES[4:8])], ids=["all", "one", "several"])
@pytest.mark.parametrize("way", ["values", "series"])
def test_the_values_of_a_variable_are_those_that_a_prometheus_has(way: str, job: Chosen, both: tuple[str, str]) -> None:
    """Data sources that are set to an old version of Prometheus ask for series."""
    selector = _chosen(job=job).filled('up{job=~"$job"}')
    path = {"values": "label/instance/values", "series": "series"}[way]
    ours, theirs = (_found(url, path, **{"match[]": selector}, limit=40000, **PERIOD) for url in both)
    names = [[one["instance"] if way == "series" else one for one in found] for found in (ours, theirs)]
    assert sorted(names[0]) == sorted(names[1]) == sorted(job.values)


def test_the_check_of_a_data_source_succeeds(both: tuple[str, str]) -> None:
    """A button in Grafana, which asks for `1+1` and for who answers."""
    for url in both:
        assert requests.post(f"{url}/api/v1/query", data={"query": "1+1", "time": 5}, timeout=60).json() == {
            "status": "success",
            "data": {"resultType": "scalar", "result": [5, "2"]},
        }
        assert "version" in _found(url, "status/buildinfo")
        assert isinstance(_found(url, "rules")["groups"], list)
        assert isinstance(_found(url, "alerts")["alerts"], list)
        assert _found(url, "query_exemplars", query="up", **PERIOD) == []
        assert isinstance(_found(url, "metadata", limit=5000), dict)
