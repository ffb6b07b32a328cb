"""The names under which blocks of the window are written, as what JSON can hold, and back."""

from collections.abc import Hashable
from typing import Any

from monitor.model.labels import Labels


def plain(owner: Any) -> Any:
    """Return an owner of tuples, labels, texts and numbers as lists and dictionaries."""
    if isinstance(owner, Labels):
        return {"labels": owner}
    return [plain(part) for part in owner] if isinstance(owner, tuple) else owner


def hashable(written: Any) -> Hashable:
    """Undo `plain`."""
    if isinstance(written, dict):
        return Labels.of(written["labels"])
    return tuple(hashable(part) for part in written) if isinstance(written, list) else written
