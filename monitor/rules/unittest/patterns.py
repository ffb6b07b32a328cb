"""
Which files `rule_files` means.

reference: Go's path/filepath.Glob, as promtool uses it: `*`, `?` and `[a-z]` within a folder, hidden files included.
There is neither `**` nor `{a,b}`.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

_MAGIC = re.compile(r"[*?\[\\]")
_CLASS = re.compile(r"\[\^?(?:(?:\\.|[^\]\\-])(?:-(?:\\.|[^\]\\-]))?)+\]", re.DOTALL)


class PatternError(Exception):
    """A pattern that can match nothing because it is not one."""


def matching(folder: Path, pattern: str) -> tuple[Path, ...]:
    """Return the files that `pattern` means, seen from `folder`, sorted. Raises PatternError."""
    parts = pattern.split("/")
    compiled = [None if _MAGIC.search(part) is None else _compiled(part) for part in parts]
    if not pattern or "\0" in pattern:
        return ()
    found = [Path("/") if pattern.startswith("/") else folder]
    for part, regex in zip(parts, compiled, strict=True):
        found = [path for start in found for path in _step(start, part, regex)]
    return tuple(Path(os.path.normpath(path)) for path in found)


def _step(start: Path, part: str, regex: re.Pattern[str] | None) -> Iterator[Path]:
    if regex is None:
        if (start / part).exists():
            yield start / part
        return
    if start.is_dir():
        yield from (start / name for name in sorted(path.name for path in start.iterdir()) if regex.fullmatch(name))


def _compiled(part: str) -> re.Pattern[str]:
    regex, at = "", 0
    while at < len(part):
        char = part[at]
        piece = char
        if char == "[":
            found = _CLASS.match(part, at)
            if found is None:
                raise PatternError(f"[ is not closed in {part}")
            piece = found.group()
            regex += piece
        elif char == "\\":
            piece = part[at : at + 2]
            if piece == "\\":
                raise PatternError(f"nothing follows the \\ in {part}")
            regex += re.escape(piece[1])
        else:
            regex += {"*": ".*", "?": "."}.get(char, re.escape(char))
        at += len(piece)
    try:
        return re.compile(regex, re.DOTALL)
    except re.error as err:
        raise PatternError(f"{part} is not a pattern") from err
