"""The same requests to the real Alertmanager and to ours: the same codes, the same words, the same shapes."""

import re
import threading
from typing import Any, NamedTuple

import pytest
import requests

from monitor.clock import SystemClock
from tests.dispatch.alertmanager import alertmanager
from tests.web.alerting import FakeDaemon, served

CONFIG = """\
route: {receiver: nobody, group_by: [alertname], routes: [{matchers: [team="x"], receiver: x, continue: true}]}
inhibit_rules: [{source_matchers: [severity="critical"], target_matchers: [severity="warning"]}]
receivers: [{name: nobody}, {name: x}]
"""
UNKNOWN = "c3c9b722-c689-4062-9ceb-f21702460a4f"
SPAN = '"startsAt":"2026-01-01T00:00:00Z","endsAt":"2099-01-01T00:00:00Z"'
BY = '"createdBy":"me","comment":"why"'
ALERTS = """[
    {"labels":{"alertname":"Down","severity":"critical","team":"x","empty":""},"startsAt":"2026-01-01T00:00:00Z",
     "annotations":{"summary":"s","empty":""},"generatorURL":"http://g/x"},
    {"labels":{"alertname":"Slow","severity":"warning"},"startsAt":"2026-01-01T00:00:00Z","endsAt":"2099-01-01T00:00:00Z"},
    {"labels":{"alertname":"Slow","i":"2"},"startsAt":"2026-01-01T00:00:00.123456789Z","endsAt":"2099-01-01T00:00:00Z"},
    {"labels":{"alertname":"Over"},"startsAt":"2026-01-01T00:00:00Z","endsAt":"2026-01-02T00:00:00Z"}
]"""


class Ask(NamedTuple):
    path: str
    body: str | None = None
    method: str = ""
    content_type: str = "application/json"


def silence(matchers: str, rest: str = f"{SPAN},{BY}") -> Ask:
    return Ask("silences", f'{{"matchers":[{matchers}],{rest}}}')


def matcher(value: str, *, is_regex: bool = False, name: str = "a", more: str = "") -> str:
    return f'{{"name":"{name}","value":"{value}","isRegex":{str(is_regex).lower()}{more}}}'


# In this order, on both: what was posted before is there.
ASKED = (
    Ask("alerts", "[]"),
    Ask("alerts", "{}"),
    Ask("alerts", "["),
    Ask("alerts", ""),
    Ask("alerts", "[]", content_type="text/plain"),
    Ask("alerts", "[{}]"),
    Ask("alerts", '[{"labels":{}}]'),
    Ask("alerts", '[{"labels":{"a":""}}]'),
    Ask("alerts", '[{"labels":{"a":1}}]'),
    Ask("alerts", '[{"labels":{"a":"1"},"startsAt":"nope"}]'),
    Ask("alerts", '[{"labels":{"a":"1"},"annotations":{"":"x"}}]'),
    Ask("alerts"),
    Ask("alerts/groups"),
    Ask("silences"),
    Ask(
        "alerts",
        '[{"labels":{"a":"1"},"startsAt":"2030-01-01T00:00:00Z","endsAt":"2029-01-01T00:00:00Z"},'
        '{"labels":{"":"1"}},{"labels":{"ok":"1"},"endsAt":"2099-01-01T00:00:00Z"}]',
    ),
    Ask("alerts"),
    Ask("alerts", ALERTS),
    Ask("alerts"),
    Ask("alerts/groups"),
    Ask("alerts?filter=alertname=Slow"),
    Ask('alerts?filter=alertname=~"S.*"&filter=i=""'),
    Ask("alerts?filter=foo"),
    Ask("alerts/groups?filter=a b"),
    Ask("alerts?receiver=x"),
    Ask("alerts?receiver=no.*"),
    Ask("alerts/groups?receiver=x"),
    Ask("alerts?inhibited=false"),
    Ask("alerts?active=false"),
    Ask("alerts?active=maybe"),
    Ask("alerts?unprocessed=false"),
    silence(""),
    silence(matcher("")),
    silence(matcher(".*", is_regex=True)),
    silence(matcher("b", name="")),
    silence('{"name":"a","value":"b"}'),
    silence(matcher("b"), SPAN),
    Ask("silences", "{}"),
    Ask("silences", "[]"),
    Ask("silences", ""),
    silence(matcher("b"), f'"startsAt":"2026-01-01T00:00:00Z","endsAt":"2026-01-02T00:00:00Z",{BY}'),
    silence(matcher("b"), f'"startsAt":"2099-01-01T00:00:00Z","endsAt":"2026-01-02T00:00:00Z",{BY}'),
    silence(matcher("b"), f'"id":"{UNKNOWN}",{SPAN},{BY}'),
    silence(matcher("b"), f'"id":"nope",{SPAN},{BY}'),
    silence(
        matcher("b") + "," + matcher("d", name="c", more=',"isEqual":false'), f'{SPAN},"createdBy":"","comment":""'
    ),
    silence(
        matcher("Slow", name="alertname"), f'"startsAt":"2026-01-01T00:00:00Z","endsAt":"2098-01-01T00:00:00Z",{BY}'
    ),
    silence(matcher("b|c", is_regex=True), f'"startsAt":"2098-01-01T00:00:00Z","endsAt":"2099-01-02T00:00:00Z",{BY}'),
    Ask("silences"),
    Ask("silences?filter=a=b"),
    Ask("silences?filter=a=~b"),
    Ask("silences?filter=foo"),
    Ask("alerts"),
    Ask("alerts?silenced=false"),
    Ask("alerts/groups?silenced=false"),
    Ask("silence/xx"),
    Ask("silence/xx", method="DELETE"),
    Ask(f"silence/{UNKNOWN}"),
    Ask(f"silence/{UNKNOWN}", method="DELETE"),
    Ask("receivers"),
)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, Any]]:
    """Ask both everything, in order."""
    path = tmp_path_factory.mktemp("ours") / "monitor.yaml"
    path.write_text(CONFIG)
    daemon = FakeDaemon(path, SystemClock())
    with alertmanager(tmp_path_factory.mktemp("am"), CONFIG) as theirs, served(daemon) as ours:
        return [both(theirs, ours, asked) for asked in ASKED]


