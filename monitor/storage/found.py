"""What selectors found, until a series that they might find comes or goes."""

from collections.abc import Sequence

from monitor.model.labels import METRIC_NAME
from monitor.model.matcher import Matcher, MatchType
from monitor.storage.column import Column

Key = tuple[Matcher, ...]


def exact_name(matchers: Sequence[Matcher]) -> str | None:
    """Return the one metric name that the matchers accept; None when there may be several."""
    on_name = (m.value for m in matchers if m.name == METRIC_NAME and m.type is MatchType.EQUAL)
    return next(on_name, None)


class Found:
    """The columns of the newest `most` selectors. Not locked: it belongs to the window."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._columns: dict[Key, Sequence[Column]] = {}
        self._by_name: dict[str | None, set[Key]] = {}

    def __len__(self) -> int:
        return len(self._columns)

    def get(self, key: Key) -> Sequence[Column] | None:
        return self._columns.get(key)

    def remember(self, key: Key, columns: Sequence[Column]) -> None:
        if len(self._columns) >= self._most:
            self._forget(next(iter(self._columns)))
        self._columns[key] = columns
        self._by_name.setdefault(exact_name(key), set()).add(key)

    def outdate(self, name: str) -> None:
        """A series of this name came or went: forget what was found by selectors that accept the name."""
        for accepting in (name, None):
            for key in self._by_name.pop(accepting, ()):
                del self._columns[key]

    def _forget(self, key: Key) -> None:
        del self._columns[key]
        name = exact_name(key)
        self._by_name[name].discard(key)
        if not self._by_name[name]:
            del self._by_name[name]
