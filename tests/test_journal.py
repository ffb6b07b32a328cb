"""Who acknowledged what, and when, as it is kept for the report: a line for each alert of each incident."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from monitor.dispatch.notification import Reason
from monitor.journal import Journal
from monitor.model.alert import Alert
from monitor.model.instant import DAY, MINUTE, Instant
from monitor.notify.slack.incident import Incident, Policy, advance
from monitor.storage.db import Database
from tests.notify.samples import NOW, down, ended, note, queue

EVER = 2**62


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal(Database(tmp_path), lambda: pytest.fail("the state could not be written"))
    yield journal
    journal.close()


def told(incident: Incident | None, now: Instant, *alerts: Alert) -> Incident:
    over = all(alert.ends_at is not None for alert in alerts)
    reason = Reason.ALL_RESOLVED if over else Reason.FIRST
    return advance("oncall/slack[0]", incident, replace(note(*alerts), now=now, reason=reason), Policy())[0]


def lines(journal: Journal) -> list[tuple[str, int, Instant | None, Instant | None, str]]:
    found = journal.handled(0, EVER)
    return [(one.labels.value("alertname"), one.episode, one.acked_at, one.ends_at, one.acked_by) for one in found]


def test_an_alert_is_told_acknowledged_and_over(journal: Journal) -> None:
    began = told(None, NOW, queue())
    journal.keep_incidents([began], ())
    acked = replace(began, acked_at=NOW + MINUTE, acked_by="Ada")
    journal.keep_incidents([acked], ())
    assert lines(journal) == [("VLLMQueueLong", 1, NOW + MINUTE, None, "Ada")]
    journal.keep_incidents([told(acked, NOW + 9 * MINUTE, ended(queue(), NOW + 8 * MINUTE))], ())
    assert lines(journal) == [("VLLMQueueLong", 1, NOW + MINUTE, NOW + 8 * MINUTE, "Ada")]
    assert journal.handled(NOW + 9 * MINUTE, EVER) == journal.handled(0, NOW - 11 * MINUTE) == []


def test_what_fires_again_has_yet_to_be_acknowledged(journal: Journal) -> None:
    began = replace(told(None, NOW, queue()), acked_at=NOW + MINUTE, acked_by="Ada")
    over = told(began, NOW + 5 * MINUTE, ended(queue(), NOW + 4 * MINUTE))
    again = told(over, NOW + 8 * MINUTE, replace(queue(), starts_at=NOW + 7 * MINUTE))
    for incident in (began, over, again):
        journal.keep_incidents([incident], ())
    assert lines(journal) == [
        ("VLLMQueueLong", 1, NOW + MINUTE, NOW + 4 * MINUTE, "Ada"),
        ("VLLMQueueLong", 2, None, None, ""),
    ]


def test_an_alert_whose_end_was_never_told_ends_with_its_incident(journal: Journal) -> None:
    both = told(None, NOW, queue(), down())
    journal.keep_incidents([both], ())
    journal.keep_incidents([told(both, NOW + MINUTE, ended(queue(), NOW + MINUTE))], ())
    assert {line[3] for line in lines(journal)} == {NOW + MINUTE}


def test_it_outlives_the_incident_and_not_the_history(journal: Journal) -> None:
    old = told(None, NOW, queue())
    journal.keep_incidents([old], ())
    journal.keep_incidents([], [old.key])
    assert len(lines(journal)) == 1
    later = NOW + journal.retention + DAY
    journal.keep_incidents([told(None, later, down())], ())
    assert [line[0] for line in lines(journal)] == ["VLLMTargetDown"]


def test_a_clock_that_is_set_leaves_one_line(journal: Journal) -> None:
    began = told(None, NOW, queue())
    journal.keep_incidents([began], ())
    journal.keep_incidents([began.shifted(DAY)], ())
    assert [one.told_at for one in journal.handled(0, EVER)] == [NOW + DAY]
