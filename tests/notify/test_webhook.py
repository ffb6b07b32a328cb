"""The generic webhook: Alertmanager's body, and what each kind of answer means."""

import json
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import requests

from monitor.clock import SystemClock
from monitor.dispatch.dispatcher import Dispatcher, Integration
from monitor.dispatch.notification import Notification, NotifyError, Reason
from monitor.dispatch.route import Route, route_key
from monitor.model.alert import Alert
from monitor.model.instant import HOUR, SECOND, Instant, from_seconds
from monitor.model.labels import Labels
from monitor.notify import failure
from monitor.notify.http import Authorization, HttpOptions, Tls
from monitor.notify.moment import rfc3339
from monitor.notify.secret import Secret
from monitor.notify.transport import LAST_LOOK
from monitor.notify.webhook import Webhook, payload
from tests.dispatch.alertmanager import Webhooks, alertmanager, webhooks
from tests.notify.endpoint import PATH, Endpoint, endpoint
from tests.notify.samples import NOW, ended, note, queue
from tests.scrape.test_tls import make, serving_tls
from tests.scrape.wire import page
from tests.slackstub.faults import Answer, Close, Fault, Hang, Reset, redirect
from tests.waiting import until

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "alertmanager" / "webhook_025.json").read_text())["bodies"]


@pytest.fixture
def served() -> Iterator[Endpoint]:
    with endpoint() as running:
        yield running


def webhook(served: Endpoint, timeout: int = 10 * SECOND, **options: Any) -> Webhook:
    return Webhook(Secret(served.url), options=HttpOptions(timeout=timeout, **options))


def failing(notifier: Webhook) -> NotifyError:
    with pytest.raises(NotifyError) as caught:
        notifier.notify(note(queue()))
    return caught.value


def instant(text: str) -> Instant:
    return from_seconds(datetime.fromisoformat(text).timestamp())


def read_back(body: dict[str, Any]) -> Notification:
    """Return the notification that a recorded body tells; alerts that it left out are like its first."""
    alerts = [
        Alert(
            Labels.of(one["labels"]),
            Labels.of(one["annotations"]),
            instant(one["startsAt"]),
            None if one["status"] == "firing" else instant(one["endsAt"]),
            generator_url=one["generatorURL"],
        )
        for one in body["alerts"]
    ]
    alerts += alerts[:1] * body["truncatedAlerts"]
    group = Labels.of(body["groupLabels"])
    return Notification(body["receiver"], body["groupKey"], group, tuple(alerts), NOW, Reason.FIRST)


@pytest.mark.parametrize("body", RECORDED, ids=lambda body: f"{body['receiver']}-{len(body['alerts'])}")
def test_a_body_is_that_of_alertmanager_0_25_and_the_reason_that_newer_ones_add(body: dict[str, Any]) -> None:
    ours = payload(read_back(body), body["externalURL"], len(body["alerts"]))
    assert ours.pop("notification_reason") == "first notification"
    assert ours == body
    assert list(ours) == list(body)


def test_only_the_first_alerts_are_told_where_the_receiver_wants_no_more() -> None:
    told = note(queue("a:1"), ended(queue("b:1")), queue("c:1"))
    body = payload(told, max_alerts=2)
    assert [one["labels"]["instance"] for one in body["alerts"]] == ["a:1", "b:1"]
    assert body["truncatedAlerts"] == 1
    assert payload(told)["truncatedAlerts"] == 0


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (NOW, "2026-11-30T06:05:05Z"),
        (NOW + 250, "2026-11-30T06:05:05.25Z"),
        (NOW + 7, "2026-11-30T06:05:05.007Z"),
        (0, "1970-01-01T00:00:00Z"),
    ],
)
def test_an_instant_is_written_as_go_writes_it(at: Instant, text: str) -> None:
    assert rfc3339(at) == text


# Second, names that fire, names that are over: one group lives, is repeated and ends.
STORY = ((0.0, "ab", ""), (1.5, "abc", ""), (2.5, "bc", "a"), (5.5, "", "bc"))
END_SECONDS = 6.6
# It is half a second from one thing to the next: on a busy machine two may be told as one.
ATTEMPTS = 3


def alert(name: str, start: Instant, over: float | None = None) -> Alert:
    return Alert(
        Labels.of(alertname="Many", instance=f"{name}:1", odd='<&> "é\\\u2028'),
        Labels.of(summary="s", at=name),
        start,
        None if over is None else start + from_seconds(over),
        generator_url="http://g/x?a=1&b=2",
    )


