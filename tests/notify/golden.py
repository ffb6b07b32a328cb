"""Compares with files that were looked at by a person; UPDATE_GOLDEN=1 writes them anew."""

import json
import os
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "data"


def assert_golden(name: str, value: Any) -> None:
    """Compare `value` with the JSON (or, when it is a text, the text) of the file `name` below tests/data."""
    path = DATA / name
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
