"""What happens when, on a clock that only moves when it is told to."""

import heapq
from collections.abc import Callable
from itertools import count
from math import inf


class Agenda:
    """Actions in the order of their instants; at the same instant, in the order they were planned."""

    def __init__(self) -> None:
        self._planned: list[tuple[float, int, Callable[[float], None]]] = []
        self._order = count()

    def at(self, instant: float, action: Callable[[float], None]) -> None:
        """Plan `action(instant)`. Instants are milliseconds; here they may have a fraction."""
        heapq.heappush(self._planned, (instant, next(self._order), action))

    @property
    def next(self) -> float:
        """The instant of the earliest action, infinity when nothing is planned."""
        return self._planned[0][0] if self._planned else inf

    def run_next(self) -> None:
        instant, _, action = heapq.heappop(self._planned)
        action(instant)
