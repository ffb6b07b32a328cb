"""What came of a story: found or missed, after how many seconds, and who was bothered for nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.model.instant import Duration
from tests.incidents.firing import Firing
from tests.incidents.story import AFTERMATH, Column, Expect, Story, Tell


@dataclass(frozen=True, slots=True)
class Found:
    """An expectation, and what met it; `after` the cause, None when nothing did."""

    expect: Expect
    by: str = ""
    after: Duration | None = None
    severity_fits: bool = True

    @property
    def in_time(self) -> bool:
        return self.after is not None and self.after <= self.expect.within and self.severity_fits


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one column did in a story; of several phases it is the worst."""

    story: Story
    column: Column
    found: Sequence[Found]
    false_alarms: Sequence[Firing]

    @property
    def is_good(self) -> bool:
        return all(found.in_time for found in self.found) and not self.false_alarms


def judge(story: Story, column: Column, phases: Sequence[Sequence[Firing]]) -> Verdict:
    """Return the verdict on what fired, in each phase in which the story was told."""
    expects = [expect for expect in story.expects if column in expect.columns]
    found = [_worst([_found(story, expect, fired) for fired in phases]) for expect in expects]
    known = {alert for expect in story.expects for alert in expect.alerts} | story.may
    bothered = {firing.alert: firing for fired in phases for firing in fired if _is_false(story, firing, known)}
    return Verdict(story, column, found, sorted(bothered.values()))


def _found(story: Story, expect: Expect, fired: Sequence[Firing]) -> Found:
    for firing in sorted(fired):
        fits = firing.alert in expect.alerts and expect.instance in ("", firing.instance)
        if fits and story.cause <= firing.begin <= story.end + AFTERMATH:
            loud = firing.pages if story.tell is Tell.PAGE and expect is story.expects[0] else True
            return Found(expect, firing.alert, firing.begin - story.cause, loud)
    return Found(expect)


def _worst(found: Sequence[Found]) -> Found:
    return max(found, key=lambda one: float("inf") if one.after is None else one.after)


def _is_false(story: Story, firing: Firing, known: frozenset[str] | set[str]) -> bool:
    if firing.is_quiet:
        return False
    if firing.alert not in known or firing.begin < story.cause or firing.begin > story.end + AFTERMATH:
        return True
    if firing.alert in story.may:
        return False
    return story.tell is Tell.NOTE or (story.tell is Tell.TICKET and firing.pages)


@dataclass(frozen=True, slots=True)
class Foreign:
    """How a rule set did whose alerts have names of their own: any alert counts that comes at the time of the story."""

    story: Story
    page: Firing | None
    alert: Firing | None
    false_alarms: Sequence[Firing]

    @property
    def after(self) -> Duration | None:
        first = self.page or self.alert
        return None if first is None else first.begin - self.story.cause

    @property
    def is_good(self) -> bool:
        if self.false_alarms:
            return False
        wanted = {Tell.PAGE: self.page, Tell.TICKET: self.alert, Tell.NOTE: self.alert}
        return self.story.tell is Tell.NOTHING or wanted[self.story.tell] is not None


def judge_foreign(story: Story, fired: Sequence[Firing]) -> Foreign:
    """Return what a rule set of unknown names made of a story."""
    loud = [firing for firing in sorted(fired) if not firing.is_quiet]
    timely = [
        one for one in loud if story.cause <= one.begin <= story.end + AFTERMATH and story.tell is not Tell.NOTHING
    ]
    pages = [one for one in timely if one.pages]
    wrong = [one for one in loud if one not in timely]
    if story.tell is not Tell.PAGE:
        wrong += pages
        pages = []
    return Foreign(story, pages[0] if pages else None, timely[0] if timely else None, wrong)
