"""
Which of several daemons over one folder is the active one.

Each that becomes it has the next generation, and a file of that name which it holds locked and touches again and again.
The kernel lets go of the lock however a process ends; the touching tells of one that lives and does nothing. Such a one
may hold the state file locked: whoever takes over goes on with a copy in its place (`take_out`). Whoever was thought
dead and is not looks, before and after each thing it writes and so before anybody is told, whether there is a newer
generation (`Fence`).
"""

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from monitor.model.instant import SECOND, Duration
from monitor.storage.db import FILE_NAME, StateError

_PREFIX = "active-"
_BUSY_SECONDS = 1.0
_AWAY: Duration = 2 * SECOND
# What is called so, and then a generation, is whole.
_COPY = f"{FILE_NAME}.copy-"
_HALF = f"half-{_COPY}"


class HeldError(Exception):
    """Another daemon was quicker."""


class Lease:
    """The right to be the active one, from `take` to `release` or to the end of the process."""

    def __init__(self, path: Path, file: int, generation: int) -> None:
        self._path = path
        self._file = file
        self.generation = generation

    @classmethod
    def take(cls, folder: Path, after: int = 0) -> "Lease":
        """
        Begin the generation `after` the one that was seen to be no more.

        Raises HeldError when another one was quicker, and StateError when the folder is of no use for this.
        """
        generation = after + 1
        path = folder / f"{_PREFIX}{generation}"
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError as err:
            raise HeldError from err
        except OSError as err:
            raise StateError(f"{path}: {err.strerror}") from err
        try:
            _lock(file, path)
        except BaseException:
            os.close(file)
            raise
        lease = cls(path, file, generation)
        if not lease.renew():
            # Its generation has been and gone: what was seen was seen long ago.
            path.unlink(missing_ok=True)
            lease.release()
            raise HeldError
        for older in _generations(folder) - {generation}:
            with contextlib.suppress(OSError):
                (folder / f"{_PREFIX}{older}").unlink()
        return lease

    @property
    def is_held(self) -> bool:
        """Whether it has not been let go."""
        return self._file >= 0

    def renew(self) -> bool:
        """Say that it is still at work, which takes no room on a full disk; False: it is no longer the one."""
        if _is_other(self._path.parent, self.generation):
            return False
        with contextlib.suppress(OSError):
            os.utime(self._path)
        return True

    def release(self) -> None:
        """Let another one be it, at once. May be called again."""
        file, self._file = self._file, -1
        if file >= 0:
            with contextlib.suppress(OSError):
                os.close(file)


class Sign(Enum):
    """What is seen of the active one."""

    ALIVE = auto()
    SILENT = auto()
    GONE = auto()


class Watcher:
    """Sees whether the active one is gone, or has given no sign of life for `patience`, by this process' own clock."""

    def __init__(self, folder: Path, patience: Duration) -> None:
        self._folder = folder
        self._patience = patience
        # The newest one at the last look.
        self.generation = 0
        self._seen: tuple[int, int] = (0, 0)
        self._since: Duration = 0
        self._looked: Duration = 0

    def look(self, now: Duration) -> Sign:
        """Return what is seen; `now` is a time that nobody sets. Raises StateError."""
        try:
            generation = self.generation = _newest(self._folder)
            path = self._folder / f"{_PREFIX}{generation}"
            file = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            # There has been none, or its file is gone.
            return Sign.GONE
        except OSError as err:
            # Who cannot be looked at may well be there.
            raise StateError(f"{self._folder}: {err.strerror}") from err
        try:
            touched = os.fstat(file).st_mtime_ns
            _lock(file, path)
        except HeldError:
            # Whoever has not looked for long, because both were frozen, has seen nothing of the other's silence.
            was_away = now - self._looked > max(self._patience // 2, _AWAY)
            if (generation, touched) != self._seen or was_away:
                self._seen, self._since = (generation, touched), now
            self._looked = now
            return Sign.SILENT if now - self._since >= self._patience else Sign.ALIVE
        finally:
            os.close(file)
        return Sign.GONE


@dataclass(frozen=True, slots=True)
class Fence:
    """
    Of the generation of the daemon that writes to the state file in `folder`.

    `lost` is called when there is a newer one; where it returns, that is a StateError.
    """

    folder: Path
    generation: int
    lost: Callable[[], None]

    def look(self) -> None:
        """Look whether there is a newer one."""
        if _is_other(self.folder, self.generation):
            self.lost()

    def check(self) -> None:
        """The same; raises StateError where `lost` returns."""
        if _is_other(self.folder, self.generation):
            self.lost()
            raise StateError("another daemon has become the active one")


def take_out(folder: Path, generation: int) -> None:
    """
    Put a copy of the state file in its place, so that it does not matter what somebody who hangs holds of the old one.

    Whoever has that open keeps it, and nobody else sees it any more. It is the copy of this `generation`.
    Raises StateError.
    """
    path = folder / FILE_NAME
    half = folder / f"{_HALF}{generation}"
    try:
        # Those whose makers were killed, which have the size of the whole file.
        for left in folder.glob(f"{_HALF}*"):
            left.unlink(missing_ok=True)
        if path.is_file():
            with (
                contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as old,
                contextlib.closing(sqlite3.connect(half)) as new,
            ):
                old.backup(new)
            half.replace(folder / f"{_COPY}{generation}")
        put_in_place(folder)
    except (OSError, sqlite3.Error) as err:
        with contextlib.suppress(OSError):
            half.unlink(missing_ok=True)
        raise StateError(f"{path}: cannot be copied: {err}") from err


def put_in_place(folder: Path) -> None:
    """Go on with the newest copy that is whole: whoever made it may have been killed before he did. Raises OSError."""
    found = {path.name.removeprefix(_COPY): path for path in folder.glob(f"{_COPY}*")}
    copies = [found[number] for number in sorted(filter(str.isdecimal, found), key=int)]
    if not copies:
        return
    for beside in (f"{FILE_NAME}-wal", f"{FILE_NAME}-shm"):
        (folder / beside).unlink(missing_ok=True)
    copies[-1].replace(folder / FILE_NAME)
    for older in copies[:-1]:
        older.unlink(missing_ok=True)


def _lock(file: int, path: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as err:
        raise HeldError from err
    except OSError as err:
        raise StateError(f"{path}: {err.strerror}: several daemons need a file system with locks") from err


def is_locked(folder: Path) -> bool:
    """Say whether somebody is in the middle of writing to the state file, who does not come to an end."""
    path = folder / FILE_NAME
    if not path.is_file():
        return False
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.OperationalError:
        return True
    except sqlite3.Error:
        # It is damaged, which is somebody else's business.
        return False
    return False


def _is_other(folder: Path, generation: int) -> bool:
    """Say whether another generation than this is the newest; where that cannot be seen, it is not."""
    try:
        return _newest(folder) != generation
    except OSError:
        return False


def _newest(folder: Path) -> int:
    return max(_generations(folder), default=0)


def _generations(folder: Path) -> set[int]:
    """Return those that have left a file. Raises OSError."""
    numbers = (path.name.removeprefix(_PREFIX) for path in folder.iterdir() if path.name.startswith(_PREFIX))
    return {int(number) for number in numbers if number.isdecimal()}
