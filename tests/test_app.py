"""The daemon's life in one process: what a reload leaves alone, and what keeps it from starting."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from monitor.app import App, StartError
from monitor.clock import SystemClock
from monitor.config.config import Config
from monitor.config.read import load
from monitor.model.instant import HOUR, MINUTE, Instant, slot_at_or_before
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import equal
from monitor.storage.column import Column
from monitor.storage.history.keep import Keep
from tests.ports import free_port
from tests.scrape.wire import Served, page, serving
from tests.storage.history.keeping import Keeper
from tests.waiting import until

PAGE = page(b"vllm:num_requests_running 1\n")


def write(
    folder: Path,
    target: Served,
    *,
    every: str = "1m",
    scrape_timeout: str = "60s",
    listen: str = "127.0.0.1:0",
    probe: str = "false",
) -> Path:
    path = folder / "monitor.yaml"
    path.write_text(
        f"""\
global: {{scrape_interval: {every}, scrape_timeout: {scrape_timeout}}}
scrape_configs:
  - {{job_name: vllm, probe: {{enabled: {probe}}}, static_configs: [{{targets: ["127.0.0.1:{target.port}"]}}]}}
rule_files: []
receivers: [{{name: nobody}}]
web: {{listen: "{listen}"}}
"""
    )
    return path


@contextmanager
def started(config: Path) -> Iterator[tuple[App, str]]:
    app = App(lambda: load(config), SystemClock())
    port = app.start()
    try:
        yield app, f"http://127.0.0.1:{port}"
    finally:
        app.stop()


def scraped(app: App, times: int) -> Column:
    """Return `up` of the only target when it has been scraped so often."""

    def found() -> Column | None:
        return next((up for up in app._window.select([equal(METRIC_NAME, "up")]) if len(up.view[0]) >= times), None)

    return until(found, within=10)


def test_a_reload_does_not_scrape_a_target_that_is_still_being_scraped(tmp_path: Path) -> None:
    def hang(served: Served, _: socket.socket) -> bool:
        served.stopping.wait(120)
        return False

    with serving(hang) as target, started(write(tmp_path, target)) as (app, url):
        until(lambda: target.heads, within=5)
        assert app.reload() == ""
        skipped = 'vllm_monitor_scrapes_skipped_total{job="vllm"}'
        until(lambda: skipped in requests.get(f"{url}/metrics", timeout=60).text, within=5)
        assert len(target.heads) == 1
        target.stopping.set()


def test_a_target_that_is_scraped_in_another_way_after_a_reload_goes_on_with_its_series(tmp_path: Path) -> None:
    with serving(PAGE) as target, started(write(tmp_path, target, every="5s", scrape_timeout="5s")) as (app, _):
        scraped(app, 1)
        write(tmp_path, target, every="5s", scrape_timeout="4s")
        assert app.reload() == ""
        up = scraped(app, 2)
        assert len(target.heads) > 1
        assert up.gaps == []
        assert up.block in [block for _, block in app._window.blocks()]


def test_the_connection_to_a_target_that_is_removed_is_closed_with_it(tmp_path: Path) -> None:
    ended = threading.Event()

    def answer(served: Served, connection: socket.socket) -> bool:
        PAGE(served, connection)
        if connection.recv(1, socket.MSG_PEEK) == b"":
            ended.set()
            return False
        return True

    with serving(answer) as target, started(write(tmp_path, target)) as (app, _):
        scraped(app, 1)
        assert not ended.is_set()
        config = write(tmp_path, target)
        config.write_text(config.read_text().replace(f"127.0.0.1:{target.port}", "127.0.0.1:1"))
        assert app.reload() == ""
        assert ended.wait(60)


def test_a_reload_that_fails_in_a_way_that_nobody_thought_of_ends_nothing(tmp_path: Path) -> None:
    with serving(PAGE) as target:
        config, broken = write(tmp_path, target), threading.Event()

        def loaded() -> Config:
            if broken.is_set():
                raise ZeroDivisionError
            return load(config)

        app = App(loaded, SystemClock())
        url = f"http://127.0.0.1:{app.start()}"
        try:
            broken.set()
            assert app.reload() == "unexpected error: ZeroDivisionError (the log has more)"
            assert "vllm_monitor_config_last_reload_successful 0.0" in requests.get(f"{url}/metrics", timeout=60).text
            broken.clear()
            assert app.reload() == ""
        finally:
            app.stop()


class Interrupted(SystemClock):
    """A clock that is looked at during a start: as soon as the port answers then, somebody asks for a reload."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}"
        self.before = set(threading.enumerate())
        self.reloading = threading.Thread(target=self._reload)
        self.statuses: list[int] = []

    def now(self) -> Instant:
        if threading.current_thread() is threading.main_thread() and not self.reloading.ident and self.begun("web"):
            self.reloading.start()
            # That of a daemon that has begun is over by then.
            self.reloading.join(1)
        return super().now()

    def begun(self, name: str) -> int:
        """Return how many threads of this name the daemon has."""
        return sum(thread.name == name for thread in threading.enumerate() if thread not in self.before)

    def _reload(self) -> None:
        self.statuses.append(requests.post(f"{self._url}/-/reload", timeout=60).status_code)


