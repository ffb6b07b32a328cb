"""A file that is written anew as a whole: whoever reads it, after a kill too, sees the old one or the new one."""

import contextlib
import os
from pathlib import Path


def replace_file(path: Path, content: bytes) -> None:
    """Write beside the file, and put it in its place at once. Raises OSError, and then the old one stands."""
    beside = path.with_name(path.name + ".new")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        # On a full disk half a file would take the room that the state file needs.
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
