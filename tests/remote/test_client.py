"""Questions to a server that speaks the Prometheus HTTP API, and everything that it may answer."""

import json
from typing import Any
from urllib.parse import parse_qs

import pytest

from monitor.model.instant import SECOND
from monitor.promql import Matrix, PromqlError, Scalar, Vector, parse
from monitor.remote.client import Client
from monitor.remote.engine import RemoteEngine
from monitor.remote.errors import Reason, RemoteError
from monitor.remote.options import RemoteOptions
from monitor.scrape.options import BasicAuth, ScrapeOptions
from tests.notify.endpoint import Endpoint, Received, endpoint
from tests.ports import silent_port
from tests.slackstub.faults import Answer, Hang, Reset

AT = 1_790_000_000_500


def good(result: Any, kind: str = "vector", **more: Any) -> Answer:
    return Answer(200, json.dumps({"status": "success", "data": {"resultType": kind, "result": result}, **more}))


def refused(status: int, kind: str, error: str) -> Answer:
    return Answer(status, json.dumps({"status": "error", "errorType": kind, "error": error}))


def client_of(served: Endpoint, **options: Any) -> Client:
    return Client(RemoteOptions(served.url, **{"timeout": 60 * SECOND, **options}), wait=lambda _: None)


def form_of(request: Received) -> dict[str, list[str]]:
    return parse_qs(request.body.decode())


def test_a_question_goes_with_its_time_tenant_and_credentials() -> None:
    with endpoint(lambda _: good([])) as served:
        client = client_of(
            served,
            http=ScrapeOptions(basic_auth=BasicAuth("me", "hidden")),
            headers={"X-Scope-OrgID": "team-a"},
            params={"dedup": "true"},
        )
        client.query("up > 0", AT)
    (request,) = served.requests
    assert (request.method, request.path) == ("POST", "/hook/notARealSecret/api/v1/query")
    assert form_of(request) == {"query": ["up > 0"], "time": ["1790000000.5"], "nocache": ["1"], "dedup": ["true"]}
    assert request.headers["x-scope-orgid"] == "team-a"
    assert request.headers["authorization"] == "Basic bWU6aGlkZGVu"


def test_values_of_every_kind_are_understood() -> None:
    series = {"metric": {"__name__": "x", "job": "a"}}
    answers = [
        good([{**series, "value": [1, "+Inf"]}]),
        good([1, "NaN"], "scalar"),
        good([{**series, "values": [[1.5, "2"], [2.5, "-Inf"]]}], "matrix"),
    ]
    with endpoint(lambda _: answers.pop(0)) as served:
        engine = RemoteEngine(client_of(served))
        vector = engine.instant(parse("x"), AT).value
        scalar = engine.instant(parse("1"), AT).value
        matrix = engine.range(parse("x"), AT, AT + 1000, 1000).value
    assert isinstance(vector, Vector)
    assert [(str(labels), value) for labels, value in vector] == [('x{job="a"}', float("inf"))]
    assert isinstance(scalar, Scalar)
    assert scalar.value != scalar.value
    assert isinstance(matrix, Matrix)
    (one,) = matrix
    assert (list(one.times), list(one.values)) == ([1500, 2500], [2.0, float("-inf")])