def test_a_reload_that_is_asked_for_during_a_start_comes_after_it(tmp_path: Path) -> None:
    port = free_port()
    with serving(PAGE) as target:
        config, clock = write(tmp_path, target, listen=f"127.0.0.1:{port}"), Interrupted(port)
        app = App(lambda: load(config), clock)
        app.start()
        try:
            clock.reloading.join(60)
            assert clock.statuses == [200]
            # One timetable, and not that of the start beside that of the reload.
            assert clock.begun("APScheduler") == 1
        finally:
            app.stop()


def test_by_which_names_the_daemon_may_be_asked_changes_with_a_reload(tmp_path: Path) -> None:
    with serving(PAGE) as target, started(write(tmp_path, target)) as (app, url):

        def status() -> int:
            named = {"Host": "gpu01.example.com:9109"}
            return requests.get(f"{url}/metrics", headers=named, timeout=60).status_code

        assert status() == 403
        config = write(tmp_path, target)
        config.write_text(config.read_text().replace("web: {", "web: {allowed_hosts: [gpu01.example.com], "))
        assert app.reload() == ""
        assert status() == 200
        refused = 'vllm_monitor_http_requests_refused_total{reason="host"} 1.0'
        assert refused in requests.get(f"{url}/metrics", timeout=60).text


def test_a_name_that_cannot_be_listened_on_is_said_and_nothing_runs(tmp_path: Path) -> None:
    with serving(PAGE) as target:
        config = write(tmp_path, target, listen="no-such-host.invalid:9109")
        app = App(lambda: load(config), SystemClock())
        with pytest.raises(StartError, match=r"^cannot listen on no-such-host.invalid:9109: .*\(set --listen or"):
            app.start()
        assert not target.heads
    assert app.reload() == "not running"


def test_a_second_daemon_on_the_same_storage_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    with serving(PAGE) as target:
        config = write(tmp_path, target)
        with started(config) as (_, url):
            with pytest.raises(StartError, match=rf"^{tmp_path / 'data'} is in use by another vllm-monitor: stop"):
                App(lambda: load(config), SystemClock()).start()
            assert requests.get(f"{url}/-/healthy", timeout=60).ok
        with started(config):
            pass


def test_what_is_doubtful_in_a_configuration_is_logged_when_it_is_taken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(PAGE) as target:
        config = write(tmp_path, target)
        with started(config) as (app, _):
            assert "configuration" not in caplog.messages
            text = config.read_text()
            config.write_text(text.replace(f'"127.0.0.1:{target.port}"', ""))
            assert app.reload() == ""
    (warning,) = [vars(record)["warning"] for record in caplog.records if record.message == "configuration"]
    assert warning.endswith("there is no target: nothing is watched")


def test_what_left_the_memory_is_answered_from_the_history(tmp_path: Path) -> None:
    with serving(PAGE) as target:
        config = write(tmp_path, target)
        ours = Labels.of({METRIC_NAME: "up", "job": "vllm", "instance": f"127.0.0.1:{target.port}"})
        (tmp_path / "data").mkdir()
        keeper = Keeper(tmp_path / "data", Keep(((equal(METRIC_NAME, "up"),),)))
        end = slot_at_or_before(SystemClock().now(), MINUTE)
        block = keeper.window.block("earlier")
        columns = [block.column(labels) for labels in (ours, ours.with_(instance="gone"))]
        for at in range(end - 3 * HOUR + MINUTE, end + 1, MINUTE):
            block.append(at, columns, (1.0, 0.0))
        keeper.save(end)
        keeper.history.close()
        with started(config) as (_, url):
            until(lambda: requests.get(f"{url}/-/ready", timeout=60).ok, within=10)

            def asked(path: str, **parameters: str) -> Any:
                return requests.get(f"{url}/api/v1/{path}", params=parameters, timeout=60).json()["data"]

            (element,) = asked("query", query="count_over_time(up{job='vllm',instance!='gone'}[150m])")["result"]
            # A minute each, and the one that is not over has a sample already, unless it has just begun.
            assert int(element["value"][1]) in (149, 150, 151)
            hours = {"start": str(end // 1000 - 7200), "end": str(end // 1000 - 3600)}
            assert "gone" in asked("label/instance/values", **hours)
            assert "vllm_monitor_history_series 2.0" in requests.get(f"{url}/metrics", timeout=60).text
