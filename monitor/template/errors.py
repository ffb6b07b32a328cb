"""What can go wrong with a template, before it is used and while it is."""


class TemplateError(ValueError):
    """
    The text is not a template.

    `line` and `column` count from 1, in characters of the template's own text.
    """

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column

    @classmethod
    def at(cls, message: str, text: str, position: int) -> "TemplateError":
        """Return the error of the character `position` of `text`."""
        before = text[:position]
        return cls(message, before.count("\n") + 1, position - before.rfind("\n"))


class FunctionError(Exception):
    """A function of the template cannot work with what it was given. Becomes the text of an annotation."""
