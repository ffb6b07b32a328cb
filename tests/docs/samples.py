"""The messages that were looked at by a person, one file each."""

import json
from pathlib import Path
from typing import Any

SLACK = Path(__file__).parent.parent / "data" / "slack"
GOLDEN = sorted(path.stem for path in SLACK.rglob("*.json"))


def golden(name: str) -> dict[str, Any]:
    found = next(SLACK.rglob(f"{name}.json"))
    payload: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
    return payload
