"""What was expected beside what was got."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, isnan, nextafter

from monitor.model.labels import ALERT_NAME, Labels, quoted
from monitor.model.sample import format_value
from monitor.rules.context import Vector
from monitor.rules.unittest.spec import ExpectedAlert

NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a difference. `mark`: "=" as expected, "!" different, "-" missing, "+" not expected, "" a detail."""

    mark: str
    what: str
    expected: str = ""
    got: str = ""


def compare_samples(expected: Vector, got: Vector, *, fuzzy: bool) -> tuple[Line, ...]:
    """Return how two instant vectors differ, in whatever order they are; nothing when they do not."""
    same = _close if fuzzy else _equal
    wanted, found = _by_labels(expected), _by_labels(got)
    if [labels for labels, _ in wanted] == [labels for labels, _ in found] and all(
        same(one, other) for (_, one), (_, other) in zip(wanted, found, strict=True)
    ):
        return ()
    return tuple(_sample_lines(wanted, found, same))


def compare_alerts(
    expected: Sequence[ExpectedAlert], firing: Sequence[ExpectedAlert], pending: Iterable[Labels] = ()
) -> tuple[Line, ...]:
    """Return how the alerts that fire differ from those expected; `pending` only explains why one is missing."""
    missing, extra = Counter(expected) - Counter(firing), Counter(firing) - Counter(expected)
    if not missing and not extra:
        return ()
    return tuple(_alert_lines(list(missing.elements()), list(extra.elements()), len(firing), frozenset(pending)))


def _equal(one: float, other: float) -> bool:
    # A NaN is equal to nothing, not even to the NaN that was expected: so it is in promtool.
    return one == other


def _close(one: float, other: float) -> bool:
    # `in` would find a NaN by its identity.
    return any(other == near for near in (one, nextafter(one, -inf), nextafter(one, inf)))


def _by_labels(vector: Vector) -> list[tuple[Labels, float]]:
    return sorted(vector, key=lambda sample: sample[0])


def _sample_lines(
    expected: list[tuple[Labels, float]], got: list[tuple[Labels, float]], same: Callable[[float, float], bool]
) -> Iterator[Line]:
    left = list(got)
    for labels, value in expected:
        found = next((sample for sample in left if sample[0] == labels), None)
        if found is None:
            yield Line("-", str(labels), format_value(value), NOTHING)
            continue
        left.remove(found)
        mark = "=" if same(value, found[1]) else "!"
        yield Line(mark, str(labels), format_value(value), format_value(found[1]))
        if isnan(value) and isnan(found[1]):
            yield Line("", "NaN is equal to nothing; ask for `expr != expr` instead")
    for labels, value in left:
        yield Line("+", str(labels), NOTHING, format_value(value))


def _alert_lines(
    missing: list[ExpectedAlert], extra: list[ExpectedAlert], firing: int, pending: frozenset[Labels]
) -> Iterator[Line]:
    if firing > len(extra):
        yield Line("=", f"{firing - len(extra)} as expected")
    for alert in list(missing):
        # An expected alert that does not fire stands beside the one that fires and is most like it.
        likest = max(extra, key=lambda other: _likeness(alert, other), default=None)
        if likest is None or not _likeness(alert, likest):
            continue
        missing.remove(alert)
        extra.remove(likest)
        yield Line("!", _shown(alert.labels), "", "")
        yield from _details("label", alert.labels, likest.labels)
        yield from _details("annotation", alert.annotations, likest.annotations)
    for alert in missing:
        yield Line("-", _shown(alert.labels), "firing", "pending" if alert.labels in pending else NOTHING)
        yield from _details("annotation", alert.annotations, Labels())
    for alert in extra:
        yield Line("+", _shown(alert.labels), NOTHING, "firing")
        yield from _details("annotation", Labels(), alert.annotations)


def _likeness(one: ExpectedAlert, other: ExpectedAlert) -> int:
    """Return how many labels two alerts share beside the name; those with the very same labels are the likest."""
    if one.labels == other.labels:
        return len(one.labels) + 1
    return len(set(one.labels) & set(other.labels)) - 1


def _shown(labels: Labels) -> str:
    return str(labels.without((ALERT_NAME,)))


def _details(kind: str, expected: Labels, got: Labels) -> Iterator[Line]:
    """Yield a line for each name whose value differs."""
    left, right = dict(expected), dict(got)
    for name in sorted(left.keys() | right.keys()):
        if left.get(name) != right.get(name):
            yield Line("", f"{kind} {name}", _quoted(left.get(name)), _quoted(right.get(name)))


def _quoted(value: str | None) -> str:
    return NOTHING if value is None else quoted(value)
