"""What has not been written yet, without what later steps have overtaken: a disk may be full for days."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from monitor.storage.rows import Changes

T = TypeVar("T")


def thinned(steps: Sequence[Changes]) -> list[Changes]:
    """Return steps that leave the file as all of `steps` do; of each alert, letter, silence, incident the last row."""
    later = _Later()
    kept = [later.left_of(step) for step in reversed(steps)]
    return [step for step in reversed(kept) if step.matter]


class _Later:
    """What later steps say of."""

    def __init__(self) -> None:
        self._seen: set[Hashable] = set()

    def left_of(self, step: Changes) -> Changes:
        """Return the step without what is said again later; what it says counts for the steps before it."""
        return replace(
            step,
            # Within a step what is there is written first, and what is gone is taken away after that.
            gone=self._new("alert", ((key, key) for key in step.gone)),
            alerts=self._new("alert", ((row.key, row) for row in step.alerts)),
            log=self._new("log", (((row.group_key, row.integration), row) for row in step.log)),
            settled=self._new("letter", ((key, key) for key in step.settled)),
            letters=self._new("letter", ((row.id, row) for row in step.letters)),
            forgotten=self._new("silence", ((key, key) for key in step.forgotten)),
            silences=self._new("silence", ((row[0], row) for row in step.silences)),
            closed=self._new("incident", ((key, key) for key in step.closed)),
            over=self._new("over", ((over, over) for over in step.over)),
            handled=self._new("handled", ((row.key, row) for row in step.handled)),
            received=self._new("received", (((row.receiver, row.group_key), row) for row in step.received)),
            incidents=self._new("incident", (((row.integration, row.group_key), row) for row in step.incidents)),
        )

    def _new(self, kind: str, rows: Iterable[tuple[Hashable, T]]) -> tuple[T, ...]:
        """Return those of which nothing was said later, the last of several about the same."""
        left = []
        for key, row in reversed(list(rows)):
            if (kind, key) not in self._seen:
                self._seen.add((kind, key))
                left.append(row)
        return tuple(reversed(left))
