"""
Which of several daemons over one folder is the active one.

Each that becomes it has the next generation, and a file of that name which it holds locked and touches again and again.
The kernel lets go of the lock however a process ends; the touching tells of one that lives and does nothing. The state
file knows the newest generation, and takes nothing from an older one (`Fence`): whoever was thought dead and is not
learns it before it tells anybody anything.
"""

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from monitor.model.instant import Duration
from monitor.storage.db import FILE_NAME, StateError

_PREFIX = "active-"


class HeldError(Exception):
    """Another daemon was quicker."""


class Lease:
    """The right to be the active one, from `take` to `release` or to the end of the process."""

    def __init__(self, path: Path, file: int, generation: int) -> None:
        self._path = path
        self._file = file
        self.generation = generation

    @classmethod
    def take(cls, folder: Path) -> "Lease":
        """Begin the next generation. Raises HeldError, and StateError when the folder is of no use for this."""
        generation = max(_newest(folder), _written(folder)) + 1
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
        for older in _generations(folder):
            if older < generation:
                with contextlib.suppress(OSError):
                    (folder / f"{_PREFIX}{older}").unlink()
        return cls(path, file, generation)

    def renew(self) -> bool:
        """Say that it is still at work, which takes no room on a full disk; False: there is a newer one."""
        if _newest(self._path.parent) > self.generation:
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


class Watcher:
    """Sees whether the active one is gone, or has given no sign of life for `patience`, by this process' own clock."""

    def __init__(self, folder: Path, patience: Duration) -> None:
        self._folder = folder
        self._patience = patience
        self._seen: tuple[int, int] = (0, 0)
        self._since: Duration = 0

    def is_free(self, now: Duration) -> bool:
        """Say whether the lease can be taken; `now` is a time that nobody sets. Raises StateError."""
        generation = _newest(self._folder)
        path = self._folder / f"{_PREFIX}{generation}"
        try:
            file = os.open(path, os.O_RDWR)
        except OSError:
            # There has been none, or its file is gone.
            return True
        try:
            touched = os.fstat(file).st_mtime_ns
            _lock(file, path)
        except HeldError:
            if (generation, touched) != self._seen:
                self._seen, self._since = (generation, touched), now
            return now - self._since >= self._patience
        finally:
            os.close(file)
        return True


@dataclass(frozen=True, slots=True)
class Fence:
    """
    Of the generation of a daemon that writes, for the state file.

    `lost` is called when there is a newer one; where it returns, what was to be written is refused.
    """

    generation: int
    lost: Callable[[], None]

    def begin(self, run: sqlite3.Connection) -> None:
        """Let nothing be written by older ones from here on. Raises StateError when there is a newer one."""
        if self._newest(run) >= self.generation:
            raise StateError("another daemon has become the active one")
        run.execute("INSERT OR REPLACE INTO mark VALUES ('generation', ?)", (self.generation,))

    def check(self, run: sqlite3.Connection) -> None:
        """Look, within a transaction, whether there is a newer one."""
        if self._newest(run) > self.generation:
            self.lost()
            raise StateError("another daemon has become the active one")

    def _newest(self, run: sqlite3.Connection) -> int:
        found = run.execute("SELECT at FROM mark WHERE name = 'generation'").fetchone()
        return int(found[0]) if found else 0


def _lock(file: int, path: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as err:
        raise HeldError from err
    except OSError as err:
        raise StateError(f"{path}: {err.strerror}: several daemons need a file system with locks") from err


def _generations(folder: Path) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for path in folder.glob(f"{_PREFIX}*"):
            number = path.name.removeprefix(_PREFIX)
            if number.isdecimal():
                yield int(number)


def _newest(folder: Path) -> int:
    return max(_generations(folder), default=0)


def _written(folder: Path) -> int:
    """Return the generation that the state file knows; 0 where there is none, or it cannot be read."""
    path = folder / FILE_NAME
    if not path.is_file():
        return 0
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            found = connection.execute("SELECT at FROM mark WHERE name = 'generation'").fetchone()
    except sqlite3.Error:
        return 0
    return int(found[0]) if found else 0
