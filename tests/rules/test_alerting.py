"""The life of an alert on a time line: one letter an evaluation, a minute apart."""

import pytest

from monitor.model.instant import MINUTE
from monitor.model.labels import Labels
from monitor.rules.alerting import ActiveAlert, AlertState, Found, absent, seen

LETTERS = {AlertState.PENDING: "p", AlertState.FIRING: "f", AlertState.INACTIVE: "r"}
SERIES = Labels.of(alertname="A", instance="a:8000")


def timeline(present: str, *, hold: int = 0, keep: int = 0) -> str:
    """Play `x` (found) and `.` (not found); return `p`ending, `f`iring, `r`esolved or `-` for each evaluation."""
    alert: ActiveAlert | None = None
    states = ""
    for minute, letter in enumerate(present):
        now = minute * MINUTE
        if letter == "x":
            alert = seen(alert, Found(SERIES, 1.0), hold * MINUTE, now)
        elif alert is not None:
            alert = absent(alert, keep * MINUTE, now)
        states += "-" if alert is None else LETTERS[alert.state]
    return states


@pytest.mark.parametrize(
    ("present", "hold", "keep", "expected"),
    [
        pytest.param("..xx", 0, 0, "--ff", id="without for it fires at once"),
        pytest.param("xxxx", 2, 0, "ppff", id="for holds it back until it has stood that long"),
        pytest.param("x.xxx", 2, 0, "p-ppf", id="a gap starts for over"),
        pytest.param("xx.x", 0, 0, "ffrf", id="a resolved alert that comes back fires anew"),
        pytest.param("xx..x", 1, 0, "pfrrp", id="a resolved alert that comes back waits for its for again"),
        pytest.param("xx....", 0, 2, "ffffrr", id="keep_firing_for bridges absence"),
        pytest.param("x.x...x", 0, 2, "fffffrf", id="keep_firing_for starts over when the sample is back"),
        pytest.param("x" + "." * 18, 0, 0, "f" + "r" * 16 + "--", id="a resolved alert is kept for 15 minutes"),
        pytest.param("xx..", 3, 5, "pp--", id="keep_firing_for does not keep what only was pending"),
    ],
)
def test_states(present: str, hold: int, keep: int, expected: str) -> None:
    assert timeline(present, hold=hold, keep=keep) == expected


def test_an_alert_that_fires_again_has_new_dates() -> None:
    first = seen(None, Found(SERIES, 1.0), 0, 0)
    over = absent(first, 0, MINUTE)
    assert over is not None
    again = seen(over, Found(SERIES, 2.0), 0, 2 * MINUTE)
    assert (again.active_at, again.fired_at, again.resolved_at, again.value) == (2 * MINUTE, 2 * MINUTE, None, 2.0)


def test_value_and_annotations_follow_the_sample_and_stay_while_it_is_kept_firing() -> None:
    first = seen(None, Found(SERIES, 1.0, Labels.of(summary="one")), 0, 0)
    second = seen(first, Found(SERIES, 2.0, Labels.of(summary="two")), 0, MINUTE)
    kept = absent(second, 5 * MINUTE, 2 * MINUTE)
    assert kept is not None
    assert (kept.value, kept.annotations, kept.fired_at) == (2.0, Labels.of(summary="two"), 0)
