"""The unit: systemd understands every line of it, and has next to nothing to say against its exposure."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from monitor.config.read import load
from tests.deploy.tools import DEPLOY, tool

FOLDER = DEPLOY / "systemd"
UNIT = FOLDER / "vllm-monitor.service"
PROGRAM = "/opt/vllm-monitor/bin/vllm-monitor"
# systemd's own scale, of which 10 is everything; times ten.
EXPOSURE = 20


def systemd(*arguments: str) -> "subprocess.CompletedProcess[str]":
    analyze = tool("systemd-analyze", "apt-get install systemd", path=os.environ.get("PATH"))
    return subprocess.run([analyze, *arguments], capture_output=True, text=True, check=False)


def said_of(folder: Path, unit: str) -> str:
    """Return what `systemd-analyze verify` says; it ends with 0 whatever it found."""
    path = folder / UNIT.name
    # The program stands elsewhere in the tests.
    path.write_text(unit.replace(PROGRAM, str(Path(sys.executable).with_name("vllm-monitor"))))
    done = systemd("verify", "--man=no", str(path))
    return done.stdout + done.stderr


def test_systemd_understands_every_line(tmp_path: Path) -> None:
    assert PROGRAM in UNIT.read_text()
    assert said_of(tmp_path, UNIT.read_text()) == ""


@pytest.mark.parametrize(
    ("good", "broken", "told"),
    [
        pytest.param("ProtectHome=true", "ProtectHomes=true", "Unknown key", id="misspelt"),
        pytest.param("WatchdogSec=5min", "WatchdogSec=soon", "Failed to parse sec", id="no-duration"),
        pytest.param(PROGRAM, "/opt/gone", "not executable", id="no-such-program"),
    ],
)
def test_what_it_does_not_understand_it_says(tmp_path: Path, good: str, broken: str, told: str) -> None:
    assert told in said_of(tmp_path, UNIT.read_text().replace(good, broken))


def exposure(unit: Path) -> "subprocess.CompletedProcess[str]":
    return systemd("security", "--offline=true", f"--threshold={EXPOSURE}", str(unit))


def test_it_is_exposed_to_next_to_nothing(tmp_path: Path) -> None:
    done = exposure(UNIT)
    assert done.returncode == 0, done.stdout
    bare = tmp_path / UNIT.name
    bare.write_text(re.sub(r"(?m)^(Protect|Private|Restrict|SystemCall|Capability)\w+=.*\n", "", UNIT.read_text()))
    assert exposure(bare).returncode != 0


def test_the_watchdog_is_slower_than_the_slowest_group() -> None:
    # A group may be late by three intervals before that is a stand-still, and the slowest has a minute.
    assert "WatchdogSec=5min" in UNIT.read_text().splitlines()


def settings() -> dict[str, str]:
    """Return what the unit sets; of what is set twice, the last."""
    return dict(line.split("=", 1) for line in UNIT.read_text().splitlines() if re.match(r"\w+=", line))


def test_it_speaks_with_systemd_as_the_daemon_does() -> None:
    unit = settings()
    # READY, RELOADING and STOPPING are said; a reload is asked for by SIGHUP; what waits is told within five seconds.
    assert (unit["Type"], unit["NotifyAccess"], unit["TimeoutStopSec"]) == ("notify", "main", "15s")
    assert unit["ExecReload"] == "/bin/kill -HUP $MAINPID"
    assert unit["Restart"] == "always"


def test_names_are_those_of_the_files_beside_it() -> None:
    unit = settings()
    (user,) = re.findall(r"(?m)^u (\S+)", (FOLDER / "vllm-monitor.sysusers.conf").read_text())
    assert (unit["User"], unit["Group"]) == (user, user)
    tmpfiles = (FOLDER / "vllm-monitor.tmpfiles.conf").read_text()
    environment = unit["EnvironmentFile"].removeprefix("-")
    config = unit["ExecStart"].split()[-1]
    assert all(f" {path} " in tmpfiles for path in (environment, config, load(FOLDER / "monitor.yaml").storage.path))
    assert environment in (FOLDER / "environment").read_text()
    # The one folder that it may write to.
    state = f"/var/lib/{unit['StateDirectory']}"
    assert f"MPLCONFIGDIR={state}/" in unit["Environment"]
    assert unit["WorkingDirectory"] == state


def test_the_configuration_beside_it_fits_the_unit() -> None:
    config = load(FOLDER / "monitor.yaml")
    assert f"StateDirectory={config.storage.path.name}" in UNIT.read_text().splitlines()
    assert config.storage.path.parent == Path("/var/lib")


def made(folder: Path, program: str, *arguments: str) -> None:
    command = tool(program, "apt-get install systemd", path=os.environ.get("PATH"))
    done = subprocess.run([command, f"--root={folder}", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root: folders are given to the user that was made")
def test_the_user_and_its_folders_are_made_from_their_files(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (tmp_path / "etc" / "group").write_text("root:x:0:\n")
    (tmp_path / "etc" / "vllm-monitor").mkdir()
    files = [tmp_path / "etc" / "vllm-monitor" / name for name in ("monitor.yaml", "slack-webhook", "environment")]
    for file in files:
        file.touch(0o600)
    made(tmp_path, "systemd-sysusers", str(FOLDER / "vllm-monitor.sysusers.conf"))
    made(tmp_path, "systemd-tmpfiles", "--create", str(FOLDER / "vllm-monitor.tmpfiles.conf"))
    (line,) = [
        line for line in (tmp_path / "etc" / "passwd").read_text().splitlines() if line.startswith("vllm-monitor:")
    ]
    state = (tmp_path / "var" / "lib" / "vllm-monitor").stat()
    assert (state.st_mode & 0o777, str(state.st_uid)) == (0o750, line.split(":")[2])
    config = (tmp_path / "etc" / "vllm-monitor").stat()
    assert (config.st_mode & 0o777, config.st_uid) == (0o750, 0)
    # The daemon reads its configuration and the webhook; the variables systemd reads for it, as root.
    ours = (0o640, state.st_gid)
    found = [(file.stat().st_mode & 0o777, file.stat().st_gid) for file in files]
    assert found == [ours, ours, (0o600, 0)]
