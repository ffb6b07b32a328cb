"""`/-/gate`: 200 where every target holds enough requests at once, 503 with the reason where one does not."""

from collections.abc import Mapping
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.model.target import Target
from monitor.probe.readings import Pool, Readings
from monitor.probe.series import probe_series
from monitor.web.answer import failure
from monitor.web.capacity_gate import gate
from monitor.web.error import ApiError


class Known:
    """A prober of which everything is known."""

    def __init__(self, instance: str, engines: Mapping[str, float | None]) -> None:
        labels = Labels.of({"job": "vllm", "instance": instance})
        self.target = Target("vllm", f"http://{instance}/metrics", labels, Labels.of({}))
        self._readings = Readings(pools=tuple(Pool(engine, 1000, many) for engine, many in engines.items()))

    def samples(self, _at: Instant) -> list[tuple[Labels, float]]:
        return probe_series(self._readings, self.target)


def client(*probers: Known) -> FlaskClient:
    app = Flask("test")
    app.register_blueprint(gate(lambda: probers, lambda: 0))
    app.register_error_handler(ApiError, failure)
    return app.test_client()


def asked(path: str, *probers: Known) -> tuple[int, Any]:
    response = client(*probers).get(path)
    return response.status_code, response.json


def test_one_target_with_enough_passes() -> None:
    status, told = asked("/-/gate", Known("a:8000", {"0": 3.0, "1": 2.5}))
    assert status == 200
    assert told["reason"] == "engine 1 holds 2.50 requests of full length at once, at least 2.5"
    assert told["concurrency"] == {"0": 3.0, "1": 2.5}
    assert told["targets"]["a:8000"]["passes"] is True


@pytest.mark.parametrize(
    ("path", "status", "reason"),
    [
        ("/-/gate", 503, "b:8000: engine 0 holds 2.00 requests of full length at once, less than 2.5"),
        ("/-/gate?min_concurrency=1.5", 503, "c:8000: the server does not say how many requests of full length"),
        ("/-/gate?min_concurrency=2.5&instance=a:8000", 200, "engine 0 holds 3.00 requests"),
        ("/-/gate?instance=c:8000", 503, "the server does not say"),
        ("/-/gate?instance=nobody:1", 503, "no such target is probed"),
    ],
)
def test_the_worst_target_is_named(path: str, status: int, reason: str) -> None:
    probers = Known("a:8000", {"0": 3.0}), Known("b:8000", {"0": 2.0}), Known("c:8000", {})
    found, told = asked(path, *probers)
    assert found == status
    assert told["reason"].startswith(reason)
    assert told["passes"] is (status == 200)


@pytest.mark.parametrize("floor", ["", "many", "0", "-1", "nan", "inf"])
def test_a_floor_that_is_none_is_refused(floor: str) -> None:
    status, told = asked(f"/-/gate?min_concurrency={floor}", Known("a:8000", {"0": 3.0}))
    assert status == 400
    assert told["errorType"] == "bad_data"
