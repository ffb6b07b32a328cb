"""Up to when each receiver has everything, in a file beside the state file."""

import json
import logging
import threading
from pathlib import Path

from monitor.model.instant import Instant
from monitor.storage.replacing import replace_file

log = logging.getLogger(__name__)

FILE_NAME = "remote-write.json"


class Positions:
    """
    By the name of the receiver. Losing them costs samples twice, or the wait since the last one, and nothing else.

    Samples that arrive a second time are what the receiver has already. Safe for threads.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._lock = threading.Lock()
        self._known = self._read()
        self._silent = False

    def get(self, name: str) -> Instant | None:
        with self._lock:
            return self._known.get(name)

    def put(self, name: str, position: Instant) -> None:
        """Write it down; on a full disk it is known until the end of the process."""
        with self._lock:
            self._known[name] = position
            try:
                replace_file(self._path, json.dumps(self._known).encode())
            except OSError as err:
                if not self._silent:
                    log.warning("position of remote write not written", extra={"reason": err.strerror})
                self._silent = True
            else:
                self._silent = False

    def _read(self) -> dict[str, Instant]:
        try:
            found = json.loads(self._path.read_bytes())
            return {str(name): int(position) for name, position in found.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, AttributeError, TypeError) as err:
            log.warning("positions of remote write not read", extra={"reason": str(err)})
            return {}
