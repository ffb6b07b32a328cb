"""The check at the start: whether at least so many requests of full length fit at once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Judgement:
    """
    Whether a server may serve, and why.

    `concurrency` is what each engine says, by its name; None for one that says nothing. `known` is False as long as
    nobody could tell: the server does not answer yet, or its version does not say.
    """

    passes: bool
    reason: str
    floor: float
    known: bool = True
    concurrency: Mapping[str, float | None] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return plain values, the same from the command and from the daemon."""
        return {
            "passes": self.passes,
            "known": self.known,
            "reason": self.reason,
            "min_concurrency": self.floor,
            "concurrency": dict(self.concurrency or {}),
        }


def judged(engines: Iterable[tuple[str, float | None]], floor: float) -> Judgement:
    """Judge a server by its engines: each on its own, since they share nothing. One that does not say is no pass."""
    found = dict(engines)
    if not found:
        return unknown("the server does not say how many requests of full length fit at once", floor)
    silent = [_engine(name) for name, many in found.items() if many is None]
    if silent:
        return Judgement(False, f"{silent[0]} does not say how many requests fit at once", floor, False, found)
    name, least = min(((name, many) for name, many in found.items() if many is not None), key=lambda each: each[1])
    said = f"{_engine(name)} holds {least:.2f} requests of full length at once"
    if least < floor:
        return Judgement(False, f"{said}, less than {floor:g}", floor, True, found)
    return Judgement(True, f"{said}, at least {floor:g}", floor, True, found)


def unknown(reason: str, floor: float) -> Judgement:
    """Judge a server of which nothing is known."""
    return Judgement(False, reason, floor, known=False)


def _engine(name: str) -> str:
    return f"engine {name}" if name else "the engine"
