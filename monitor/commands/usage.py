"""What a command is told that makes no sense."""


class UsageError(Exception):
    """The options do not go together, or one cannot be read."""
