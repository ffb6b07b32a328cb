"""
Work on labels is done once for a set of series, not once an evaluation.

Vectors keep their label sets in one tuple, and hand on the very same tuple while the set of series stays the same.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Made = TypeVar("Made")


class Memo(Generic[Key, Made]):
    """
    Remembers what was made of the last key. Any thread may use it: the worst is that something is made twice.

    A key that is equal to the last one, but not the same object, is recognised too.
    """

    __slots__ = ("_entry", "_make")

    def __init__(self, make: Callable[[Key], Made]) -> None:
        self._make = make
        self._entry: tuple[Key, Made] | None = None

    def of(self, key: Key) -> Made:
        entry = self._entry
        if entry is not None:
            if entry[0] is key:
                return entry[1]
            if entry[0] == key:
                self._entry = (key, entry[1])
                return entry[1]
        made = self._make(key)
        self._entry = (key, made)
        return made
