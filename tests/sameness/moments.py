"""What stood when, and the table of what became of every alert in every engine."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import isnan

from monitor.model.instant import SECOND, Instant
from monitor.model.labels import ALERT_NAME, INSTANCE, Labels
from monitor.rules.alerting import AlertState
from monitor.rules.manager import Manager
from tests.sameness.history import EXACT

INACTIVE = "inactive"


@dataclass(frozen=True, slots=True)
class Standing:
    """How an alert stands: since when its condition holds, and while it fires, what it says."""

    state: str
    active_at: Instant
    annotations: Labels | None = None

    @property
    def value(self) -> str:
        return self.annotations.value(EXACT) if self.annotations is not None else ""


# How every alert that is not inactive stands, by its labels, at every evaluation.
Moments = Mapping[Instant, Mapping[Labels, Standing]]


def standing(manager: Manager) -> dict[Labels, Standing]:
    """Return how the alerts of our rules stand now."""
    return {
        labels: Standing(
            alert.state.value,
            # Whole seconds, as ALERTS_FOR_STATE has it.
            alert.active_at - alert.active_at % SECOND,
            alert.annotations if alert.state is AlertState.FIRING else None,
        )
        for group in manager.groups
        for rule in group.alerting
        for labels, alert in rule.active.items()
        if alert.state is not AlertState.INACTIVE
    }


@dataclass(frozen=True, slots=True)
class Transition:
    """An alert became `state` at an instant; INACTIVE has no value."""

    at: Instant
    labels: Labels
    state: str
    value: str = ""
    annotations: Labels | None = None


def transitions(moments: Moments) -> list[Transition]:
    """Return what became of the alerts, in order."""
    return list(_transitions(moments))


def _transitions(moments: Moments) -> Iterator[Transition]:
    before: Mapping[Labels, Standing] = {}
    for at, now in sorted(moments.items()):
        for labels in sorted(before.keys() | now.keys()):
            old, new = before.get(labels), now.get(labels)
            if (old.state if old else INACTIVE) != (new.state if new else INACTIVE):
                value = new.value if new else ""
                yield Transition(at, labels, new.state if new else INACTIVE, value, new.annotations if new else None)
        before = now


class Texts(Enum):
    """What of what an alert says is compared: all, all but the last digits of its value, or nothing."""

    EXACT = "exact"
    ROUNDED = "rounded"
    NONE = "none"


def differences(ours: Moments, theirs: Moments, texts: Texts = Texts.EXACT) -> list[str]:
    """Return where two engines do not stand alike, each as `instant: what`."""
    found: list[str] = []
    for at in sorted(ours.keys() | theirs.keys()):
        here, there = ours.get(at, {}), theirs.get(at, {})
        for labels in sorted(here.keys() | there.keys()):
            mine, other = here.get(labels), there.get(labels)
            if not _alike(mine, other, texts):
                found.append(f"{at}: {labels}: {mine} is not {other}")
    return found


def _alike(mine: Standing | None, other: Standing | None, texts: Texts) -> bool:
    if mine is None or other is None:
        return mine is other
    if (mine.state, mine.active_at) != (other.state, other.active_at):
        return False
    if texts is Texts.NONE or mine.annotations is None or other.annotations is None:
        return texts is Texts.NONE or mine.annotations is other.annotations
    without = (EXACT,) if texts is Texts.ROUNDED else ()
    return mine.annotations.without(without) == other.annotations.without(without)


def alerts_of(differences: Sequence[str]) -> set[str]:
    """Return the names of the alerts that differ."""
    return {name for told in differences for name in re.findall(rf'{ALERT_NAME}(?:="|: )(\w+)', told)}


def table(title: str, ours: Moments, verdicts: Mapping[str, Sequence[str]]) -> str:
    """
    Return a table of all transitions.

    `verdicts` has for each engine the differences it has; a row is marked where one of them is at its instant.
    """
    rows = transitions(ours)
    start = min(ours, default=0)
    lines = [title, f"{'second':>7}  {'alert':<30} {'becomes':<9} {'value':<22} {'  '.join(verdicts)}"]
    for row in rows:
        name = f"{row.labels.value(ALERT_NAME)} {row.labels.value('severity')}"[:30]
        marks = "  ".join(
            f"{'differs' if any(told.startswith(f'{row.at}:') for told in found) else '=':<{len(engine)}}"
            for engine, found in verdicts.items()
        )
        value = "" if not row.value or isnan(float(row.value)) else row.value
        lines.append(f"{(row.at - start) // SECOND:>7}  {name:<30} {row.state:<9} {value:<22} {marks}")
    fired = {row.labels for row in rows if row.state == AlertState.FIRING.value}
    servers = {row.labels.value(INSTANCE) for row in rows}
    count = f"{len(ours)} evaluations, {len(rows)} transitions, {len(fired)} alerts fired, {len(servers)} servers"
    return "\n".join([*lines, count, *(f"{engine}: {len(found)} differences" for engine, found in verdicts.items())])
