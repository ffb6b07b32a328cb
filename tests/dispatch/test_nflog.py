"""Whether a group's state is news to a receiver."""

import pytest

from monitor.dispatch.nflog import Entry, decide
from monitor.dispatch.notification import Reason
from monitor.model.instant import HOUR
from monitor.model.labels import Labels

A, B = Labels.of(alertname="A"), Labels.of(alertname="B")
NOW = 100 * HOUR


def entry(firing: str = "", resolved: str = "", hours_ago: float = 1) -> Entry:
    return Entry(round(NOW - hours_ago * HOUR), alerts(firing), alerts(resolved))


def alerts(letters: str) -> frozenset[Labels]:
    return frozenset({"a": A, "b": B}[letter] for letter in letters)


@pytest.mark.parametrize(
    ("before", "firing", "resolved", "send_resolved", "expected"),
    [
        pytest.param(None, "a", "", True, Reason.FIRST, id="the first that fires"),
        pytest.param(None, "", "a", True, Reason.NOTHING_NEW, id="resolved before anybody heard of it"),
        pytest.param(entry("a"), "a", "", True, Reason.NOTHING_NEW, id="the same again"),
        pytest.param(entry("a"), "ab", "", True, Reason.NEW_ALERTS, id="one more fires"),
        pytest.param(entry("ab"), "a", "b", True, Reason.NEW_RESOLVED, id="one of two resolved"),
        pytest.param(entry("ab"), "a", "b", False, Reason.NOTHING_NEW, id="one of two resolved, not wanted"),
        pytest.param(entry("a", "b"), "a", "b", True, Reason.NOTHING_NEW, id="its resolution is known"),
        pytest.param(entry("a"), "", "a", True, Reason.ALL_RESOLVED, id="all resolved"),
        pytest.param(entry("a"), "", "a", False, Reason.ALL_RESOLVED, id="all resolved counts though not wanted"),
        pytest.param(entry("", "a"), "", "a", True, Reason.NOTHING_NEW, id="all resolved is told once"),
        pytest.param(entry("a", hours_ago=4), "a", "", True, Reason.NOTHING_NEW, id="exactly repeat_interval ago"),
        pytest.param(entry("a", hours_ago=4.01), "a", "", True, Reason.REPEAT, id="longer than repeat_interval ago"),
    ],
)
def test_reasons(before: Entry | None, firing: str, resolved: str, send_resolved: bool, expected: Reason) -> None:  # noqa: FBT001
    reason = decide(
        before, alerts(firing), alerts(resolved), now=NOW, repeat_interval=4 * HOUR, send_resolved=send_resolved
    )
    assert reason is expected
