"""What the HTTP side tells of itself, and how it refuses."""

import threading
from functools import partial
from typing import Any

import pytest
import requests
from flask import Flask

from monitor.model.labels import Labels
from monitor.model.target import Target
from monitor.scrape.options import ScrapeOptions
from monitor.scrape.target import Answer, ScrapeLoop
from monitor.storage.window import Window
from monitor.web.server import Server
from tests.waiting import until
from tests.web.samples import fill, series
from tests.web.serving import NOW, StandIn, serve

PAGES = (
    "# HELP a_total How many.\n# TYPE a_total counter\na_total 1\n# TYPE b gauge\nb 1\n",
    "# HELP a_total How many.\n# TYPE a_total counter\na_total 1\n# HELP b Else.\n# TYPE b gauge\nb 1\n",
)


def scraped(window: Window) -> list[ScrapeLoop]:
    """Return a target for each page, scraped once."""
    loops = []
    for number, page in enumerate(PAGES):
        labels = Labels.of(job="x", instance=f"i{number}")
        target = Target("x", f"http://i{number}/metrics", labels, labels)
        loop = ScrapeLoop(target, ScrapeOptions(), window, partial(Answer, page.encode(), "text/plain"))
        loop.scrape(NOW)
        loops.append(loop)
    return loops


A = {"type": "counter", "unit": "", "help": "How many."}
B = [{"type": "gauge", "unit": "", "help": ""}, {"type": "gauge", "unit": "", "help": "Else."}]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, {"a_total": [A], "b": B}),
        ({"metric": "b"}, {"b": B}),
        ({"metric": "c"}, {}),
        ({"limit": 1}, {"a_total": [A]}),
        ({"limit": 0}, {}),
        ({"limit_per_metric": 1}, {"a_total": [A], "b": B[:1]}),
    ],
)
def test_metadata_is_each_different_description_once(parameters: dict[str, Any], expected: dict[str, Any]) -> None:
    window = Window()
    with serve(window, StandIn(scraped(window))) as ours:
        assert ours.data("/api/v1/metadata", **parameters) == expected


def test_who_answers_says_which_api_it_speaks_and_its_own_version() -> None:
    with serve(Window()) as ours:
        data = ours.data("/api/v1/status/buildinfo")
    assert (data["version"], data["branch"], data["revision"]) == ("3.5.0", "vllm-monitor", "0.0.test")
    # With this key, Grafana would take us for Mimir.
    assert "features" not in data


def test_the_limits_that_hold_are_told() -> None:
    with serve(Window(retention=7_200_000)) as ours:
        assert ours.data("/api/v1/status/flags") == {
            "query.lookback-delta": "5m",
            "query.max-concurrency": "2",
            "query.timeout": "30s",
            "storage.tsdb.retention.time": "2h",
        }
        assert ours.data("/api/v1/status/runtimeinfo") == {
            "startTime": "2023-11-14T22:23:20.000Z",
            "serverTime": "2023-11-14T22:23:20.000Z",
            "storageRetention": "2h",
        }


def test_the_window_is_counted_as_a_tsdb() -> None:
    window = Window()
    fill(window, series())
    with serve(window) as ours:
        data = ours.data("/api/v1/status/tsdb")
    assert data["headStats"] == {
        "numSeries": 15,
        "numLabelPairs": 17,
        "chunkCount": 15,
        "minTime": NOW - 600_000,
        "maxTime": NOW,
    }
    assert {"name": "latency_seconds_bucket", "value": 3} in data["seriesCountByMetricName"]
    assert {"name": "le", "value": 3} in data["labelValueCountByLabelName"]
    assert {"name": "job=vllm", "value": 9} in data["seriesCountByLabelValuePair"]


def test_an_empty_window_is_no_error() -> None:
    with serve(Window()) as ours:
        assert ours.data("/api/v1/status/tsdb")["headStats"]["maxTime"] == 0
        assert ours.data("/api/v1/labels") == []


def test_a_reload_says_what_is_wrong() -> None:
    daemon = StandIn()
    with serve(Window(), daemon) as ours:
        assert requests.post(ours.url + "/-/reload", timeout=60).status_code == 200
        daemon.mistakes = "monitor.yaml:1:1: no"
        reply = requests.post(ours.url + "/-/reload", timeout=60)
        assert (reply.status_code, reply.text) == (400, "monitor.yaml:1:1: no\n")
        wrong = ours.get("/-/reload")
        assert (wrong.status_code, wrong.headers["Allow"]) == (405, "POST")


def test_a_body_that_is_too_large_is_refused_and_a_long_expression_by_its_length() -> None:
    with serve(Window()) as ours:
        url = ours.url + "/api/v1/query"
        reply = requests.post(url, data={"query": "x" * 70_000}, timeout=60)
        assert (reply.status_code, reply.json()["errorType"]) == (400, "bad_data")
        assert "65536" in reply.json()["error"]
        assert requests.post(url, data={"query": "x" * 1_100_000}, timeout=60).status_code == 413


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_stopped_server_lets_go_of_its_address_and_its_threads(host: str) -> None:
    before = set(threading.enumerate())
    server = Server(Flask("x"), host, 0)
    server.start()
    assert requests.get(f"http://{host}:{server.port}/", timeout=60).status_code == 404
    server.stop()
    until(lambda: set(threading.enumerate()) <= before, within=5)

    def is_free() -> bool:
        try:
            Server(Flask("x"), host, server.port).stop()
        except OSError:
            return False
        return True

    # Whoever asks the kernel for any port may be given this one for a moment.
    until(is_free, within=5)
