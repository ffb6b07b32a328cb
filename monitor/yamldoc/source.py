"""From bytes to text: what is not text at all is found here, with its place."""

import os
import re
from pathlib import Path

from monitor.yamldoc.mistake import NOWHERE, DocumentError, Mistake, Place

LARGEST = 4 * 1024 * 1024
# reference: YAML 1.1 §5.1, the characters that a document may hold.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_bytes(path: Path) -> bytes:
    """Return the content of a file; raises DocumentError when it is no file, unreadable or larger than LARGEST."""
    try:
        # A pipe would block the daemon for ever.
        if path.exists() and not path.is_file():
            raise DocumentError([Mistake(str(path), NOWHERE, "", "is not a file")])
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except (OSError, ValueError) as err:
        reason = os.strerror(err.errno) if isinstance(err, OSError) and err.errno else str(err)
        raise DocumentError([Mistake(str(path), NOWHERE, "", f"cannot be read: {reason}")]) from err
    return data


def is_file(path: Path) -> bool:
    """Say whether there is a file at `path` as far as we may see; a path that cannot be is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def decode(data: bytes | str, path: str) -> str:
    """Return the text of a document; raises DocumentError when it is too large, no UTF-8 or has control characters."""
    if len(data) > LARGEST:
        raise DocumentError([Mistake(path, NOWHERE, "", f"is larger than {LARGEST // 1024**2} MB")])
    try:
        # A text may hold half a surrogate pair, which is no character either.
        raw = data.encode() if isinstance(data, str) else data
    except UnicodeEncodeError as err:
        place = place_at(err.object, err.start)
        raise DocumentError([Mistake(path, place, "", "is not UTF-8 text")]) from err
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        place = place_at(raw[: err.start].decode("utf-8-sig", "replace"), -1)
        raise DocumentError([Mistake(path, place, "", f"is not UTF-8 text (byte 0x{raw[err.start]:02x})")]) from err
    found = _UNPRINTABLE.search(text)
    if found is not None:
        what = f"the character U+{ord(found[0]):04X} is not allowed"
        raise DocumentError([Mistake(path, place_at(text, found.start()), "", what)])
    return text


def place_at(text: str, index: int) -> Place:
    """Return the line and column of the character at `index`, or of the end when it is -1."""
    before = text if index < 0 else text[:index]
    return Place(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
