"""The folder of the socket between TLS and the HTTP server, which this user alone may look into."""

import os
import shutil
import socket
import stat
import tempfile
from pathlib import Path

from monitor.model.instant import MINUTE, Instant

_PREFIX, _NAME = "vllm-monitor-", "web.sock"


def new_place() -> Path:
    """Return where a socket may be made, in a folder of its own. Raises OSError."""
    return Path(tempfile.mkdtemp(prefix=_PREFIX)) / _NAME


def make_folder(folder: Path) -> None:
    """Make it anew where it is gone; raises OSError, also when somebody else has made it meanwhile."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise PermissionError(f"{folder} is not ours")


def sweep(now: Instant) -> None:
    """Take away what was left behind by those of this user that were killed, more than a minute ago."""
    for place in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_NAME}"):
        try:
            found = place.lstat()
            # One that is being made does not answer for a moment.
            old = found.st_mtime_ns // 1_000_000 < now - MINUTE
            if old and found.st_uid == os.geteuid() and _is_left(place):
                shutil.rmtree(place.parent, ignore_errors=True)
        except OSError:
            # It has gone by itself, or is none of ours.
            continue


def _is_left(place: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(1)
        try:
            asking.connect(str(place))
        except ConnectionRefusedError:
            return True
    return False
