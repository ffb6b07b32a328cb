"""PagerDuty: what its Events API gets, and what its answers mean."""

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.dispatch.notification import Notification, NotifyError, Reason
from monitor.model.alert import Alert
from monitor.model.instant import SECOND, Instant
from monitor.model.labels import EMPTY, Labels
from monitor.notify import failure
from monitor.notify.pagerduty import PagerDuty, event
from monitor.notify.readings import Readings
from monitor.notify.secret import Secret
from tests.notify.endpoint import Endpoint, endpoint
from tests.notify.pagerdutystub import ROUTING_KEY, PagerDutyStub, problems
from tests.notify.samples import NOW, down, ended, note, queue
from tests.slackstub.faults import Answer, Fault, Reset

KEY = sha256(b"group").hexdigest()


@pytest.fixture
def stub() -> PagerDutyStub:
    return PagerDutyStub()


@pytest.fixture
def served(stub: PagerDutyStub) -> Iterator[Endpoint]:
    with endpoint(stub.answer) as running:
        yield running


def pagerduty(served: Endpoint) -> PagerDuty:
    return PagerDuty(Secret(ROUTING_KEY), url=served.url, external_url="https://monitor.example.com")


def test_a_group_is_one_incident_from_its_first_alert_to_its_end(served: Endpoint, stub: PagerDutyStub) -> None:
    notifier, first = pagerduty(served), queue()
    notifier.notify(note(first))
    notifier.notify(note(first, down()))
    assert list(stub.open) == [KEY]
    assert stub.open[KEY]["payload"]["severity"] == "critical"
    notifier.notify(note(ended(first), ended(down())))
    assert (stub.open, stub.resolved) == ({}, [KEY])


def test_the_event_says_what_a_person_needs(served: Endpoint, stub: PagerDutyStub) -> None:
    pagerduty(served).notify(note(queue(), queue("10.0.0.2:8000", 7.0)))
    told = stub.open[KEY]
    assert told["payload"] == {
        "summary": "WARNING: 2x vLLM's queue has been long for minutes · 42 requests waiting · llama-3-8b",
        "source": "vllm",
        "severity": "warning",
        "timestamp": "2026-11-30T05:55:05Z",
        "class": "VLLMQueueLong",
        "component": "meta/llama-3-8b",
        "group": "vllm",
        "custom_details": {
            "num_firing": "2",
            "num_resolved": "0",
            "receiver": "oncall",
            "VLLMQueueLong": {
                "what": "vLLM's queue has been long for minutes",
                "description": "42 requests wait on 10.0.0.1:8000. Add a replica, or send less.",
                "alerts": [
                    "llama-3-8b @ 10.0.0.1:8000 42 requests waiting (limit 10 requests) since 2026-11-30T05:50:05Z",
                    "llama-3-8b @ 10.0.0.2:8000 7 requests waiting (limit 10 requests) since 2026-11-30T05:50:05Z",
                ],
            },
        },
    }
    assert told["links"] == [{"href": "https://example.com/runbooks#vllmqueuelong", "text": "Runbook: VLLMQueueLong"}]
    assert told["client_url"] == "https://monitor.example.com"


class Known:
    """Knows one engine; see `Facts`."""

    def at(self, labels: Labels, at: Instant) -> Readings:
        del labels, at
        return Readings(running=9.0, waiting=42.0, advice=("--max-num-seqs 8 lets in what fits.",))

    def worst(self, labels: Labels, since: Instant, until: Instant) -> Readings:
        del labels, since, until
        return Readings(running=16.0)


def test_the_numbers_and_what_follows_from_them_are_among_the_details() -> None:
    details = event(note(queue(), down()), {}, facts=Known())["payload"]["custom_details"]
    # Of the worst alert.
    assert details["VLLMTargetDown"]["numbers"] == ["9 running", "42 waiting"]
    assert details["VLLMTargetDown"]["by its numbers"] == ["--max-num-seqs 8 lets in what fits."]
    assert "numbers" not in details["VLLMQueueLong"]
    assert event(note(ended(queue())), {}, facts=Known())["payload"]["custom_details"]["VLLMQueueLong"]["numbers"]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("critical", "critical"),
        ("page", "error"),
        ("error", "error"),
        ("info", "info"),
        ("odd", "warning"),
        ("", "warning"),
    ],
)
def test_severities_are_four_words_and_some_may_be_read_otherwise(label: str, expected: str) -> None:
    told = event(note(queue(severity=label)), {"page": "error"})
    assert told["payload"]["severity"] == expected


@pytest.mark.parametrize(
    ("fault", "reason", "retry_after"),
    [
        pytest.param(Answer(429, "", {"Retry-After": "30"}), failure.Reason.RATE_LIMITED, 30 * SECOND, id="429"),
        pytest.param(Answer(400, "{}"), failure.Reason.MESSAGE, None, id="400"),
        pytest.param(Answer(403), failure.Reason.CREDENTIAL, None, id="403"),
        pytest.param(Answer(200, "<html>"), failure.Reason.AMBIGUOUS, None, id="a page of a proxy"),
        pytest.param(Answer(500), failure.Reason.AMBIGUOUS, None, id="500"),
        pytest.param(Reset(applied=True), failure.Reason.AMBIGUOUS, None, id="reset"),
    ],
)
def test_what_an_answer_means(served: Endpoint, fault: Fault, reason: failure.Reason, retry_after: int | None) -> None:
    served.faults.append(fault)
    with pytest.raises(NotifyError) as caught:
        pagerduty(served).notify(note(queue()))
    assert (caught.value.reason, caught.value.retry_after) == (reason, retry_after)
    assert ROUTING_KEY not in str(caught.value)


def test_a_routing_key_that_is_not_known_is_a_matter_of_credentials(served: Endpoint) -> None:
    with pytest.raises(NotifyError) as caught:
        PagerDuty(Secret("short"), url=served.url).notify(note(queue()))
    assert (caught.value.reason, caught.value.hopeless) == (failure.Reason.CREDENTIAL, False)


def test_a_flood_fits(served: Endpoint, stub: PagerDutyStub) -> None:
    flood = [queue(f"10.0.{number}.1:8000", number, long="x" * 2_000) for number in range(300)]
    kinds = [replace(down(), labels=Labels.of(alertname=f"Kind{number}", x="y" * 3_000)) for number in range(200)]
    pagerduty(served).notify(note(*flood, *kinds))
    assert stub.open[KEY]["payload"]["custom_details"]["VLLMQueueLong"]["alerts"][-1] == "+250 more"


TEXTS = st.text(max_size=40)
LABELS = st.dictionaries(st.sampled_from(["alertname", "instance", "job", "model_name", "severity", "x"]), TEXTS)
NOTES = st.dictionaries(
    st.sampled_from(["summary", "description", "value", "threshold", "runbook_url", "remedy"]),
    TEXTS | st.just("http://a"),
)


@given(st.lists(st.tuples(LABELS, NOTES, st.floats(), st.booleans()), max_size=4))
def test_no_alert_makes_an_event_that_is_refused(
    given: list[tuple[dict[str, str], dict[str, str], float, bool]],
) -> None:
    alerts = tuple(
        Alert(Labels.of(labels), Labels.of(notes), NOW, NOW if over else None, value=value)
        for labels, notes, value, over in given
    )
    told = event(Notification("r", "g", EMPTY, alerts, NOW, Reason.FIRST), {})
    assert problems(told | {"routing_key": ROUTING_KEY}) == []
