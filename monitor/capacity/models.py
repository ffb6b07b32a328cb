"""Well-known models: the part of their published `config.json` that capacity depends on. Each entry says its source."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from monitor.capacity.config_json import architecture
from monitor.capacity.failure import CapacityError
from monitor.capacity.layers import Architecture

_TABLE = Path(__file__).with_name("models.json")
# A `config.json` is some kilobytes; more is something else.
_MOST_BYTES = 1_000_000
_REPOSITORY = re.compile(r"config\.json of (\S+/\S+)")


@cache
def names() -> tuple[str, ...]:
    """Return the names of all models of the table."""
    return tuple(sorted(_entries()))


def model(named: str, given_parameters: int | None = None) -> Architecture:
    """
    Return a model of the table by its name, or the one of a `config.json` (or of the folder it is in).

    Raises CapacityError where there is none, where it cannot be read, and for an architecture that is not known.
    """
    path = Path(named)
    if path.suffix == ".json" or path.is_dir():
        return architecture(_read(path), named, str(path), given_parameters)
    key = _key(named)
    entry = _entries().get(key)
    if entry is None:
        raise CapacityError(
            f"--model {named!r} is not in the table ({', '.join(names())}): give the path of its config.json"
        )
    found = architecture(entry["config"], key, entry["source"], given_parameters or entry["parameters"])
    return replace(found, weights_bytes=entry.get("weights_bytes"))


def served_as(named: str) -> str:
    """Return what `vllm serve` takes for a model: of a name of the table the repository that its facts are from."""
    key = _key(named)
    entry = None if "/" in named else _entries().get(key)
    if entry is None:
        return named
    found = _REPOSITORY.search(entry["source"])
    other: str | None = entry.get("aliases", {}).get(key)
    return other or (found[1] if found is not None else named)


def _key(named: str) -> str:
    return named.rsplit("/", 1)[-1].lower().removesuffix("-instruct").removesuffix("-it")


@cache
def _entries() -> Mapping[str, Any]:
    table: dict[str, Any] = json.loads(_TABLE.read_text(encoding="utf-8"))
    return table | {alias: entry for entry in table.values() for alias in entry.get("aliases", ())}


def _read(path: Path) -> Mapping[str, Any]:
    file = path / "config.json" if path.is_dir() else path
    try:
        with file.open("rb") as opened:
            read = json.loads(opened.read(_MOST_BYTES))
    except OSError as err:
        raise CapacityError(f"{file}: {err.strerror}") from err
    except (ValueError, RecursionError) as err:
        raise CapacityError(f"{file} is no JSON: {err}") from err
    if not isinstance(read, dict):
        raise CapacityError(f"{file} is no config.json: it holds no mapping")
    return read
