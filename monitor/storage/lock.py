"""One daemon a folder: two would deliver the same letters, and each would overwrite what the other knows."""

import contextlib
import errno
import fcntl
import logging
import os
from pathlib import Path

from monitor.storage.db import StateError

log = logging.getLogger(__name__)

# Prometheus calls its own so.
FILE_NAME = "lock"
# Some network file systems have no locks; without one is better than not at all.
_NO_LOCKS = frozenset((errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP))


class FolderLock:
    """
    A folder taken for the life of this object, or of the process: the kernel lets go of it however that ends.

    The file stays behind, and means nothing. Raises StateError when another process has the folder. Those that take it
    `shared` have agreed by other means which of them uses it.
    """

    def __init__(self, folder: Path, *, shared: bool = False) -> None:
        self._kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        self.path = folder / FILE_NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as err:
            raise StateError(f"{self.path}: {err.strerror}") from err
        try:
            self._take()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the folder. May be called again."""
        file, self._file = self._file, -1
        if file >= 0:
            with contextlib.suppress(OSError):
                os.close(file)

    def _take(self) -> None:
        try:
            fcntl.flock(self._file, self._kind | fcntl.LOCK_NB)
        except BlockingIOError as err:
            raise StateError(
                f"{self.path.parent} is in use by another vllm-monitor: stop that one, give this one a folder "
                "of its own (--storage, storage.path), or let both share it (--ha-lease, ha)"
            ) from err
        except OSError as err:
            if err.errno not in _NO_LOCKS:
                raise StateError(f"{self.path}: {err.strerror}") from err
            log.warning("the storage folder cannot be locked", extra={"file": str(self.path), "reason": err.strerror})
