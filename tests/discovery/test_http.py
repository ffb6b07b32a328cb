"""Targets that a server lists."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from monitor.commands.discovered import as_json, look
from monitor.config.clients import BasicAuth
from monitor.config.discovering import HttpSDConfig
from monitor.config.read import load
from monitor.config.secret import Hidden
from monitor.discoveries import RETRY, discovery_of
from monitor.discovery.errors import DiscoveryError
from monitor.discovery.provider import Listener, Provider
from monitor.model.instant import SECOND
from monitor.model.labels import Labels
from tests.discovery import promtool

GOOD = [{"targets": ["a:1", "b:1"], "labels": {"pool": "x"}}, {"targets": ["c:1"]}]


class Answers:
    """What the server answers next, and what it was asked with."""

    def __init__(self) -> None:
        self.status, self.body, self.type = 200, json.dumps(GOOD), "application/json; charset=utf-8"
        self.asked: list[dict[str, str]] = []


@contextmanager
def served(answers: Answers) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answers.asked.append(dict(self.headers))
            self.send_response(answers.status)
            self.send_header("Content-Type", answers.type)
            self.end_headers()
            self.wfile.write(answers.body.encode())

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/targets"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def provider(url: str, **more: Any) -> Provider:
    return Provider("j", "http", discovery_of(HttpSDConfig(url=url, **more)), Listener(), RETRY)


def test_the_list_is_asked_for_as_prometheus_does_and_its_targets_say_where_they_come_from() -> None:
    answers = Answers()
    with served(answers) as url:
        auth = BasicAuth(username="u", password=Hidden("p"))
        found = provider(url + "?site=1", refresh_interval=90 * SECOND, basic_auth=auth)
        assert found.step() == 90 * SECOND
    assert [len(group.targets) for group in found.groups] == [2, 1]
    assert found.groups[0].labels == Labels.of(pool="x", __meta_url=url + "?site=1")
    (asked,) = answers.asked
    assert asked["X-Prometheus-Refresh-Interval-Seconds"] == "90"
    assert asked["Accept"] == "application/json"
    assert asked["Authorization"].startswith("Basic ")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"status": 503}, "/targets: server returned HTTP status 503"),
        ({"status": 401}, "/targets: server returned HTTP status 401"),
        ({"body": " " * 10_000_000}, "/targets: body exceeds body_size_limit"),
        ({"type": "text/html"}, "the content type is not application/json"),
        ({"body": '[{"targets": [}]'}, "/targets:1:15: is not valid JSON"),
        ({"body": '[{"tragets": []}]'}, '/targets:1:3: target group 1: unknown field "tragets"'),
    ],
)
def test_when_the_server_fails_its_last_list_stays(change: dict[str, Any], told: str) -> None:
    answers = Answers()
    with served(answers) as url:
        found = provider(url)
        found.step()
        before = found.groups
        for name, value in change.items():
            setattr(answers, name, value)
        assert found.step() == RETRY
    assert found.groups == before
    assert told in found.error


def test_no_message_repeats_what_may_be_a_secret_of_the_url() -> None:
    answers = Answers()
    for answers.type, answers.status in (("text/html", 200), ("text/html", 500)):
        with served(answers) as url, pytest.raises(DiscoveryError) as told:
            discovery_of(HttpSDConfig(url=url + "?token=geheim")).look()
        assert "geheim" not in str(told.value)


def test_a_list_that_is_as_before_is_the_very_same() -> None:
    """So that nobody goes through its targets again."""
    with served(Answers()) as url:
        found = provider(url)
        found.step()
        before = found.groups
        found.step()
    assert found.groups is before


def test_the_targets_are_those_that_promtool_finds(tmp_path: Path) -> None:
    with served(Answers()) as url:
        job = {"job_name": "j", "http_sd_configs": [{"url": url}], "params": {"x": ["y"]}}
        file = tmp_path / "prometheus.yml"
        times = {"scrape_interval": "1m", "scrape_timeout": "10s"}
        file.write_text(yaml.safe_dump({"global": times, "scrape_configs": [job]}))
        (looked,) = look(load(file).scrape_configs)
        ours = sorted(map(str, as_json(looked)))
        theirs = promtool.found(file, "j", lambda found: sorted(map(str, found)) == ours)
    assert len(ours) == 3
    assert ours == sorted(map(str, theirs))
