"""Why alerts are not told is said in Alertmanager's words."""

from datetime import UTC, datetime

import pytest

from monitor.dispatch.inhibit import Inhibitor, InhibitRule
from monitor.dispatch.muting import Muting, Suppression
from monitor.dispatch.notification import Notification, Reason
from monitor.dispatch.route import Route
from monitor.dispatch.silence import Silence, Silences
from monitor.dispatch.store import AlertStore
from monitor.dispatch.timeinterval import Span, TimeInterval
from monitor.model.alert import Alert
from monitor.model.instant import from_seconds
from monitor.model.labels import ALERT_NAME, EMPTY, Labels
from monitor.model.matcher import equal

NOW = from_seconds(datetime(2026, 11, 30, 6, tzinfo=UTC).timestamp())
INTERVALS = {"always": (TimeInterval(),), "never": (TimeInterval(years=(Span(2000, 2000),)),)}
ALERTS = tuple(Alert(Labels.of(alertname=name), EMPTY, NOW) for name in ("cause", "effect", "quiet", "loud"))


@pytest.mark.parametrize(
    ("route", "left", "heard"),
    [
        pytest.param(Route("r"), ["cause", "loud"], [("inhibition", 1), ("silence", 1)], id="inhibited and silenced"),
        pytest.param(
            Route("r", mute_time_intervals=("always",), active_time_intervals=("always",)),
            [],
            [("inhibition", 1), ("mute_time_interval", 3)],
            id="in a time that is muted",
        ),
        pytest.param(
            Route("r", mute_time_intervals=("always",), active_time_intervals=("never",)),
            [],
            [("inhibition", 1), ("active_time_interval", 3)],
            id="outside the times that are not",
        ),
    ],
)
def test_what_is_left_out_is_counted_by_the_first_reason(
    route: Route, left: list[str], heard: list[tuple[str, int]]
) -> None:
    store, said = AlertStore(), list[tuple[Suppression, int]]()
    for alert in ALERTS:
        store.put(alert, NOW)
    inhibitor = Inhibitor([InhibitRule((equal(ALERT_NAME, "cause"),), (equal(ALERT_NAME, "effect"),))], store)
    silences = Silences([Silence("1", (equal(ALERT_NAME, "quiet"),), 0, NOW + 1, "me", "why")])
    muting = Muting(inhibitor, INTERVALS, silences, lambda why, alerts: said.append((why, alerts)))
    notification = Notification("r", "{}", EMPTY, ALERTS, NOW, Reason.NOTHING_NEW)
    for stage in muting.stages:
        notification = stage(notification, route)
    assert [alert.name for alert in notification.alerts] == left
    assert said == heard
