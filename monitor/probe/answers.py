"""What vLLM's answers say. They come from anywhere: nothing of them is believed before it is looked at."""

import json
import re
from math import isfinite
from typing import Any

from monitor.probe.errors import ProbeError
from monitor.probe.readings import Model
from monitor.scrape.errors import Reason

# A server lists its adapters too, of which there may be thousands: they have no length of their own.
MOST_MODELS = 16
LONGEST_NAME = 256
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!_-]{0,63}")
# Beyond it a float skips whole numbers; no server means one.
_LARGEST = 2**53


def version_of(body: bytes) -> str:
    """Return what /version says. Raises ProbeError."""
    version = _table(body).get("version")
    if not isinstance(version, str) or _VERSION.fullmatch(version) is None:
        raise _unreadable("no version")
    return version


def load_of(body: bytes) -> float:
    """Return the requests in flight. Raises ProbeError."""
    load = _table(body).get("server_load")
    if isinstance(load, bool) or not isinstance(load, int | float) or not isfinite(load) or not 0 <= load <= _LARGEST:
        raise _unreadable("no server_load")
    return float(load)


def models_of(body: bytes) -> tuple[Model, ...]:
    """Return the models of the server, without adapters, each name once. Raises ProbeError."""
    listed = _table(body).get("data")
    if not isinstance(listed, list):
        raise _unreadable("no list of models")
    found = {model.name: model for card in listed if (model := _model(card)) is not None}
    return tuple(found.values())[:MOST_MODELS]


def has_token(body: bytes) -> bool:
    """Say whether a completion was answered."""
    try:
        choices = _table(body).get("choices")
    except ProbeError:
        return False
    return isinstance(choices, list) and bool(choices)


def _model(card: Any) -> Model | None:
    if not isinstance(card, dict) or card.get("parent") is not None:
        return None
    name, length = card.get("id"), card.get("max_model_len")
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not _is_text(name):
        return None
    if isinstance(length, bool) or not isinstance(length, int) or not 0 < length <= _LARGEST:
        return None
    return Model(name, length)


def _is_text(name: str) -> bool:
    """Say whether a name can be written: JSON has halves of characters that UTF-8 has not."""
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _table(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as err:
        raise _unreadable("not JSON") from err
    if not isinstance(found, dict):
        raise _unreadable("not a table")
    return found


def _unreadable(what: str) -> ProbeError:
    return ProbeError(f"the answer is not vLLM's: {what}", reason=Reason.PARSE, answered=True)