def real_bodies(folder: Path) -> tuple[list[Any], str, Instant]:
    """Return what the real Alertmanager posts of the story, its own address, and when the story began."""
    with webhooks() as received:
        config = f"""\
route: {{receiver: all, group_by: [alertname], routes: [
  {{matchers: [alertname=Many], group_wait: 1s, group_interval: 1s, repeat_interval: 1500ms}}]}}
receivers: [{{name: all, webhook_configs: [{{url: '{received.url}/all', max_alerts: 2}}]}}]
"""
        with alertmanager(folder, config) as url, requests.Session() as session:
            pause, seconds, start = threading.Event(), 0.0, SystemClock().now()
            for at, firing, over in STORY:
                pause.wait(at - seconds)
                seconds = at
                told = [alert(name, start) for name in firing] + [alert(name, start, at) for name in over]
                bodies = [
                    {
                        "labels": one.labels.as_dict(),
                        "annotations": one.annotations.as_dict(),
                        "generatorURL": one.generator_url,
                        "startsAt": rfc3339(one.starts_at),
                        **({"endsAt": rfc3339(one.ends_at)} if one.ends_at else {}),
                    }
                    for one in told
                ]
                assert session.post(f"{url}/api/v2/alerts", json=bodies, timeout=60).ok
            pause.wait(END_SECONDS - seconds)
        return [body for _, _, body in received.posted], received.posted[0][2]["externalURL"], start


def our_bodies(received: Webhooks, external_url: str, start: Instant) -> list[Any]:
    child = Route("all", ("alertname",), False, SECOND, SECOND, 1_500)
    child = replace(child, key=route_key((), ""))
    dispatcher = Dispatcher(child, {"all": [Integration("all/webhook[0]", send_resolved=True)]})
    notifier = Webhook(Secret(f"{received.url}/all"), external_url=external_url, max_alerts=2)
    waiting = list(STORY)
    for tick in range(start, start + from_seconds(END_SECONDS), 50):
        while waiting and start + from_seconds(waiting[0][0]) <= tick:
            at, firing, over = waiting.pop(0)
            endless = [replace(alert(name, start), ends_at=tick + HOUR) for name in firing]
            dispatcher.insert(endless + [alert(name, start, at) for name in over], tick)
        for delivery in dispatcher.due(tick).deliveries:
            notifier.notify(delivery.notification)
    return [body for _, _, body in received.posted]


def test_what_is_posted_is_what_the_real_alertmanager_posts(tmp_path: Path) -> None:
    for attempt in range(ATTEMPTS):
        (folder := tmp_path / str(attempt)).mkdir()
        theirs, external_url, start = real_bodies(folder)
        with webhooks() as received:
            ours = our_bodies(received, external_url, start)
        for body in theirs:
            # Their route has a parent.
            body["groupKey"] = body["groupKey"].replace('{}/{alertname="Many"}:', "{}:")
        if ours == theirs:
            break
    assert ours == theirs
    assert [body["notification_reason"] for body in theirs] == [
        "first notification",
        "new alerts added",
        "some alerts resolved",
        "repeat interval elapsed",
        "all alerts resolved",
    ]


@pytest.mark.parametrize(
    ("fault", "reason", "retryable", "retry_after"),
    [
        pytest.param(Answer(429, "", {"Retry-After": "7"}), failure.Reason.RATE_LIMITED, True, 7 * SECOND, id="429"),
        pytest.param(Answer(429), failure.Reason.RATE_LIMITED, True, None, id="429 without a word"),
        pytest.param(Answer(503, "", {"Retry-After": "2"}), failure.Reason.AMBIGUOUS, True, 2 * SECOND, id="503"),
        pytest.param(Answer(500, "x" * 3_000_000), failure.Reason.AMBIGUOUS, True, None, id="500 and no end"),
        pytest.param(Answer(408), failure.Reason.AMBIGUOUS, True, None, id="408"),
        pytest.param(Answer(302, "", {"Location": "/"}), failure.Reason.REDIRECT, True, None, id="302"),
        pytest.param(Answer(401), failure.Reason.CREDENTIAL, False, None, id="401"),
        pytest.param(Answer(404), failure.Reason.DESTINATION, False, None, id="404"),
        pytest.param(Answer(410), failure.Reason.DESTINATION, False, None, id="410"),
        pytest.param(Answer(400, "bad"), failure.Reason.MESSAGE, False, None, id="400"),
        pytest.param(Answer(413), failure.Reason.MESSAGE, False, None, id="413"),
        pytest.param(Close(applied=True), failure.Reason.AMBIGUOUS, True, None, id="closed"),
        pytest.param(Reset(applied=True), failure.Reason.AMBIGUOUS, True, None, id="reset"),
    ],
)
def test_what_an_answer_means(
    served: Endpoint, fault: Fault, reason: failure.Reason, retryable: object, retry_after: int | None
) -> None:
    served.faults.append(fault)
    err = failing(webhook(served))
    assert (err.reason, err.retryable, err.retry_after) == (reason, retryable, retry_after)
    assert err.hopeless is (reason is failure.Reason.MESSAGE)
    assert PATH not in f"{err} {err.__cause__} {err.__context__}" + str(served.port)


