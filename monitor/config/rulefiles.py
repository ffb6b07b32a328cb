"""Which files `rule_files` means."""

import glob
from pathlib import Path

from monitor.yamldoc.mistake import shown
from monitor.yamldoc.node import Scalar, SequenceNode, find
from monitor.yamldoc.report import Report
from monitor.yamldoc.source import is_file

_KEY = "rule_files"


def rule_files(report: Report, folder: Path) -> tuple[Path, ...] | None:
    """
    Return the files that the patterns match, relative to `folder`; None where there is no such setting.

    A name that does not exist is a mistake; a pattern that matches nothing is a warning, as the file may come later.
    """
    patterns = find(report.document.root, (_KEY,))
    if not isinstance(patterns, SequenceNode):
        return None
    files: dict[Path, None] = {}
    for index, pattern in enumerate(patterns):
        if not isinstance(pattern, Scalar):
            continue  # the schema has said so
        found = _matching(folder, pattern.text)
        if not found:
            is_pattern = glob.has_magic(pattern.text)
            what = "matches no file" if is_pattern else "does not exist"
            report.add((_KEY, index), f"{_KEY}: {shown(pattern.text)} {what}", warning=is_pattern)
        files.update(dict.fromkeys(found))
    return tuple(files)


def _matching(folder: Path, pattern: str) -> list[Path]:
    if not pattern or "\0" in pattern:
        return []
    # Path.glob takes no absolute pattern.
    found = glob.glob(str(Path(glob.escape(str(folder))) / pattern))  # noqa: PTH207
    return sorted(path for path in map(Path, found) if is_file(path))
