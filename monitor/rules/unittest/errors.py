"""The one exception of this part."""


class NotationError(Exception):
    """A series, its labels or its values are not written as they must be; `column` counts from 1 in its text."""

    def __init__(self, what: str, column: int = 1) -> None:
        super().__init__(what)
        self.column = column
