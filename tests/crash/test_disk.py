"""What the disk may do to a daemon: fill up, or come back with other bytes than were written."""

import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest

from monitor.clock import VirtualClock
from monitor.model.instant import MINUTE
from monitor.storage.db import FILE_NAME, Database
from monitor.storage.migrations import MIGRATIONS
from monitor.storage.rows import Changes, LogRow
from monitor.storage.snapshot import FILE_NAME as SNAPSHOT
from tests.acceptance.daemon import Daemon, daemon
from tests.recorded import RecordedServer, Recording
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN
from tests.waiting import until

QUIET, TROUBLE = 0, MINUTE
ENTRY = '{"firing": [], "resolved": []}'
SIZE = "1m"
# Less than this is left of the disk: too little for a transaction.
BALLAST_PIECE = 512
# One scrape that fails, because the machine had something else to do, is no end of the alert.
RULES = """\
groups:
  - name: own
    rules: [{alert: Trouble, expr: "max_over_time(trouble[1m]) > 0", annotations: {summary: "there is trouble"}}]
"""


@dataclass
class House:
    """A daemon's folder, and the world around it: `clock` says what is on the page."""

    folder: Path
    clock: VirtualClock
    slack: SlackStub

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def database(self) -> Path:
        return self.state / FILE_NAME

    def told(self) -> list[str]:
        return [message.text.splitlines()[0] for message in self.slack.messages]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    clock = VirtualClock(QUIET)
    recording = Recording((QUIET, TROUBLE), ("trouble 0\n", "trouble 1\n"))
    with RecordedServer(recording, clock) as page, SlackStub() as slack:
        (tmp_path / "token").write_text(TOKEN)
        (tmp_path / "own.rules.yaml").write_text(RULES)
        (tmp_path / "monitor.yaml").write_text(
            f"""\
global: {{scrape_interval: 200ms, slack_base_url: "{slack.base_url}"}}
scrape_configs: [{{job_name: watched, static_configs: [{{targets: ["{page.address}"]}}]}}]
rule_files: [own.rules.yaml]
route: {{receiver: oncall, group_by: [alertname], group_wait: 0s, group_interval: 1s}}
receivers: [{{name: oncall, slack_configs: [{{channel: {CHANNEL}, bot_token_file: token}}]}}]
storage: {{path: state}}
web: {{listen: 127.0.0.1:0}}
"""
        )
        (tmp_path / "state").mkdir()
        yield House(tmp_path, clock, slack)


@pytest.fixture
def small_disk(house: House) -> Iterator[House]:
    """Give the state a disk of its own."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(house.state)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"mounting a disk takes more rights than this user has: {mounted.stderr.strip()}")
    try:
        yield house
    finally:
        subprocess.run(["umount", str(house.state)], check=True)


def fill(folder: Path) -> Path:
    """Write until nothing more goes onto the disk; return what takes the room."""
    ballast = folder / "ballast"
    with ballast.open("ab", buffering=0) as file:
        try:
            while file.write(b"\0" * BALLAST_PIECE):
                pass
        except OSError:
            return ballast
    raise AssertionError("the disk has no end")


def run(house: House) -> AbstractContextManager[Daemon]:
    return daemon(house.folder, "--config", str(house.folder / "monitor.yaml"))


def value(ours: Daemon, metric: str) -> float:
    found = re.search(rf"^{metric} (\S+)$", ours.get("/metrics"), re.MULTILINE)
    assert found
    return float(found[1])


def test_a_full_disk_keeps_nobody_from_being_told_and_the_state_is_whole_when_there_is_room(small_disk: House) -> None:
    house = small_disk
    with run(house) as ours:
        until(ours.is_ready, within=10)
        ballast = fill(house.state)
        house.clock.at = TROUBLE
        until(house.told, within=10)
        until(lambda: value(ours, "vllm_monitor_state_write_failures_total") > 0, within=10)
        assert value(ours, "vllm_monitor_state_written") == 0
        ballast.unlink()
        until(lambda: value(ours, "vllm_monitor_state_written") == 1, within=10)
        ours.end(signal.SIGKILL)
    with run(house) as ours:
        until(ours.is_ready, within=10)
        (alert,) = ours.data("/api/v1/alerts")["alerts"]
        assert alert["state"] == "firing"
        house.clock.at = QUIET
        ours.end()
    assert len(house.told()) == 1, "the second life knew what the first had told"


def test_what_a_full_disk_leaves_of_a_snapshot_takes_no_room(small_disk: House) -> None:
    house = small_disk
    with run(house) as ours:
        until(ours.is_ready, within=10)
        fill(house.state)
        assert ours.end()[0] == 0
        assert "window not saved" in ours.log
    assert [path.name for path in house.state.iterdir() if path.name.startswith(SNAPSHOT)] == []


def _garbage(database: Path) -> None:
    database.write_bytes(bytes(range(256)) * 64)


def _cut_in_half(database: Path) -> None:
    _fill_database(database)
    whole = database.read_bytes()
    database.write_bytes(whole[: len(whole) // 2])


def _another_text(database: Path) -> None:
    _fill_database(database)
    connection = sqlite3.connect(database)
    connection.execute("INSERT INTO nflog VALUES ('{}', 'oncall/slack[0]', ?, 'no JSON')", (1 << 60,))
    connection.commit()
    connection.close()


def _fill_database(database: Path) -> None:
    kept = Database(database.parent)
    kept.commit([Changes(log=tuple(LogRow(str(number), "gone", 1 << 60, ENTRY) for number in range(500)))])
    kept.close()


@pytest.mark.parametrize("damage", [_garbage, _cut_in_half, _another_text])
def test_a_damaged_state_file_is_set_aside_loudly_and_the_daemon_begins_anew(
    house: House, damage: Callable[[Path], None]
) -> None:
    damage(house.database)
    damaged = house.database.read_bytes()
    house.clock.at = TROUBLE
    with run(house) as ours:
        until(house.told, within=10)
        assert value(ours, "vllm_monitor_state_set_aside") == 1
        assert 'level=error msg="the state file is damaged and was set aside' in ours.log
        ours.end()
    (aside,) = house.state.glob(f"{FILE_NAME}.damaged-*")
    assert aside.read_bytes() == damaged
    assert house.database.exists()


def test_a_state_file_of_a_newer_program_is_refused_and_left_as_it_is(house: House) -> None:
    _fill_database(house.database)
    connection = sqlite3.connect(house.database)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    before = house.database.read_bytes()
    done = subprocess.run(
        [str(Path(sys.executable).with_name("vllm-monitor")), "run", "--config", "monitor.yaml"],
        cwd=house.folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert "written by a newer vllm-monitor" in done.stderr
    assert "Traceback" not in done.stderr
    assert house.database.read_bytes() == before


def test_a_truncated_snapshot_is_left_out_with_a_warning(house: House) -> None:
    with run(house) as ours:
        until(ours.is_ready, within=10)
        ours.end()
    snapshot = house.state / SNAPSHOT
    snapshot.write_bytes(snapshot.read_bytes()[:-20])
    with run(house) as ours:
        until(ours.is_ready, within=10)
        assert re.search(r'level=warning msg="window not restored" reason=.*not a snapshot', ours.log)
        assert ours.end()[0] == 0
