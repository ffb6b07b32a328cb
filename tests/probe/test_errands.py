"""Exposure and the canary."""

import json
from dataclasses import replace

import pytest

from monitor.probe.client import Reply
from monitor.probe.errands import Exposure, OneToken
from monitor.probe.options import ERRANDS, PATHS, CanaryOptions, Probe
from monitor.probe.questions import Round
from monitor.probe.readings import NOTHING, Canary, Model, Readings
from monitor.scrape.errors import Reason
from tests.probe.vllm import FakeVllm, listed

KNOWN = Readings(exposed=(("/v1/models", True), ("/is_sleeping", False)))


def exposure(before: Readings = NOTHING, **replies: Reply | Reason) -> Round:
    vllm = FakeVllm({"/v1/models": Reply(200, listed(llama=1)), "/is_sleeping": Reply(404)})
    vllm.replies.update({"/v1/models" if name == "models" else f"/{name}": reply for name, reply in replies.items()})
    found = Exposure(vllm, PATHS)(ERRANDS, before)
    assert vllm.opened == vllm.closed
    return found


def test_a_server_without_a_key_is_exposed() -> None:
    found = exposure()
    assert found.readings.exposed == (("/v1/models", True), ("/is_sleeping", False))
    assert (found.done, set(found.settled)) == ({Probe.EXPOSURE: None}, {Probe.EXPOSURE})


@pytest.mark.parametrize(
    "reply",
    [
        Reply(401),
        Reply(403),
        Reply(404),
        Reply(302),
        Reply(405),
        pytest.param(Reply(200, b"<form>", "text/html; charset=utf-8"), id="a form to log in"),
    ],
)
def test_who_is_turned_away_has_seen_nothing(reply: Reply) -> None:
    assert exposure(models=reply).readings.exposed[0] == ("/v1/models", False)


def test_development_mode_shows() -> None:
    found = exposure(models=Reply(401), is_sleeping=Reply(200, b'{"is_sleeping":false}', "application/json"))
    assert found.readings.exposed == (("/v1/models", False), ("/is_sleeping", True))


def test_the_page_that_describes_every_path_is_one_that_is_exposed() -> None:
    page = b'<!DOCTYPE html><link rel="stylesheet" href="swagger-ui.css"><div id="swagger-ui"></div>'
    vllm = FakeVllm({"/docs": Reply(200, page, "text/html; charset=utf-8")})
    assert Exposure(vllm, ("/docs", "/redoc"))(ERRANDS, NOTHING).readings.exposed == (
        ("/docs", True),
        ("/redoc", False),
    )


@pytest.mark.parametrize("reply", [Reply(503), Reply(500), Reason.TIMEOUT, Reason.REFUSED, Reason.CONNECTION], ids=str)
def test_no_answer_takes_nothing_back_and_is_asked_for_again(reply: Reply | Reason) -> None:
    found = exposure(KNOWN, models=reply)
    assert found.readings.exposed == KNOWN.exposed
    assert found.done[Probe.EXPOSURE] is (reply if isinstance(reply, Reason) else Reason.STATUS)
    assert found.settled == ()
    assert exposure(NOTHING, models=Reason.REFUSED).readings.exposed == ()


def test_a_server_that_only_this_machine_reaches_is_exposed_to_nobody() -> None:
    vllm = FakeVllm(is_loopback=True)
    found = Exposure(vllm, PATHS)(ERRANDS, KNOWN)
    assert found.readings.exposed == ()
    assert found.done == {Probe.EXPOSURE: None}
    assert len(vllm.asked) == 1


def test_what_is_not_due_is_not_asked() -> None:
    vllm = FakeVllm()
    assert Exposure(vllm, PATHS)((Probe.CANARY,), KNOWN) == Round(KNOWN)
    assert OneToken(vllm, CanaryOptions())((Probe.EXPOSURE,), KNOWN) == Round(KNOWN)
    assert vllm.opened == 0


MODELS = Readings(models=(Model("llama", 8192), Model("alias", 8192)))
TOKEN = Reply(200, b'{"choices":[{"text":" go"}]}')


def sung(reply: Reply | Reason, options: CanaryOptions | None = None) -> tuple[Round, FakeVllm]:
    vllm = FakeVllm({"/v1/completions": reply})
    times = iter((10.0, 10.25))
    found = OneToken(vllm, options or CanaryOptions(), lambda: next(times))(ERRANDS, MODELS)
    assert vllm.opened == vllm.closed == 1
    return found, vllm


def test_the_canary_asks_the_first_model_for_one_token() -> None:
    found, vllm = sung(TOKEN)
    assert found.readings.canary == Canary(success=True, seconds=0.25)
    assert found.done == {Probe.CANARY: None}
    path, _, body = vllm.asked[0].partition(" ")
    assert path == "/v1/completions"
    assert json.loads(body) == {"model": "llama", "prompt": "Hello", "max_tokens": 1, "temperature": 0}


def test_the_canary_asks_the_model_that_is_named() -> None:
    _, vllm = sung(TOKEN, CanaryOptions(model="other"))
    assert '"other"' in vllm.asked[0]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(500), Reason.STATUS),
        (Reply(503), Reason.STATUS),
        (Reply(429), Reason.STATUS),
        (Reply(200, b"{}"), Reason.STATUS),
        (Reply(200, b'{"choices": []}'), Reason.STATUS),
        (Reason.TIMEOUT, Reason.TIMEOUT),
        (Reason.REFUSED, Reason.REFUSED),
    ],
    ids=str,
)
def test_a_canary_that_is_not_answered_has_failed(reply: Reply | Reason, reason: Reason) -> None:
    found, _ = sung(reply)
    assert found.readings.canary == Canary(success=False, seconds=0.25)
    assert found.done == {Probe.CANARY: reason}


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_an_answer_that_blames_the_request_says_nothing_of_the_server(status: int) -> None:
    found, _ = sung(Reply(status))
    assert found.readings.canary is None
    assert found.done == {Probe.CANARY: Reason.STATUS}


def test_without_a_model_nothing_is_asked_yet() -> None:
    vllm = FakeVllm()
    assert OneToken(vllm, CanaryOptions())(ERRANDS, replace(MODELS, models=())).done == {}
    assert vllm.opened == 0
