"""The HTTP API beside that of a real Prometheus 3 with the same samples."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from monitor.storage.window import Window
from tests.differential.remote_write import push
from tests.differential.server import Server, prometheus
from tests.engines import engine
from tests.web.requests_table import ALIKE, REFUSED, SAME_KIND, Request
from tests.web.samples import fill, series
from tests.web.serving import Served, serve


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with prometheus(engine("prometheus", "newer"), tmp_path_factory.mktemp("prometheus")) as server:
        push(server.url, series())
        yield server


@pytest.fixture(scope="module")
def ours() -> Iterator[Served]:
    window = Window()
    fill(window, series())
    with serve(window) as served:
        yield served


def named(request: Request) -> str:
    path, parameters = request
    return f"{path}?{'&'.join(f'{name}={value}' for name, value in parameters.items())}"


def answer(base: str, method: str, request: Request) -> tuple[int, str, Any]:
    """Return status, content type, and the JSON (series sorted where Prometheus promises no order) or the text."""
    path, parameters = request
    url = f"{base}/api/v1/{path}"
    if method == "GET":
        reply = requests.get(url, parameters, timeout=60)
    else:
        reply = requests.request(method, url, data=parameters, timeout=60)
    kind = reply.headers["Content-Type"]
    if kind != "application/json":
        return reply.status_code, kind, reply.text
    found = reply.json()
    if isinstance(found.get("data"), dict) and found["data"].get("resultType") == "vector":
        found["data"]["result"].sort(key=json.dumps)
    if path == "series" and "data" in found and "warnings" not in found:
        found["data"].sort(key=json.dumps)
    return reply.status_code, kind, found


@pytest.mark.parametrize("request_", ALIKE, ids=named)
def test_the_answer_is_the_same(request_: Request, ours: Served, theirs: Server) -> None:
    assert answer(ours.url, "GET", request_) == answer(theirs.url, "GET", request_)


@pytest.mark.parametrize(
    "request_",
    [one for one in ALIKE if one[0] in ("query", "query_range", "series", "labels", "format_query", "query_exemplars")],
    ids=named,
)
def test_a_form_asks_as_a_url_does(request_: Request, ours: Served) -> None:
    assert answer(ours.url, "POST", request_) == answer(ours.url, "GET", request_)


@pytest.mark.parametrize("request_", SAME_KIND, ids=named)
def test_the_error_is_of_the_same_kind(request_: Request, ours: Served, theirs: Server) -> None:
    mine, other = answer(ours.url, "GET", request_), answer(theirs.url, "GET", request_)
    assert mine[:2] == other[:2]
    assert [mine[2][key] for key in ("status", "errorType")] == [other[2][key] for key in ("status", "errorType")]
    prefix = 'invalid parameter "'
    assert mine[2]["error"].startswith(prefix) == other[2]["error"].startswith(prefix)


@pytest.mark.parametrize(("method", "path"), REFUSED)
def test_what_there_is_not_is_refused_in_the_same_words(method: str, path: str, ours: Served, theirs: Server) -> None:
    assert answer(ours.url, method, (path, {})) == answer(theirs.url, method, (path, {}))


def test_a_form_comes_before_the_url(ours: Served, theirs: Server) -> None:
    replies = [
        requests.post(
            base + "/api/v1/query", params={"query": "1", "time": "5"}, data={"query": "2"}, timeout=60
        ).json()
        for base in (ours.url, theirs.url)
    ]
    assert (
        replies[0]
        == replies[1]
        == {
            "status": "success",
            "data": {"resultType": "scalar", "result": [5, "2"]},
        }
    )
