"""A round of questions: what each answer, or none, does to what was known."""

from dataclasses import replace

import pytest

from monitor.probe.client import Reply
from monitor.probe.options import ROUND, Probe
from monitor.probe.questions import Questions, Round
from monitor.probe.readings import NOTHING, Health, Model, Readings
from monitor.scrape.errors import Reason
from tests.probe.vllm import FakeVllm

KNOWN = Readings(Health.OK, "0.32.0", (Model("llama", 8192),), 5.0)
BEFORE = Readings(Health.OK, "0.31.0", (Model("old", 1),), 9.0)


_PROBES = dict(zip(("/health", "/load", "/version", "/v1/models"), ROUND, strict=True))


def asked(
    replies: dict[str, Reply | Reason] | None = None, *, before: Readings = BEFORE, due: tuple[Probe, ...] = ROUND
) -> tuple[Round, FakeVllm]:
    """Ask a server that is well but for `replies`."""
    vllm = FakeVllm()
    vllm.replies.update(replies or {})
    return Questions(vllm)(due, before), vllm


def test_everything_is_asked_over_one_connection_health_first() -> None:
    found, vllm = asked()
    assert found.readings == KNOWN
    assert found.done == dict.fromkeys(ROUND)
    assert set(found.settled) == set(ROUND)
    assert vllm.asked == ["/health", "/load", "/version", "/v1/models"]
    assert (vllm.opened, vllm.closed) == (1, 1)


def test_what_is_not_due_is_not_asked_and_stays() -> None:
    found, vllm = asked(due=(Probe.LOAD, Probe.HEALTH))
    assert vllm.asked == ["/health", "/load"]
    assert found.readings == replace(BEFORE, server_load=5.0)


@pytest.mark.parametrize(
    ("reply", "health"),
    [
        (Reply(503), Health.UNAVAILABLE),
        (Reply(500, b"Internal Server Error"), Health.ERROR),
        (Reason.BODY_TOO_LARGE, Health.ERROR),
        (Reply(404), None),
        (Reply(401), None),
    ],
)
def test_whoever_answers_is_asked_on(reply: Reply | Reason, health: Health | None) -> None:
    found, vllm = asked({"/health": reply})
    assert found.readings == replace(KNOWN, health=health)
    assert len(vllm.asked) == len(ROUND)


@pytest.mark.parametrize(
    ("reason", "health"),
    [
        (Reason.TIMEOUT, Health.TIMEOUT),
        (Reason.CONNECTION, Health.ERROR),
        (Reason.RESOLVE, Health.ERROR),
        (Reason.TLS, Health.ERROR),
        (Reason.CREDENTIALS, None),
    ],
)
def test_whoever_does_not_answer_is_asked_no_more_in_this_round(reason: Reason, health: Health | None) -> None:
    found, vllm = asked({"/health": reason})
    assert vllm.asked == ["/health"]
    # What the process is stays known; how busy it was does not.
    assert found.readings == replace(BEFORE, health=health, server_load=None)
    assert found.done == {Probe.HEALTH: reason}
    assert set(found.settled) == {Probe.HEALTH}


def test_a_process_that_is_gone_is_known_no_more() -> None:
    found, _ = asked({"/health": Reason.REFUSED})
    assert found.readings == replace(NOTHING, health=Health.REFUSED)
    found, _ = asked({"/load": Reason.REFUSED}, due=(Probe.LOAD,))
    assert found.readings == replace(NOTHING, health=Health.OK)


@pytest.mark.parametrize(
    ("name", "reply", "expected", "failed"),
    [
        ("/load", Reply(404), replace(KNOWN, server_load=None), None),
        ("/load", Reply(200, b"{}"), replace(KNOWN, server_load=None), Reason.PARSE),
        ("/load", Reply(500), replace(KNOWN, server_load=None), Reason.STATUS),
        ("/version", Reply(404), replace(KNOWN, version=""), None),
        ("/version", Reply(200, b"x"), replace(KNOWN, version=""), Reason.PARSE),
        ("/v1/models", Reply(401), replace(KNOWN, models=()), None),
        ("/v1/models", Reply(403), replace(KNOWN, models=()), None),
        ("/v1/models", Reply(404), replace(KNOWN, models=()), None),
        ("/v1/models", Reply(429), replace(KNOWN, models=()), Reason.STATUS),
        ("/v1/models", Reason.BODY_TOO_LARGE, replace(KNOWN, models=()), Reason.BODY_TOO_LARGE),
        # It was the same process a moment ago, and may be so still.
        ("/v1/models", Reason.TIMEOUT, replace(KNOWN, models=BEFORE.models, server_load=None), Reason.TIMEOUT),
    ],
)
def test_an_answer_that_is_none(name: str, reply: Reply | Reason, expected: Readings, failed: Reason | None) -> None:
    found, _ = asked({name: reply})
    assert found.readings == expected
    assert found.done[_PROBES[name]] is failed


@pytest.mark.parametrize(
    ("name", "reply", "settled"),
    [
        ("/health", Reason.TIMEOUT, True),
        ("/load", Reason.TIMEOUT, True),
        ("/v1/models", Reason.TIMEOUT, False),
        ("/v1/models", Reply(401), True),
        ("/load", Reply(404), False),
        ("/health", Reply(404), False),
        ("/health", Reply(503), True),
        ("/version", Reply(200, b"x"), False),
    ],
)
def test_what_is_asked_again_sooner_or_later(name: str, reply: Reply | Reason, settled: bool) -> None:  # noqa: FBT001 - a table
    found, _ = asked({name: reply})
    assert (_PROBES[name] in found.settled) is settled
