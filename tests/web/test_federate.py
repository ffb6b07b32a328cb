"""/federate: the page that a Prometheus with the same samples gives, and a Prometheus that scrapes ours."""

import subprocess
from pathlib import Path

import pytest
import requests

from monitor.clock import SystemClock
from monitor.model.instant import SECOND
from monitor.model.labels import Labels
from monitor.storage.window import Window
from monitor.web.federate import Newest, page_of
from tests.differential.remote_write import push
from tests.differential.server import prometheus
from tests.engines import engine
from tests.waiting import until
from tests.web.samples import Series, fill, series
from tests.web.serving import NOW, serve

THEIRS = "global: {external_labels: {cluster: eu, job: theirs}}\n"
ASKED = (
    ["up"],
    ["up", '{__name__=~"u.*"}', "nosuch"],
    ['{job="other"}'],
    ["tiny", "latency_seconds_bucket", "ended"],
    ['{__name__=~".+"}'],
)
ACCEPT = {
    "of old": "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
    "of now": "text/plain;version=0.0.4;escaping=allow-utf-8;q=0.5,*/*;q=0.1",
}


def shifted(by: int) -> Series:
    """Return the samples of the tests at another time: a Prometheus federates what is new."""
    return [(labels, [(at + by, value) for at, value in samples]) for labels, samples in series()]


def test_the_page_is_that_of_a_prometheus(tmp_path: Path) -> None:
    by = SystemClock().now() - NOW - 20 * SECOND
    window = Window()
    fill(window, shifted(by))
    with prometheus(engine("prometheus", "newer"), tmp_path, THEIRS) as theirs, serve(window, now=NOW + by) as ours:
        push(theirs.url, shifted(by))
        for match in ASKED:
            for accept in ACCEPT.values():
                pages = [_page(url, match, accept) for url in (ours.url, theirs.url)]
                assert pages[0] == pages[1]
        for wrong in (["up{"], ["rate(up[5m])"]):
            answers = [
                requests.get(f"{url}/federate", {"match[]": wrong}, timeout=60) for url in (ours.url, theirs.url)
            ]
            assert [answer.status_code for answer in answers] == [400, 400]
        assert _page(ours.url, [], "") == _page(theirs.url, [], "") == []


def _page(url: str, match: list[str], accept: str) -> list[str]:
    """Return the lines, families in their order, the series of each sorted: Prometheus promises no order of these."""
    answer = requests.get(f"{url}/federate", {"match[]": match}, headers={"Accept": accept}, timeout=60)
    assert answer.status_code == 200, answer.text
    families: list[list[str]] = []
    for line in answer.text.splitlines():
        if line.startswith("#"):
            families.append([line])
        else:
            families[-1].append(line)
    return [line for family in families for line in (family[0], *sorted(family[1:]))]


def test_labels_that_are_the_same_with_underscores_come_once_to_who_knows_no_others() -> None:
    sample = Newest(Labels.of({"__name__": "up", "a.b": "1", "a_b": "2", "job": "x"}), NOW, 1.0)
    beside = Labels.of({"a-b": "3"})
    assert page_of([sample], beside, plain=True) == (f'# TYPE up untyped\nup{{a_b="1",job="x",instance=""}} 1 {NOW}\n')
    assert page_of([sample], beside, plain=False) == (
        f'# TYPE up untyped\nup{{"a.b"="1",a_b="2",job="x","a-b"="3",instance=""}} 1 {NOW}\n'
    )


@pytest.mark.parametrize("suite", ["", "newer"])
def test_a_prometheus_that_federates_us_and_promtool_that_asks_us_read_the_same(suite: str, tmp_path: Path) -> None:
    now = SystemClock().now()
    window = Window()
    fill(window, shifted(now - NOW))
    with serve(window, now=now) as ours:
        address = ours.url.removeprefix("http://")
        config = (
            "scrape_configs: [{job_name: federate, honor_labels: true, metrics_path: /federate, scrape_interval: 1s, "
            f'params: {{"match[]": [\'{{job="vllm"}}\']}}, static_configs: [{{targets: ["{address}"]}}]}}]\n'
        )
        with prometheus(engine("prometheus", suite), tmp_path, config) as theirs:
            query = (
                'sum without (cluster) (requests_total{job="vllm"})'  # of ours, as any server that is federated adds
            )
            until(lambda: theirs.query(query, SystemClock().now(), None, 0)["data"]["result"], within=20)
            read = [_instant(suite, server.url, query) for server in (ours, theirs)]
    assert len(read[0]) == 3
    assert read[0] == read[1]


def _instant(suite: str, url: str, query: str) -> list[str]:
    """Return the series that promtool prints, without the time, which is that of the question."""
    done = subprocess.run(
        [engine("promtool", suite), "query", "instant", url, query], capture_output=True, text=True, check=True
    )
    return sorted(line.partition(" @[")[0] for line in done.stdout.splitlines())
