"""Servers that only a Prometheus scrapes: they are found, and what they lack makes rules blind all the same."""

import json
from urllib.parse import parse_qs, urlsplit

from monitor.model.instant import MINUTE, Instant
from monitor.remote.client import Client
from monitor.remote.options import RemoteOptions
from monitor.rules.spec import AlertingRule, RuleGroup
from monitor.sight.reason import Reason
from monitor.upstream.served import EVERY, ServedTargets
from monitor.watching import Watch
from tests.notify.endpoint import Received, endpoint
from tests.slackstub.faults import Answer
from tests.vllm.pages import page

RULES = RuleGroup(
    "kv",
    rules=(
        AlertingRule("Full", "vllm:gpu_cache_usage_perc > 0.9"),
        AlertingRule("Waiting", "vllm:num_requests_waiting > 9"),
    ),
)
START: Instant = 1_790_000_000_000


def names_on(version: str) -> list[str]:
    lines = (line for line in page(version).splitlines() if line and not line.startswith("#"))
    return sorted({line.partition("{")[0].partition(" ")[0] for line in lines})


class Prometheus:
    """Has the series of one server, of some version."""

    def __init__(self, version: str, without: frozenset[str] = frozenset()) -> None:
        self.version = version
        self.without = without
        self.asked: list[str] = []
        self.more: dict[str, object] = {}
        self.has_gone = False

    def __call__(self, request: Received) -> Answer:
        target = {"job": "vllm", "instance": "a:8000"}
        url = urlsplit(request.path)
        self.asked.append(url.path.rpartition("/")[2])
        if url.path.endswith("/series"):
            assert parse_qs(url.query)["match[]"] == ['{job="vllm",instance="a:8000"}']
            series = [
                {"__name__": name, "engine": "0", **target}
                for name in names_on(self.version)
                if name not in self.without
            ]
            return Answer(200, json.dumps({"status": "success", "data": series, **self.more}))
        result = [] if self.has_gone else [{"metric": target, "value": [0, "1"]}]
        data = {"resultType": "vector", "result": result}
        return Answer(200, json.dumps({"status": "success", "data": data, **self.more}))


def test_a_rule_that_an_upgrade_blinds_is_seen_by_the_series_that_prometheus_has() -> None:
    theirs = Prometheus("0.8.5")
    with endpoint(theirs) as served:
        found = ServedTargets(Client(RemoteOptions(served.url)))
        watch = Watch((RULES,), (), lambda _target, _at: "")

        def look(at: Instant) -> list[tuple[str, str]]:
            found.look(at)
            watch.follow(found.targets)
            watch.step(at)
            return [(str(one.target), one.rule) for one in watch.sight.findings]

        assert look(START) == []
        theirs.version = "0.20.0"
        # A thousand series are not read at every evaluation.
        assert look(START + MINUTE) == []
        assert look(START + EVERY) == [('{instance="a:8000", job="vllm"}', "Full")]
        assert theirs.asked == ["query", "series", "query", "query", "series"]


def test_a_server_that_has_had_no_request_counts_them_all_the_same() -> None:
    theirs = Prometheus("0.20.0", without=frozenset({"http_requests_total"}))
    requests = RuleGroup("http", rules=(AlertingRule("Errors", 'http_requests_total{status="5xx"} > 5'),))
    with endpoint(theirs) as served:
        found = ServedTargets(Client(RemoteOptions(served.url)))
        watch = Watch((requests,), (), lambda _target, _at: "")
        found.look(START)
        watch.follow(found.targets)
        watch.step(START)
        assert [one.blind.reason for one in watch.sight.findings] == [Reason.NOT_YET]
        # That is no news to anybody.
        assert not watch.sight.unexplained


def test_a_server_that_a_part_of_the_data_lacks_is_not_gone() -> None:
    theirs = Prometheus("0.20.0")
    with endpoint(theirs) as served:
        found = ServedTargets(Client(RemoteOptions(served.url)))
        found.look(START)
        theirs.has_gone, theirs.more = True, {"isPartial": True}
        found.look(START + EVERY)
        assert len(found.targets) == 1
        theirs.more = {}
        found.look(START + 2 * EVERY)
        assert not found.targets
