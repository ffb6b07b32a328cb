"""The variables of one expansion: a stack of names, the newest last."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from monitor.template.values import Value


class Variables:
    """`$` is the dot that the template began with."""

    def __init__(self, dot: Value, variables: Mapping[str, Value]) -> None:
        self._stack: list[tuple[str, Value]] = [("$", dot), *variables.items()]

    def push(self, name: str, value: Value) -> None:
        self._stack.append((name, value))

    def get(self, name: str) -> Value:
        """Raises KeyError."""
        for known, value in reversed(self._stack):
            if known == name:
                return value
        raise KeyError(name)

    def set(self, name: str, value: Value) -> None:
        """Give the newest variable of this name a value; raises KeyError."""
        for at in range(len(self._stack) - 1, -1, -1):
            if self._stack[at][0] == name:
                self._stack[at] = (name, value)
                return
        raise KeyError(name)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Forget, at the end, the variables made inside."""
        known = len(self._stack)
        try:
            yield
        finally:
            del self._stack[known:]

    @contextmanager
    def inside(self, dot: Value) -> Iterator[None]:
        """Hide everything from a named template, which sees nothing but its dot."""
        outside, self._stack = self._stack, [("$", dot)]
        try:
            yield
        finally:
            self._stack = outside