def both(theirs: str, ours: str, asked: Ask) -> tuple[Any, Any]:
    """
    Return both answers.

    Alertmanager sorts alerts into groups, and has them inhibit others, behind the back of who posts: it gets a while.
    """
    expected = answer(ours, asked)
    for pause in (0.05, 0.2, 0.5, 2, 5, 10) if asked.path.startswith("alerts") and asked.body is None else ():
        if answer(theirs, asked) == expected:
            break
        threading.Event().wait(pause)
    return answer(theirs, asked), expected


def answer(url: str, asked: Ask) -> tuple[int, str, Any]:
    method = asked.method or ("GET" if asked.body is None else "POST")
    headers = {} if asked.body is None else {"Content-Type": asked.content_type}
    got = requests.request(method, f"{url}/api/v2/{asked.path}", data=asked.body, headers=headers, timeout=60)
    body = got.json() if got.content else ""
    return got.status_code, got.headers.get("Content-Type", "") if got.content else "", comparable(body)


def comparable(body: Any, key: str = "") -> Any:
    """Return the body without what differs from run to run, and without words of Go's parsers."""
    if isinstance(body, list):
        items = [comparable(item, key) for item in body]
        # Within a group Alertmanager has no order.
        return sorted(items, key=lambda item: str(item["fingerprint"])) if key == "alerts" else items
    if isinstance(body, dict):
        # Labels of receivers are new in 0.33, and no secret is in ours.
        return {key: comparable(value, key) for key, value in body.items() if key != "labels" or "name" not in value}
    if key in ("id", "silenceID", "silencedBy"):
        return "an id"
    text = re.sub(r"(matcher set 0: | in set 0|(?<=because ).*)", "", str(body))
    # Now, more or less: when it was heard of, or the end that nobody gave.
    return re.sub(r"20(?!26-01|9)\d\d-.*Z", "about now", text)


@pytest.mark.parametrize("number", range(len(ASKED)), ids=[f"{one.path} {one.body or ''}"[:90] for one in ASKED])
def test_ours_answers_as_alertmanager_does(number: int, answers: list[tuple[Any, Any]]) -> None:
    theirs, ours = answers[number]
    assert ours == theirs
