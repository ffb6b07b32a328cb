"""Why a rule finds nothing on a target."""

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """
    A closed set of words, fit for a label.

    Those that are `explained` are as the version or the configuration of the server has it, and nobody needs to do
    anything; the others mean that the rule should be changed.
    """

    REMOVED = "removed"
    RENAMED = "renamed"
    PREFIX = "prefix"
    HIDDEN = "hidden"
    BUCKET = "bucket"
    LABEL = "label"
    UNKNOWN = "unknown"
    MISSING = "missing"
    NOT_YET = "not_yet"
    LATER = "later"
    CONDITION = "condition"
    STATS_OFF = "stats_off"

    @property
    def explained(self) -> bool:
        return self in (Reason.NOT_YET, Reason.LATER, Reason.CONDITION, Reason.STATS_OFF)


@dataclass(frozen=True, slots=True)
class Blind:
    """
    A selector finds nothing, and `sentence` says why.

    `of_others`: nothing but labels that are fixed for a target speaks against it, so that it may be about another one.
    """

    reason: Reason
    sentence: str
    of_others: bool = False
