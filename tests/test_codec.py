"""What is written into the state file comes back as it was."""

from monitor.codec import active_of, active_text, delivery_of, delivery_text
from monitor.dispatch.dispatcher import Delivery
from monitor.dispatch.notification import Notification, Reason
from monitor.model.alert import Alert
from monitor.model.labels import Labels
from monitor.rules.alerting import ActiveAlert, AlertState
from monitor.rules.spec import overlay

LABELS = Labels.of(alertname="Down", instance="a:1")
# As a rule makes them whose template expands to nothing.
ANNOTATIONS = overlay({}, {"summary": "", "description": "ä\n"})


def test_an_alert_comes_back_with_its_empty_annotations() -> None:
    alert = ActiveAlert(LABELS, AlertState.FIRING, 1, 2.5, ANNOTATIONS, fired_at=2)
    assert active_of(active_text(alert)) == alert


def test_a_letter_comes_back_with_its_empty_annotations() -> None:
    alert = Alert(LABELS, ANNOTATIONS, 1, 2, 0, 2.5, "http://x")
    letter = Delivery("oncall/slack[0]", Notification("oncall", "{}", LABELS, (alert,), 3, Reason.FIRST, id="7"))
    assert delivery_of(letter.integration, delivery_text(letter)) == letter
