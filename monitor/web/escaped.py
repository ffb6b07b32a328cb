"""Label names in a path, where not every character may stand."""

import re

_PREFIX = "U__"
_PART = re.compile(r"_([0-9a-fA-F]{1,5})_|(__)|([^_]+)")


def unescaped(name: str) -> str:
    """
    Return the name that `U__my_2e_label` stands for: `my.label`; any other name is itself.

    reference: the escaping of UTF-8 names in Prometheus 3, docs: "UTF-8 in Prometheus", values escaping.
    """
    if not name.startswith(_PREFIX):
        return name
    text, at, parts = name.removeprefix(_PREFIX), 0, []
    while at < len(text):
        found = _PART.match(text, at)
        if found is None:
            return name
        code, underscore, plain = found.groups()
        parts.append("_" if underscore else plain or chr(int(code, 16)))
        at = found.end()
    return "".join(parts) if not any("\ud800" <= part <= "\udfff" for part in parts) else name
