"""
What each server was at its last start, and what has changed since the one before: kept in a file of the state folder.

The file says nothing that an alert hangs on. It is written when something changed, and a lost one costs a line.
"""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from monitor.capacity.advice import TOPICS, Topic
from monitor.capacity.card import MAX_MODEL_LEN, MODEL, VERSION, Card, card, difference
from monitor.model.instant import DAY, HOUR, MINUTE, Duration, Instant
from monitor.model.labels import ALERT_NAME, INSTANCE, JOB, Labels
from monitor.model.target import Target
from monitor.notify.readings import Change
from monitor.probe.readings import Readings
from monitor.storage.replacing import replace_file

log = logging.getLogger(__name__)

FILE_NAME = "starts.json"
# So long before an incident a change is worth a line. An alert on the capacity compares with the best of a day.
REACH: Duration = 15 * MINUTE
REACH_OF_CAPACITY: Duration = DAY + HOUR
# Alerts that are about a change of capacity, and nothing else.
CHANGED = "VLLMCapacityChanged"
# What is asked for apart from the page, and may come later than it.
_ASKED = (VERSION, MODEL, MAX_MODEL_LEN)
_MOST_CHANGES = 3
# Where servers come and go under new names, the oldest are forgotten.
_MOST_SERVERS = 2_000

Key = tuple[str, str]


class Prober(Protocol):
    """Knows what one target says of itself."""

    @property
    def target(self) -> Target: ...

    def known(self, at: Instant) -> tuple[Readings, Labels]:
        """Return what is known at `at`, and the labels of an engine's `cache_config_info`."""
        ...


@dataclass(frozen=True, slots=True)
class _Server:
    """
    A server with its last changes, the newest first.

    `doubt` is a card that differs from it and was first seen at `doubted_at`: the page and the answers of one start do
    not come at one instant.
    """

    card: Card
    changes: tuple[Change, ...] = ()
    doubt: Card | None = None
    doubted_at: Instant = 0


class Starts:
    """One thread at a time calls `step`; anybody may ask."""

    def __init__(self) -> None:
        self._servers: Mapping[Key, _Server] = {}
        self._path: Path | None = None
        self._unwritten = False

    def begin(self, folder: Path) -> None:
        """Go on with what an earlier life has seen, and keep it in `folder`. Does nothing when called again."""
        if self._path is None:
            self._path = folder / FILE_NAME
            self._servers = _read(self._path) | dict(self._servers)

    def step(self, probers: Iterable[Prober], at: Instant) -> None:
        """Look at every server, and keep what is another than before."""
        seen = dict(self._servers)
        for prober in probers:
            readings, config = prober.known(at)
            found = card(
                readings.version,
                {model.name: model.max_model_len for model in readings.models},
                ((pool.tokens, pool.max_concurrency) for pool in readings.pools),
                config.as_dict(),
            )
            key = (prober.target.job, prober.target.labels.value(INSTANCE))
            # A server that is away says nothing.
            if readings.pools:
                known = seen.pop(key, None)
                seen[key] = looked_at(known, found, at)
                self._unwritten = self._unwritten or known is None or known.card != seen[key].card
        self._servers = dict(list(seen.items())[-_MOST_SERVERS:])
        if self._unwritten and self._path is not None:
            self._unwritten = not _written(self._path, self._servers)

    def before(self, labels: Labels, at: Instant) -> Sequence[Change]:
        """Return what changed at the server of an alert shortly before `at`, the newest first; see `Changes`."""
        server = self._servers.get((labels.value(JOB), labels.value(INSTANCE)))
        name = labels.value(ALERT_NAME)
        of_capacity = TOPICS.get(name) is Topic.LENGTH or name == CHANGED
        reach = REACH_OF_CAPACITY if of_capacity else REACH
        return [] if server is None else [one for one in server.changes if at - reach <= one.at <= at]

    def shift(self, by: Duration) -> None:
        """The clock was set by so much."""
        self._servers = {
            key: replace(
                server,
                changes=tuple(replace(one, at=one.at + by) for one in server.changes),
                doubted_at=server.doubted_at + by,
            )
            for key, server in self._servers.items()
        }


def looked_at(known: _Server | None, found: Card, at: Instant) -> _Server:
    """Return a server after another look: what differs counts when it is seen a second time."""
    if known is None:
        return _Server(found)
    whole = {name: known.card[name] for name in _ASKED if name in known.card} | dict(found)
    if whole == known.card:
        return replace(known, doubt=None)
    if whole != known.doubt:
        return replace(known, doubt=whole, doubted_at=at)
    what = difference(known.card, whole)
    if not what:
        # Two starts differ by some blocks; the next one is compared with where it came from.
        return replace(known, card={**whole, **known.card})
    return _Server(whole, (Change(known.doubted_at, what), *known.changes)[:_MOST_CHANGES])


def _written(path: Path, servers: Mapping[Key, _Server]) -> bool:
    body = [
        {
            "job": job,
            "instance": instance,
            "card": dict(server.card),
            "changes": [{"at": change.at, "what": change.what} for change in server.changes],
        }
        for (job, instance), server in servers.items()
    ]
    try:
        replace_file(path, json.dumps({"version": 1, "servers": body}).encode())
    except OSError as err:
        log.warning("starts not kept", extra={"reason": str(err)})
        return False
    return True


def _read(path: Path) -> dict[Key, _Server]:
    try:
        servers = json.loads(path.read_text(encoding="utf-8"))["servers"]
        return {(str(one["job"]), str(one["instance"])): _server(one) for one in servers}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as err:
        log.warning("starts not read", extra={"reason": f"{path}: {type(err).__name__}"})
        return {}


def _server(written: Mapping[str, Any]) -> _Server:
    kept = {str(name): value if isinstance(value, str) else float(value) for name, value in written["card"].items()}
    changes = tuple(Change(int(one["at"]), str(one["what"])) for one in written["changes"])
    return _Server(kept, changes[:_MOST_CHANGES])
