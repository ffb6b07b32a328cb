"""Targets in files, which are read again when they change: `file_sd_configs`."""

import fnmatch
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from monitor.discovery.errors import DiscoveryError, Reason
from monitor.discovery.groups import read_json, read_yaml
from monitor.discovery.provider import Found
from monitor.model.instant import SECOND, Duration
from monitor.model.targetgroup import TargetGroup
from monitor.yamldoc.mistake import DocumentError
from monitor.yamldoc.source import read_bytes

# How often files are looked at. A look is a question to the kernel for each file, and sees a file that was put in the
# place of another one (as Kubernetes does it with ConfigMaps) as well as one that was written to.
WATCH: Duration = SECOND
_FILEPATH = "__meta_filepath"

# Only the name of a file may be a pattern, the folder is one.
_MAGIC = re.compile(r"[*?[]")


class _Stamp(NamedTuple):
    """What tells a changed file from the one before; all -1 when nobody can say."""

    changed: int = -1
    size: int = -1
    inode: int = -1


class FileDiscovery:
    """
    The groups of all files that `patterns` match; a file that is wrong keeps its last good groups.

    A file is read when it looks different from the last time, and every `refresh_interval` in any case. One that has
    become empty is believed only then: whoever writes it anew has emptied it first.
    """

    def __init__(self, patterns: Sequence[str], refresh_interval: Duration) -> None:
        self._patterns = patterns
        self._looks_to_refresh = max(1, refresh_interval // WATCH)
        self._looks = 0
        self._stamps: dict[str, _Stamp] = {}
        self._groups: dict[str, tuple[TargetGroup, ...]] = {}
        self._wrong: dict[str, DiscoveryError] = {}

    def look(self) -> tuple[Found, Duration]:
        """Read what has changed; returns all groups. Raises DiscoveryError."""
        refresh = self._looks % self._looks_to_refresh == 0
        self._looks += 1
        paths = paths_of(self._patterns)
        stamps = {path: stamp for path in paths if (stamp := _stamp(path)) is not None}
        for path, stamp in stamps.items():
            if refresh or (self._stamps.get(path) != stamp and (stamp.size or not self._groups.get(path))):
                self._read(path)
        for gone in self._stamps.keys() - stamps.keys():
            self._groups.pop(gone, None)
            self._wrong.pop(gone, None)
        self._stamps = stamps
        groups = tuple(group for path in stamps for group in self._groups.get(path, ()))
        return Found(groups, tuple(self._wrong[path] for path in paths if path in self._wrong)), WATCH

    def stop(self) -> None:
        """Nothing here waits for anybody."""

    def _read(self, path: str) -> None:
        try:
            groups = read_file(path)
        except DocumentError as err:
            self._wrong[path] = DiscoveryError(str(err), reason=Reason.CONTENT)
            return
        self._wrong.pop(path, None)
        if groups != self._groups.get(path):
            self._groups[path] = groups


def paths_of(patterns: Iterable[str]) -> list[str]:
    """
    Return the files that match, each once, in the order of the patterns, and names that are no patterns.

    Raises DiscoveryError when a folder cannot be looked into.
    """
    found: dict[str, None] = {}
    for pattern in patterns:
        path = Path(pattern)
        found.update(dict.fromkeys(_matching(path) if _MAGIC.search(path.name) else [pattern]))
    return list(found)


def _matching(pattern: Path) -> list[str]:
    # Not glob(), to which a folder that it may not look into is an empty one.
    try:
        with os.scandir(pattern.parent) as entries:
            names = [entry.name for entry in entries]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as err:
        raise DiscoveryError(f"{err.filename}: {os.strerror(err.errno or 0)}", reason=Reason.FILE) from err
    return sorted(str(pattern.parent / name) for name in fnmatch.filter(names, pattern.name))


def read_file(path: str) -> tuple[TargetGroup, ...]:
    """Return the groups in a file. Raises DocumentError with all mistakes."""
    read = read_json if path.lower().endswith(".json") else read_yaml
    return read(read_bytes(Path(path)), path, {_FILEPATH: path})


def _stamp(path: str) -> _Stamp | None:
    """Return how a file looks, None when there is none. What nobody can say that of is there: reading it tells."""
    try:
        found = Path(path).stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        # A link that leads nowhere is something, too.
        return _Stamp() if os.path.lexists(path) else None
    except OSError:
        return _Stamp()
    return _Stamp(found.st_mtime_ns, found.st_size, found.st_ino)
