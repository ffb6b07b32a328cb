"""The one exception of this part, and two kinds of it that say more."""

from collections.abc import Sequence

from monitor.model.labels import Labels


class RuleError(Exception):
    """
    A rule could not be evaluated: its query failed, or its result makes no sense for it.

    It becomes the rule's health and goes no further; no alert changes its state because of it.
    """


class UnansweredError(RuleError):
    """Who evaluates the expressions did not answer: nothing is known of what the rule would have found."""


class PartialAnswerError(RuleError):
    """Some of the data did not answer: what was `found` is there, and what was not found may be there all the same."""

    def __init__(self, message: str, found: Sequence[tuple[Labels, float]]) -> None:
        super().__init__(message)
        self.found = found
