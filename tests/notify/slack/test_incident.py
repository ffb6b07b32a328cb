"""The life of an incident as a story: what each notification makes of it, and what is said where."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from monitor.codec import incident_of, incident_text
from monitor.dispatch.notification import Notification, Reason
from monitor.journal import Journal
from monitor.model.alert import Alert
from monitor.model.instant import HOUR, MINUTE, Instant
from monitor.model.labels import EMPTY
from monitor.notify.slack.incident import (
    Action,
    Incident,
    Policy,
    PostRoot,
    Reply,
    UpdateRoot,
    advance,
    owing,
)
from monitor.notify.slack.incidents import Incidents
from monitor.storage.db import Database
from tests.notify.samples import NOW, down, ended, queue

POLICY = Policy()
A, B = queue("a:1"), queue("b:1")
CRITICAL = queue("c:1", severity="critical")


def told(at: Instant, *alerts: Alert, reason: Reason = Reason.NEW_ALERTS) -> Notification:
    return Notification("oncall", "g", EMPTY, alerts, at, reason, id=str(at))


def lived(*notes: Notification, policy: Policy = POLICY) -> tuple[Incident, list[tuple[Action, ...]]]:
    """Return the incident at the end, and what was to be done at each step; every message was posted."""
    incident, steps = None, []
    for note in notes:
        incident, actions = advance("slack", incident, note, policy)
        incident = replace(owing(incident, actions), ts="1.0", channel="C1", owed=())
        steps.append(actions)
    assert incident is not None
    return incident, steps


def text(actions: tuple[Action, ...]) -> str:
    return "\n".join(action.text for action in actions if isinstance(action, Reply))


def broadcast(actions: tuple[Action, ...]) -> bool:
    return any(action.broadcast for action in actions if isinstance(action, Reply))


def test_it_begins_with_one_message_that_says_all() -> None:
    incident, (first,) = lived(told(NOW, A, B))
    assert first == (PostRoot(),)
    assert (incident.opened_at, incident.is_open, incident.stamp) == (NOW - 15 * MINUTE, True, str(NOW))


def test_its_end_edits_the_message_and_is_said_once_in_the_thread() -> None:
    over = ended(replace(A, value=12.0), NOW + 5 * MINUTE)
    incident, (_, last, again) = lived(
        told(NOW, A), told(NOW + 5 * MINUTE, over), told(NOW + 6 * MINUTE, over, reason=Reason.ALL_RESOLVED)
    )
    assert isinstance(last[0], UpdateRoot)
    assert text(last) == "✅ *Resolved* after 20m · peak 42 requests waiting"
    assert not broadcast(last)
    assert again == (UpdateRoot(),)
    assert incident.resolved_at == NOW + 5 * MINUTE


def test_how_long_it_took_does_not_depend_on_when_it_is_told() -> None:
    _, (_, last) = lived(told(NOW, A), told(NOW + 9 * MINUTE, ended(A, NOW + 5 * MINUTE)))
    assert text(last).startswith("✅ *Resolved* after 20m")


def test_a_new_alert_is_told_in_the_thread_and_a_critical_one_in_the_channel_too() -> None:
    _, (_, warning, critical) = lived(told(NOW, A), told(NOW + 1, A, B), told(NOW + 2, A, B, CRITICAL))
    assert "b:1" in text(warning)
    assert "a:1" not in text(warning)
    assert not broadcast(warning)
    assert "c:1" in text(critical)
    assert broadcast(critical)


def test_the_end_of_some_is_said_and_that_nothing_changed_is_not() -> None:
    over = ended(B, NOW + 1)
    _, (_, some, nothing) = lived(told(NOW, A, B), told(NOW + 1, A, over), told(NOW + 2, A, over))
    assert text(some) == "✅ *Over:* `llama-3-8b @ b:1`"
    assert nothing == (UpdateRoot(),)


def test_a_repeated_notification_reminds_those_who_read_the_thread() -> None:
    _, (_, again) = lived(told(NOW, A), told(NOW + 4 * HOUR, A, reason=Reason.REPEAT))
    assert text(again).startswith("🟠 *Still firing* after 4h15m")


def flapping(times: int, step: int, alert: Alert = A) -> list[Notification]:
    """Return the notifications of an alert that fires `times` times, each for a `step`, with as much rest between."""
    notes = []
    for time in range(times):
        at = NOW + 2 * time * step
        fires = replace(alert, starts_at=at, active_at=at)
        notes += [told(at, fires), told(at + step, ended(fires, at + step))]
    return notes


def test_what_fires_again_soon_is_the_same_incident_with_a_counter() -> None:
    incident, steps = lived(*flapping(3, 10 * MINUTE)[:-1])
    assert (incident.episodes, incident.is_open, incident.id) == (3, True, str(NOW))
    assert sum(PostRoot() in step for step in steps) == 1
    assert "*Fires again*, 3 times since" in text(steps[-1])


def test_what_fires_again_late_is_another_incident() -> None:
    incident, steps = lived(*flapping(2, 31 * MINUTE))
    assert incident.episodes == 1
    assert [step[0] for step in steps] == [PostRoot(), UpdateRoot(), PostRoot(), UpdateRoot()]


def test_the_channel_does_not_hear_of_each_time_that_something_critical_flaps() -> None:
    _, steps = lived(*flapping(20, 15_000, CRITICAL))
    assert [broadcast(step) for step in steps].count(True) == 1


def test_an_end_that_was_not_told_in_time_is_seen_by_the_next_beginning() -> None:
    later = replace(A, starts_at=NOW + MINUTE, active_at=NOW + MINUTE)
    incident, (_, again) = lived(told(NOW, A), told(NOW + 2 * MINUTE, later))
    assert incident.episodes == 2
    assert "*Fires again*" in text(again)


def test_whoever_took_care_of_it_has_to_be_asked_again_when_it_fires_again() -> None:
    first, _ = advance("slack", None, told(NOW, A), POLICY)
    acked = replace(first, ts="1.0", acked_by="somebody", acked_at=NOW)
    more, _ = advance("slack", acked, told(NOW + 1, A, B), POLICY)
    over, _ = advance("slack", more, told(NOW + 2, ended(A, NOW + 2), ended(B, NOW + 2)), POLICY)
    again, _ = advance("slack", over, told(NOW + 3, A), POLICY)
    assert [one.acked_by for one in (more, over, again)] == ["somebody", "somebody", ""]


def test_the_peak_is_the_worst_value_told_in_the_direction_of_the_alert() -> None:
    low = replace(A, generator_url="http://m/graph?g0.expr=free+%3C+10&g0.tab=1")
    floor = [replace(low, value=value, annotations=EMPTY) for value in (5.0, 3.0, 4.0)]
    rising, _ = lived(*(told(NOW + n, queue("a:1", value)) for n, value in enumerate((50.0, 90.0, 60.0))))
    falling, _ = lived(*(told(NOW + n, alert) for n, alert in enumerate(floor)))
    assert (rising.peak, falling.peak) == ("90 requests waiting", "3")


def test_where_nobody_says_that_it_is_over_a_later_alert_is_another_incident() -> None:
    mute = Policy(sends_resolved=False)
    later = replace(A, starts_at=NOW + 2 * HOUR, active_at=None)
    _, steps = lived(told(NOW, A), told(NOW + HOUR, A), told(NOW + 2 * HOUR, later), policy=mute)
    assert [step[0] for step in steps] == [PostRoot(), UpdateRoot(), PostRoot()]


def test_what_could_not_be_said_yet_is_said_with_the_next() -> None:
    first, actions = advance("slack", None, told(NOW, A), POLICY)
    unposted = owing(first, actions)
    second, actions = advance("slack", unposted, told(NOW + 1, A, B), POLICY)
    both = owing(second, actions)
    assert both.owed[0] == PostRoot()
    posted = replace(both, ts="1.0", owed=both.owed[1:])
    third, actions = advance("slack", posted, told(NOW + 2, ended(A, NOW + 2), ended(B, NOW + 2)), POLICY)
    kinds = [type(action) for action in owing(third, actions).owed]
    assert kinds == [UpdateRoot, Reply, Reply]


WHOLE = replace(
    owing(*advance("slack", None, told(NOW, A, down()), POLICY)),
    channel="C1",
    ts="1.0",
    roots=2,
    earlier="https://example.com",
    acked_by="somebody",
    acked_at=NOW,
    silenced_by="other",
    silenced_until=NOW + HOUR,
    owed=(PostRoot(), UpdateRoot(), Reply("1/reply", "text", broadcast=True)),
    doubtful=True,
    digest="d",
)


def test_an_incident_is_the_same_after_a_restart(tmp_path: Path) -> None:
    database = Database(tmp_path)
    failures: list[None] = []
    kept = Incidents(keeper=Journal(database, lambda: failures.append(None)))
    kept.put(WHOLE)
    kept.change(WHOLE.key, lambda _: replace(WHOLE, roots=3))
    kept.put(replace(WHOLE, group_key="old", told=told(NOW - HOUR, A)))
    kept.expire(NOW)
    database.close()
    again = Incidents(Journal(Database(tmp_path), lambda: None).incidents())
    assert incident_text(again.open()[0]) == incident_text(replace(WHOLE, roots=3))
    assert len(again.open()) == 1
    assert again.find(WHOLE.id) == again.get(WHOLE.key)
    assert failures == []


def test_a_disk_that_takes_nothing_keeps_no_incident_from_being_known(tmp_path: Path) -> None:
    database = Database(tmp_path)
    failures: list[None] = []
    kept = Incidents(keeper=Journal(database, lambda: failures.append(None)))
    database.close()
    kept.put(WHOLE)
    assert kept.get(WHOLE.key) == WHOLE
    assert failures == [None]


def test_a_clock_that_is_set_moves_every_date_along() -> None:
    kept = Incidents([WHOLE])
    kept.shift(HOUR)
    moved = kept.open()[0]
    before, after = json.loads(incident_text(WHOLE)), json.loads(incident_text(moved))
    dates = {name for name in before if isinstance(before[name], int) and before[name] > HOUR}
    assert dates >= {"opened_at", "acked_at", "silenced_until"}
    assert all(after[name] - before[name] == HOUR for name in dates)
    assert moved.told.now - WHOLE.told.now == HOUR


@pytest.mark.parametrize("owed", [(), (PostRoot(),), (UpdateRoot(), Reply("i", "t"))])
def test_what_is_owed_is_read_as_it_was_written(owed: tuple[Action, ...]) -> None:
    assert incident_of("slack", incident_text(replace(WHOLE, owed=owed))).owed == owed
