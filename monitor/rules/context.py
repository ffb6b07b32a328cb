"""What the rules need from the rest of the program."""

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

from monitor.model.instant import Instant
from monitor.model.labels import EMPTY, Labels

Vector = Sequence[tuple[Labels, float]]
# Returns the metric names that an expression spells out.
Reads = Callable[[str], Collection[str]]


class Query(Protocol):
    """Evaluates an expression at an instant: the embedded engine, or a real Prometheus."""

    def __call__(self, expr: str, at: Instant) -> Vector:
        """
        Return an instant vector; a scalar result is one element without labels.

        Raises RuleError; UnansweredError and PartialAnswerError where it is not the expression's fault.
        """
        ...


class Ahead(Protocol):
    """Is told before an evaluation what will be asked in it, so that answers may be fetched side by side."""

    def __call__(self, questions: Sequence[tuple[str, Instant]]) -> None: ...


def not_ahead(questions: Sequence[tuple[str, Instant]]) -> None:
    """Every question is answered when it is asked."""


def reads_nothing(_expr: str) -> Collection[str]:
    """What an expression reads is nobody's concern: groups are evaluated in the order of their files."""
    return ()


class Appender(Protocol):
    """Takes what rules produce."""

    def append(self, owner: Hashable, at: Instant, samples: Vector) -> None:
        """
        Write the samples of `owner` at `at`; what it wrote before and not now gets a staleness marker.

        Raises RuleError when a sample contradicts what is there; the others are written.
        """
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """What all groups share."""

    query: Query
    appender: Appender
    external_labels: Labels = EMPTY
    external_url: str = ""
    ahead: Ahead = not_ahead
    reads: Reads = reads_nothing