def test_silence_has_an_end(served: Endpoint) -> None:
    served.faults.append(Hang(applied=True))
    err = failing(webhook(served, timeout=500))
    assert (err.reason, err.retryable, err.doubtful) == (failure.Reason.AMBIGUOUS, True, True)


def test_nobody_at_the_address_was_certainly_not_told(served: Endpoint) -> None:
    address = Secret(served.url.replace(str(served.port), "1"))
    err = failing(Webhook(address))
    assert (err.reason, err.retryable, err.doubtful) == (failure.Reason.UNREACHABLE, True, False)
    assert "notARealSecret" not in str(err)


def test_credentials_do_not_follow_a_redirect(served: Endpoint) -> None:
    with endpoint() as elsewhere:
        served.faults.append(redirect(elsewhere.url))
        failing(webhook(served, authorization=Authorization(Secret("token"))))
        assert elsewhere.requests == []


@pytest.mark.parametrize(
    ("given", "header"),
    [
        (Authorization(Secret("abc")), "Bearer abc"),
        (Authorization(Secret("abc"), scheme="Token"), "Token abc"),
        (Authorization(Secret("pass"), username="me"), "Basic bWU6cGFzcw=="),
    ],
)
def test_who_posts_is_said_in_the_header(served: Endpoint, given: Authorization, header: str) -> None:
    webhook(served, authorization=given).notify(replace(note(queue()), id="id1"))
    (request,) = served.requests
    assert (request.method, request.path) == ("POST", PATH)
    assert request.headers["authorization"] == header
    assert request.headers["content-type"] == "application/json"
    assert request.headers["idempotency-key"] == "id1"
    assert request.json["status"] == "firing"


def test_a_url_in_a_file_is_read_when_it_is_used(served: Endpoint, tmp_path: Path) -> None:
    notifier = Webhook(Secret(file=tmp_path / "url"))
    assert failing(notifier).reason == failure.Reason.CREDENTIAL
    (tmp_path / "url").write_text("not a url")
    assert failing(notifier).reason == failure.Reason.DESTINATION
    (tmp_path / "url").write_text(served.url + "\n")
    notifier.notify(note(queue()))
    until(lambda: served.requests, within=5)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_tls_trusts_whom_it_is_told_to_and_shows_its_own_certificate(tmp_path: Path) -> None:
    certificate, key = make(tmp_path, "own", "IP:127.0.0.1")
    other, other_key = make(tmp_path, "other", "DNS:receiver.example")
    mutual = Tls(certificate, certificate, key)
    with serving_tls(certificate, key, clients=certificate, answer=page(b"")) as served:
        Webhook(Secret(served.url), options=HttpOptions(tls=mutual)).notify(note(queue()))
        assert failing(Webhook(Secret(served.url))).reason == failure.Reason.UNREACHABLE
        gone = failing(Webhook(Secret(served.url), options=HttpOptions(tls=Tls(str(tmp_path / "gone")))))
        assert gone.reason == failure.Reason.CREDENTIAL
    with serving_tls(other, other_key, answer=page(b"")) as served:
        for tls in (Tls(other, server_name="receiver.example"), Tls(insecure_skip_verify=True)):
            Webhook(Secret(served.url), options=HttpOptions(tls=tls)).notify(note(queue()))
        wrong = failing(Webhook(Secret(served.url), options=HttpOptions(tls=Tls(other))))
        assert "certificate is not trusted" in str(wrong)


def test_the_last_look_is_taken_when_a_connection_stands_and_nothing_has_been_sent(served: Endpoint) -> None:
    class RelievedError(Exception):
        """Stands for the end of the process."""

    def look() -> None:
        seen.append(len(served.requests))
        raise RelievedError

    seen: list[int] = []
    LAST_LOOK.set(look)
    try:
        with pytest.raises(RelievedError):
            Webhook(Secret(served.url)).notify(note(queue()))
    finally:
        LAST_LOOK.clear()
    assert (seen, served.requests) == ([0], [])
    Webhook(Secret(served.url)).notify(note(queue()))
    assert len(served.requests) == 1
