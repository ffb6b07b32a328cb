"""Where samples go, as far as a scrape needs to know."""

from collections.abc import Hashable, Sequence
from typing import Protocol

from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.storage.column import Column

Owner = Hashable


class Appender(Protocol):
    """The rows of one writer."""

    def column(self, labels: Labels, *, counter: bool = False) -> Column:
        """Return the column of `labels`; `counter`: its values only rise, but for resets."""
        ...

    def append(self, at: Instant, present: Sequence[Column], values: Sequence[float]) -> bool:
        """Write one row; a column that is not `present` any more gets a staleness marker."""
        ...


class Storage(Protocol):
    """All writers' rows."""

    def block(self, owner: Owner) -> Appender:
        """Return the rows that `owner` writes."""
        ...

    def end(self, owner: Owner, at: Instant) -> None:
        """Mark all series of `owner` stale."""
        ...
