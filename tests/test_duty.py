"""Who is on duty, in one process: two daemons over one folder, and one alone."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import requests

from monitor.app import StartError
from monitor.clock import SystemClock, monotonic_seconds
from monitor.config.config import Config
from monitor.config.read import load
from monitor.duty import Duty, telling_nobody
from monitor.model.instant import SECOND, Duration
from monitor.storage.lease import Lease
from monitor.storage.lock import FolderLock
from monitor.storage.migrations import MIGRATIONS
from monitor.yamldoc.mistake import NOWHERE, DocumentError, Mistake
from tests.waiting import until

CONFIG = """\
rule_files: []
storage: {path: data}
ha: {lease: 1m}
web: {listen: 127.0.0.1:0}
heartbeat: {url: "http://127.0.0.1:1/"}
receivers: [{name: oncall, webhook_configs: [{url: "http://127.0.0.1:1/"}]}]
alerting: {alertmanagers: [{static_configs: [{targets: ["127.0.0.1:1"]}]}]}
slack: {signing_secret: abc}
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    (tmp_path / "monitor.yaml").write_text(CONFIG)
    return load(tmp_path / "monitor.yaml")


@contextmanager
def on_duty(config: Config, lost: threading.Event | None = None) -> Iterator[tuple[Duty, str]]:
    duty = Duty(lambda: config, SystemClock(), lost=(lost or threading.Event()).set)
    port = duty.start()
    try:
        yield duty, f"http://127.0.0.1:{port}"
    finally:
        duty.stop()


def waiting(config: Config, lease: Duration) -> Config:
    """Return a configuration by which the others wait so long for one that gives no sign of life."""
    assert config.ha is not None
    return replace(config, ha=config.ha.model_copy(update={"lease": lease}))


def role(url: str) -> str:
    try:
        return str(requests.get(f"{url}/-/ready", timeout=60).json()["role"])
    except requests.RequestException:
        return ""


def test_who_ends_is_relieved_at_once_and_the_port_stays(config: Config) -> None:
    with on_duty(config) as (first, one), on_duty(config) as (_, other):
        assert (role(one), role(other)) == ("active", "standby")
        message = {"version": "4", "groupKey": "k", "alerts": [{"status": "firing", "labels": {"alertname": "A"}}]}
        assert requests.post(f"{other}/alertmanager", json=message, timeout=60).status_code == 503
        assert requests.get(f"{other}/-/active", timeout=60).status_code == 503
        first.stop()
        until(lambda: role(other) == "active", within=10)
        # It is active from when it has the lease; its lanes are at work a moment later.
        until(lambda: requests.post(f"{other}/alertmanager", json=message, timeout=60).status_code == 200, within=10)
        assert requests.get(f"{other}/-/active", timeout=60).status_code == 200


def test_what_was_kept_while_standing_by_is_taken_away_by_whoever_comes_next(config: Config) -> None:
    folder = config.storage.path
    (folder / "standby-killed").mkdir(parents=True)
    (folder / "standby-alive").mkdir()
    lock = FolderLock(folder / "standby-alive")
    with on_duty(config), on_duty(config):
        left = {path.name for path in folder.glob("standby-*")}
        assert len(left) == 2
        assert "standby-killed" not in left
    assert [path.name for path in folder.glob("standby-*")] == ["standby-alive"]
    lock.close()


def test_who_relieves_another_one_goes_on_with_the_last_configuration_that_was_right(config: Config) -> None:
    wrong: list[Mistake] = []

    def load() -> Config:
        if wrong:
            raise DocumentError(wrong)
        return config

    with on_duty(config) as (first, _):
        other = Duty(load, SystemClock(), lost=lambda: None)
        url = f"http://127.0.0.1:{other.start()}"
        wrong.append(Mistake("monitor.yaml", NOWHERE, "", "somebody is writing it"))
        first.stop()
        until(lambda: role(url) == "active", within=10)
        assert "somebody is writing it" in other.reload()
        other.stop()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param(lambda config, folder: storing(config, folder / "other"), "storage.path", id="another folder"),
        pytest.param(lambda config, _: replace(config, ha=None), "ha", id="alone"),
    ],
)
def test_what_needs_a_restart_is_refused_whoever_stands_by_and_does_not_count_when_it_goes_on_duty(
    config: Config, tmp_path: Path, change: Callable[[Config, Path], Config], why: str
) -> None:
    given = [config]
    with on_duty(config) as (first, _):
        other = Duty(lambda: given[-1], SystemClock(), lost=lambda: None)
        url = f"http://127.0.0.1:{other.start()}"
        given.append(change(config, tmp_path))
        assert f"{why} cannot change" in other.reload()
        first.stop()
        until(lambda: role(url) == "active", within=10)
        assert not (tmp_path / "other").exists()
        other.stop()


def storing(config: Config, folder: Path) -> Config:
    return replace(config, storage=config.storage.model_copy(update={"path": folder}))


