"""What was recorded of Alertmanager 0.25: the dispatcher tells the same, to the same receivers, in the same groups."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.config.read import load
from monitor.dispatch.dispatcher import Dispatcher, Integration
from monitor.dispatch.fingerprint import fingerprint
from monitor.dispatch.inhibit import Inhibitor
from monitor.dispatch.matchers import parse_matchers
from monitor.dispatch.muting import Muting
from monitor.dispatch.notification import Notification
from monitor.dispatch.silence import Silence, Silences
from monitor.dispatch.store import AlertStore
from monitor.model.alert import Alert
from monitor.model.instant import HOUR, MINUTE, SECOND, from_seconds, to_seconds
from monitor.model.labels import ALERT_NAME, EMPTY, Labels
from monitor.model.matcher import equal

CAPTURED = json.loads((Path(__file__).parents[1] / "data" / "alertmanager" / "captured_025.json").read_text())
END_SECONDS = 57
# Alertmanager waits for an answer before it looks at the clock, here and there for a second.
LATE_SECONDS = 1.2


def labels(text: str) -> Labels:
    return Labels.of((matcher.name, matcher.value) for matcher in parse_matchers(text))


# What was posted: at which second, the alert, and when it ended.
POSTED = (
    *(
        (0.0, labels(text), None)
        for text in (
            *("alertname=A,i=1", "alertname=A,i=2", "alertname=B,team=both,i=1", "alertname=B,team=both,i=2"),
            "alertname=C,severity=critical,instance=h1",
            *("alertname=W,severity=warning,instance=h1", "alertname=W,severity=warning,instance=h2"),
            *("alertname=Old", "alertname=ValidSibling", "alertname=E"),
        )
    ),
    (3.52, labels("alertname=A,i=3"), None),
    (8.52, labels("alertname=A,i=1"), 8.52),
    (8.53, labels("alertname=B,team=both,i=1"), 8.53),
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[float, Notification]]:
    written = yaml.safe_load(CAPTURED["config"])
    send_resolved = {
        one["name"]: one.get("webhook_configs", [{}])[0].get("send_resolved", True) for one in written["receivers"]
    }
    written["receivers"] = [{"name": name} for name in send_resolved]
    path = tmp_path_factory.mktemp("captured") / "monitor.yaml"
    path.write_text(yaml.safe_dump(written))
    config = load(path)
    store, silences = AlertStore(), Silences()
    muting = Muting(Inhibitor(config.inhibit_rules, store), config.time_intervals, silences)
    receivers = {name: [Integration(name, resolved)] for name, resolved in send_resolved.items()}
    dispatcher = Dispatcher(config.route, receivers, muting.stages, store=store)
    waiting = list(POSTED)
    silences.set(Silence("", (equal("alertname", "A"), equal("i", "3")), from_seconds(8.56), HOUR, "me", ""), 0)
    heard: list[tuple[float, Notification]] = []
    for tick in range(0, END_SECONDS * SECOND, 10):
        while waiting and from_seconds(waiting[0][0]) <= tick:
            _, one, ended = waiting.pop(0)
            starts_at = tick - HOUR if one.value(ALERT_NAME) == "Old" else 0
            ends_at = 5 * MINUTE if ended is None else from_seconds(ended)
            dispatcher.insert([Alert(one, EMPTY, starts_at, ends_at)], tick)
        heard += [(to_seconds(tick), delivery.notification) for delivery in dispatcher.due(tick).deliveries]
    return heard


def captured() -> dict[tuple[str, str], list[dict[str, Any]]]:
    found: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for one in CAPTURED["told"]:
        found[one["receiver"], one["groupKey"]].append(one)
    return found


def states(told: Notification) -> list[tuple[str, list[tuple[str, str]]]]:
    firing = [("firing", list(alert.labels)) for alert in told.firing]
    return sorted(firing + [("resolved", list(alert.labels)) for alert in told.resolved])


@pytest.mark.parametrize("group", captured(), ids=" ".join)
def test_a_group_is_told_as_it_was_recorded(group: tuple[str, str], told: list[tuple[float, Notification]]) -> None:
    ours = [(at, one) for at, one in told if (one.receiver, one.group_key) == group]
    theirs = captured()[group]
    assert [states(one) for _, one in ours] == [
        sorted((alert["status"], sorted(alert["labels"].items())) for alert in one["alerts"]) for one in theirs
    ]
    assert [one["status"] for one in theirs] == ["resolved" if one.is_resolved else "firing" for _, one in ours]
    assert all(0 <= one["second"] - at < LATE_SECONDS for (at, _), one in zip(ours, theirs, strict=True))


def test_nothing_else_is_told(told: list[tuple[float, Notification]]) -> None:
    assert {(one.receiver, one.group_key) for _, one in told} == set(captured())


def test_fingerprints_are_those_that_were_recorded() -> None:
    recorded = [alert for one in CAPTURED["told"] for alert in one["alerts"]] + CAPTURED["alerts"]
    assert {fingerprint(Labels.of(one["labels"])) == one["fingerprint"] for one in recorded} == {True}
