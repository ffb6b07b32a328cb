"""What the next receiver is told of an incident that nobody answered."""

from dataclasses import replace

from monitor.dispatch.dispatcher import Integration
from monitor.dispatch.notification import Reason
from monitor.interaction import passed_on
from monitor.model.instant import MINUTE
from tests.notify.interactive.given import incident, resolved
from tests.notify.samples import NOW

TO = [Integration("second/slack[0]", send_resolved=True), Integration("second/webhook[0]", send_resolved=False)]
LATER = NOW + 30 * MINUTE


def test_every_integration_is_told_how_it_stands_under_an_id_of_its_own() -> None:
    first, second = passed_on(incident(), TO, "second", LATER)
    assert [first.integration, second.integration] == [integration.name for integration in TO]
    told = first.notification
    assert (told.receiver, told.reason, told.now, told.alerts) == (
        "second",
        Reason.ESCALATED,
        LATER,
        incident().told.alerts,
    )
    ids = {incident().told.id, told.id, second.notification.id}
    assert len(ids) == 3
    assert [one.notification.id for one in passed_on(incident(), TO, "second", LATER + MINUTE)] == [
        told.id,
        second.notification.id,
    ]


def test_its_end_is_told_to_those_who_want_to_hear_of_ends() -> None:
    (end,) = passed_on(resolved(), TO, "second", LATER)
    assert (end.integration, end.notification.reason) == ("second/slack[0]", Reason.ALL_RESOLVED)
    assert end.notification.is_resolved
    (begun, _) = passed_on(incident(), TO, "second", LATER)
    assert end.notification.id != begun.notification.id


def test_a_receiver_that_was_told_first_is_not_told_again() -> None:
    assert list(passed_on(incident(), TO, "oncall", LATER)) == []
    again = replace(incident(), alarmed_at=LATER)
    ids = [next(passed_on(one, TO, "second", LATER)).notification.id for one in (incident(), again)]
    assert ids[0] != ids[1]
