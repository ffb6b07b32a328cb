"""What `$1` and `${name}` in a replacement stand for."""

import re
from collections.abc import Sequence
from typing import Any

_VARIABLE = re.compile(r"\$(?:(\$)|(\w+)|\{(\w+)\})")
_NUMBER = re.compile("0|[1-9][0-9]{0,7}")

Parts = Sequence[str | int]


def expand_template(template: str, names: dict[str, int], groups: int) -> Parts:
    """
    Split a replacement into texts and group numbers.

    reference: Go, regexp Expand: `$1x` is the group named "1x"; a group that does not exist is empty; `$$` is a dollar.
    """
    parts: list[str | int] = []
    at = 0
    for found in _VARIABLE.finditer(template):
        parts.append(template[at : found.start()])
        at = found.end()
        name = found.group(2) or found.group(3)
        if found.group(1):
            parts.append("$")
        elif _NUMBER.fullmatch(name):
            if int(name) <= groups:
                parts.append(int(name))
        elif name in names:
            parts.append(names[name])
    return [*parts, template[at:]]


def expanded(parts: Parts, found: Any) -> str:
    """Return a replacement for what a pattern has found."""
    return "".join([part if isinstance(part, str) else found.group(part) or "" for part in parts])