@pytest.mark.parametrize(
    ("answer", "reason", "attempts", "words"),
    [
        (refused(400, "bad_data", "parse error"), Reason.REFUSED, 1, "parse error"),
        (refused(422, "execution", "many-to-many matching"), Reason.REFUSED, 1, "many-to-many"),
        (refused(503, "timeout", "query timed out"), Reason.TIMEOUT, 1, "timed out"),
        (refused(503, "unavailable", "not ready"), Reason.STATUS, 3, "not ready"),
        (refused(500, "internal", "expanding series"), Reason.STATUS, 3, "expanding"),
        (refused(429, "too_many_requests", "slow down"), Reason.STATUS, 3, "slow down"),
        # VictoriaMetrics' word is the status.
        (refused(503, "503", "cannot reach vmstorage"), Reason.STATUS, 3, "vmstorage"),
        (refused(422, "422", "unknown function"), Reason.REFUSED, 1, "unknown function"),
        (refused(504, "", "no reason"), Reason.STATUS, 3, "no reason"),
        (refused(404, "not_found", "no such tenant"), Reason.NOT_PROMETHEUS, 1, "no such tenant"),
        (refused(499, "canceled", "gone"), Reason.TIMEOUT, 1, "gone"),
        (Answer(502, "<html>Bad Gateway</html>"), Reason.STATUS, 3, "answers 502"),
        (Answer(401, "no org id"), Reason.CREDENTIALS, 1, "wants other credentials"),
        (Answer(302, "", {"Location": "http://127.0.0.1:1/"}), Reason.NOT_PROMETHEUS, 1, "answers 302"),
        (Answer(200, "<html>Grafana</html>"), Reason.NOT_PROMETHEUS, 1, "does not speak the Prometheus HTTP API"),
        (good([{"metric": {}, "histogram": [1, {}]}]), Reason.REFUSED, 1, "native histograms"),
        (good([{"metric": {"a": 5}, "value": [1, "1"]}]), Reason.REFUSED, 1, "TypeError"),
        (good([{"metric": 5, "value": [1, "1"]}]), Reason.REFUSED, 1, "AttributeError"),
        (good([{"metric": {}, "value": [1, "1e"]}]), Reason.REFUSED, 1, "ValueError"),
        (Answer(200, "[" * 30_000), Reason.NOT_PROMETHEUS, 1, "does not speak"),
        (good(None, "streams"), Reason.NOT_PROMETHEUS, 1, "unknown type"),
        (Answer(200, '{"status": "success", "data": null}'), Reason.NOT_PROMETHEUS, 1, "unknown type"),
        (Answer(200, '{"status": "success", "data": {"resultType": []}}'), Reason.NOT_PROMETHEUS, 1, "unknown type"),
        (good(5), Reason.REFUSED, 1, "TypeError"),
    ],
)
def test_every_way_to_fail_has_its_reason_and_is_tried_again_where_that_may_help(
    answer: Answer, reason: Reason, attempts: int, words: str
) -> None:
    with endpoint(lambda _: answer) as served, pytest.raises(PromqlError) as raised:
        RemoteEngine(client_of(served)).instant(parse("x"), AT)
    cause = raised.value.__cause__
    assert isinstance(cause, RemoteError)
    assert (cause.reason, len(served.requests)) == (reason, attempts)
    assert cause.is_outage == (reason is not Reason.REFUSED)
    assert words in str(raised.value)


def test_a_connection_that_breaks_is_tried_again_and_the_answer_counts() -> None:
    with endpoint(lambda _: good([])) as served:
        served.faults.append(Reset(applied=False))
        assert client_of(served).query("x", AT).data["result"] == []


def test_who_does_not_answer_is_waited_for_until_the_time_is_up_and_no_longer() -> None:
    with endpoint(lambda _: good([])) as served:
        served.faults.append(Hang(applied=False))
        with pytest.raises(RemoteError) as raised:
            client_of(served, timeout=300).query("x", AT)
    assert raised.value.reason is Reason.TIMEOUT


def test_a_closed_port_is_told_without_what_is_secret() -> None:
    with silent_port() as port:
        client = Client(
            RemoteOptions(f"http://user:hidden@127.0.0.1:{port}/prometheus?token=hidden"), wait=lambda _: None
        )
        with pytest.raises(RemoteError) as raised:
            client.query("x", AT)
    assert raised.value.reason is Reason.UNREACHABLE
    assert f"http://127.0.0.1:{port}/prometheus" in str(raised.value)
    assert "hidden" not in repr(raised.value) + repr(raised.value.__cause__)


def test_an_answer_without_an_end_is_cut_off() -> None:
    with endpoint(lambda _: good([], infos=["x" * 5000])) as served, pytest.raises(RemoteError) as raised:
        client_of(served, body_size_limit=1000).query("x", AT)
    assert raised.value.reason is Reason.TOO_LARGE


@pytest.mark.parametrize(
    ("more", "partial"),
    [
        ({}, ""),
        ({"warnings": ["PromQL warning: encountered a mix of histograms and floats"]}, ""),
        ({"infos": ["PromQL info: metric might not be a counter"]}, ""),
        ({"warnings": ["No StoreAPIs matched for this query"]}, "No StoreAPIs matched for this query"),
        ({"isPartial": True}, "some of its storage did not answer"),
        ({"isPartial": False, "warnings": None}, ""),
    ],
)
def test_an_answer_from_a_part_of_the_data_is_known_by_what_thanos_and_victoriametrics_say(
    more: dict[str, Any], partial: str
) -> None:
    with endpoint(lambda _: good([], **more)) as served:
        assert client_of(served).query("x", AT).partial == partial


def test_every_answer_tells_what_the_servers_clock_says() -> None:
    dates: list[int] = []
    with endpoint(lambda _: good([])) as served:
        # The stub writes the date of now.
        Client(RemoteOptions(served.url), dated=dates.append).query("x", AT)
    assert len(dates) == 1
    assert dates[0] % 1000 == 0
