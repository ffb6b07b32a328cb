"""A storage folder belongs to one daemon at a time."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from monitor.storage.db import StateError
from monitor.storage.lock import FolderLock

HOLD = "import sys; from pathlib import Path; from monitor.storage.lock import FolderLock; "
HOLD += "lock = FolderLock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"


def holder(folder: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", HOLD, str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("end", [lambda one: one.kill(), lambda one: one.stdin.close()], ids=["killed", "ended"])
def test_a_folder_that_another_process_has_is_refused_until_that_has_ended(
    tmp_path: Path, end: "Callable[[subprocess.Popen[str]], None]"
) -> None:
    with holder(tmp_path) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(StateError, match="is in use by another vllm-monitor: stop that one, give") as refused:
            FolderLock(tmp_path)
        assert str(refused.value).startswith(str(tmp_path))
        end(other)
        other.wait(60)
        FolderLock(tmp_path).close()


def test_a_folder_that_was_let_go_of_can_be_taken(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path / "new" / "folder")
    lock.close()
    lock.close()
    again = FolderLock(tmp_path / "new" / "folder")
    again.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match=r"file/lock: "):
        FolderLock(tmp_path / "file")