def test_whoever_cannot_go_on_duty_goes_on_standing_by_and_does_not_try_without_a_pause(
    config: Config, caplog: pytest.LogCaptureFixture
) -> None:
    pause = 3 * SECOND
    config = waiting(config, pause)
    with on_duty(config) as (first, _), on_duty(config) as (_, other):
        # Before: the other one may look at any time.
        with closing(sqlite3.connect(config.storage.path / "monitor.db", timeout=60)) as file:
            file.execute("PRAGMA user_version = 999")
        began = monotonic_seconds()
        first.stop()
        until(lambda: "newer vllm-monitor" in caplog.text, within=10)
        until(lambda: role(other) == "standby", within=5)
        threading.Event().wait(1.5)
        # Each attempt has left the next number.
        attempts = max(int(path.name.removeprefix("active-")) for path in config.storage.path.glob("active-*")) - 1
        assert attempts <= 1 + (monotonic_seconds() - began) * SECOND // pause
        assert caplog.text.count("newer vllm-monitor") == 1
        with closing(sqlite3.connect(config.storage.path / "monitor.db")) as file:
            file.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        until(lambda: role(other) == "active", within=10)


def test_whoever_cannot_take_the_lease_is_not_even_interrupted(config: Config) -> None:
    config = waiting(config, SECOND)
    with on_duty(config) as (_, _), on_duty(config) as (duty, other):
        before, folder = duty._app, config.storage.path
        # Something that cannot be opened: as where the disk was mounted read-only.
        (folder / "active-2").mkdir()
        threading.Event().wait(0.5)
        assert (role(other), duty._app) == ("standby", before)
        (folder / "active-2").rmdir()


def test_a_state_file_that_cannot_be_copied_does_not_leave_nobody_on_duty(config: Config) -> None:
    folder = config.storage.path
    folder.mkdir()
    (folder / "monitor.db").write_bytes(b"no database, " * 1000)
    hung = Lease.take(folder)
    with on_duty(waiting(config, SECOND)) as (_, url):
        until(lambda: role(url) == "active", within=10)
        assert not hung.renew()
        assert [path.name for path in folder.glob("*copy*")] == []


def test_the_file_of_one_that_knows_of_no_lease_stays_where_it_is(config: Config) -> None:
    folder = config.storage.path
    folder.mkdir()
    with closing(FolderLock(folder)), closing(sqlite3.connect(folder / "monitor.db")) as file:
        file.execute("CREATE TABLE something (a)")
        file.execute("BEGIN IMMEDIATE")
        before = (folder / "monitor.db").stat().st_ino
        with pytest.raises(StartError, match="in use"):
            Duty(lambda: config, SystemClock()).start()
        assert (folder / "monitor.db").stat().st_ino == before


def test_whoever_ends_has_the_lease_until_all_is_told(config: Config) -> None:
    with on_duty(config) as (duty, _):
        path = next(config.storage.path.glob("active-*"))
        duty._stopping.set()
        before = path.stat().st_mtime_ns
        until(lambda: path.stat().st_mtime_ns != before, within=5)


def test_who_stands_by_does_not_say_that_nothing_was_handled(config: Config) -> None:
    with on_duty(config) as (_, one), on_duty(config) as (_, other):
        statuses = [requests.get(f"{url}/api/v1/incidents", timeout=60).status_code for url in (one, other)]
        assert statuses == [200, 503]


def test_a_third_one_stands_by_as_well_and_only_one_goes_on_duty(config: Config) -> None:
    with on_duty(config) as (first, _), on_duty(config) as (_, one), on_duty(config) as (_, other):
        first.stop()
        until(lambda: sorted((role(one), role(other))) == ["active", "standby"], within=10)


def test_one_that_finds_itself_replaced_is_told_so(config: Config) -> None:
    lost = threading.Event()
    with on_duty(config, lost):
        # What another one does that thinks this one dead.
        (config.storage.path / "active-2").write_text("")
        assert lost.wait(60)


def test_a_daemon_alone_answers_as_ever(config: Config) -> None:
    with on_duty(replace(config, ha=None)) as (_, url):
        assert until(lambda: requests.get(f"{url}/-/ready", timeout=60).text, within=5).startswith("vllm-monitor")
        assert requests.get(f"{url}/-/active", timeout=60).text == "vllm-monitor is active.\n"
        with pytest.raises(StartError, match="in use"):
            Duty(lambda: config, SystemClock()).start()


def test_whoever_stands_by_tells_nobody(config: Config, tmp_path: Path) -> None:
    quiet = telling_nobody(config, tmp_path)
    assert [receiver.model_dump(exclude={"name"}, exclude_defaults=True) for receiver in quiet.receivers] == [{}]
    assert (quiet.heartbeat, quiet.report, quiet.slack.has_buttons) == (None, None, False)
    assert (quiet.alerting.alertmanagers, quiet.remote_write) == ((), ())
    # All the rest is the same.
    changed = {"storage", "receivers", "heartbeat", "slack", "alerting"}
    assert {name for name in Config.__slots__ if getattr(quiet, name) != getattr(config, name)} == changed
