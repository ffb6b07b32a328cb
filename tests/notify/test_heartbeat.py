"""The dead man's switch: when there is a sign of life."""

import pytest

from monitor.dispatch.notification import NotifyError
from monitor.model.instant import MINUTE, SECOND, Instant
from monitor.notify.heartbeat import Heartbeat, Rhythm, Verdict, judge
from monitor.notify.secret import Secret
from tests.notify.endpoint import PATH, endpoint
from tests.slackstub.faults import Answer

NOW: Instant = 1_796_018_705_000
EVERY = 5 * SECOND


def rhythm(age: int | None, interval: int = EVERY) -> Rhythm:
    return Rhythm(interval, None if age is None else NOW - age)


@pytest.mark.parametrize(
    ("scrapes", "evaluations", "failing_for", "verdict"),
    [
        pytest.param([0], [0], None, Verdict.ALIVE, id="all is well"),
        pytest.param([14_999], [14_999], None, Verdict.ALIVE, id="two were missed"),
        pytest.param([15_000], [0], None, Verdict.NO_SCRAPES, id="three scrapes were missed"),
        pytest.param([None, 15_000, 0], [0], None, Verdict.ALIVE, id="one target is scraped"),
        pytest.param([], [0], None, Verdict.NO_SCRAPES, id="no target"),
        pytest.param([None], [None], None, Verdict.NO_SCRAPES, id="just started"),
        pytest.param([0], [None], None, Verdict.NO_EVALUATIONS, id="never evaluated"),
        pytest.param([0], [0, 15_000], None, Verdict.NO_EVALUATIONS, id="one group is not evaluated"),
        pytest.param([0], [], None, Verdict.ALIVE, id="no rules"),
        pytest.param([0], [0], 5 * MINUTE - 1, Verdict.ALIVE, id="a receiver may fail for a while"),
        pytest.param([0], [0], 5 * MINUTE, Verdict.NOT_TELLING, id="a receiver is not told"),
    ],
)
def test_a_sign_of_life_is_given_only_while(
    scrapes: list[int | None], evaluations: list[int | None], failing_for: int | None, verdict: Verdict
) -> None:
    since = None if failing_for is None else NOW - failing_for
    assert judge(map(rhythm, scrapes), map(rhythm, evaluations), since, 5 * MINUTE, NOW) is verdict


def test_each_rhythm_has_its_own_interval_and_a_short_one_some_time_to_spare() -> None:
    slow, quick = rhythm(2 * MINUTE, MINUTE), rhythm(2 * SECOND, 100)
    assert judge([slow], [quick], None, MINUTE, NOW) is Verdict.ALIVE


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_it_is_a_request_whose_failure_is_an_error_without_the_url(method: str) -> None:
    with endpoint() as served:
        heartbeat = Heartbeat(Secret(served.url), method)
        heartbeat.send()
        served.faults.append(Answer(404))
        with pytest.raises(NotifyError) as caught:
            heartbeat.send()
        assert [(request.method, request.path) for request in served.requests] == [(method, PATH)] * 2
        assert "Secret" not in str(caught.value)
