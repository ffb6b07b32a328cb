"""A page of somebody else, in the browser of whoever watches, neither changes nor reads anything."""

import pytest
import requests

from monitor.storage.window import Window
from monitor.web.application import Guarding
from monitor.web.origin import Guard, Refusal
from tests.web.serving import StandIn, serve

LOOPBACK = Guard.of("127.0.0.1", "", ())
EVERYWHERE = Guard.of("0.0.0.0", "", ())
BEHIND_PROXY = Guard.of("127.0.0.1", "https://monitor.example.com/x", ())
NAMED = Guard.of("0.0.0.0", "", ("gpu01.example.com",))
OFF = Guard.of("127.0.0.1", "", ("*",))
FOREIGN = "https://evil.example"


@pytest.mark.parametrize(
    ("guard", "host", "origin", "site", "refused"),
    [
        pytest.param(LOOPBACK, "127.0.0.1:9109", None, None, False, id="curl, amtool, Prometheus"),
        pytest.param(LOOPBACK, "gpu01.example.com:9109", None, None, False, id="by whatever name"),
        pytest.param(LOOPBACK, "127.0.0.1:9109", FOREIGN, "cross-site", True, id="a page of somebody else"),
        pytest.param(LOOPBACK, "127.0.0.1:9109", None, "cross-site", True, id="that hides where it comes from"),
        pytest.param(LOOPBACK, "127.0.0.1:9109", "null", None, True, id="in a sandbox"),
        pytest.param(LOOPBACK, "127.0.0.1:9109", "http://127.0.0.1:3000", "same-site", True, id="of another port"),
        pytest.param(LOOPBACK, "127.0.0.1:9109", "http://[", None, True, id="of nowhere"),
        pytest.param(LOOPBACK, "evil.example:9109", "http://evil.example:9109", "same-origin", True, id="rebound"),
        pytest.param(EVERYWHERE, "evil.example", "http://evil.example", "same-origin", True, id="rebound to a network"),
        pytest.param(LOOPBACK, "127.0.0.1:9109", "http://127.0.0.1:9109", "same-origin", False, id="a page of ours"),
        pytest.param(LOOPBACK, "[::1]:9109", "http://[::1]:9109", None, False, id="a page of ours by IPv6"),
        pytest.param(EVERYWHERE, "monitor.svc", "https://monitor.svc", None, False, id="a page of ours behind TLS"),
        pytest.param(BEHIND_PROXY, "127.0.0.1:9109", "https://monitor.example.com", None, False, id="through a proxy"),
        pytest.param(BEHIND_PROXY, "monitor.example.com", "https://monitor.example.com", None, False, id="that tells"),
        pytest.param(BEHIND_PROXY, "127.0.0.1:9109", "https://monitor.example.com:8443", None, True, id="next door"),
        pytest.param(NAMED, "gpu01.example.com:9109", "http://gpu01.example.com:9109", None, False, id="a name given"),
        pytest.param(OFF, "evil.example", FOREIGN, "cross-site", False, id="switched off"),
    ],
)
@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_what_changes_something_is_refused_to_pages_of_others(
    guard: Guard, method: str, host: str, origin: str | None, site: str | None, *, refused: bool
) -> None:
    assert guard.refusal(method, host, origin, site) == (Refusal.ORIGIN if refused else None)


@pytest.mark.parametrize(
    ("guard", "host", "refused"),
    [
        pytest.param(LOOPBACK, "127.0.0.1:9109", False, id="an address"),
        pytest.param(LOOPBACK, "[::1]:9109", False, id="an address of IPv6"),
        pytest.param(LOOPBACK, "LOCALHOST:9109", False, id="localhost"),
        pytest.param(LOOPBACK, "vllm-monitor:9109", False, id="a name without a dot"),
        pytest.param(LOOPBACK, "vllm-monitor.monitoring.svc.cluster.local:9109", False, id="a service of Kubernetes"),
        pytest.param(LOOPBACK, "vllm-monitor.monitoring.svc:9109", False, id="a short one"),
        pytest.param(LOOPBACK, "host.docker.internal:9109", False, id="a name of Docker"),
        pytest.param(LOOPBACK, "", False, id="none"),
        pytest.param(LOOPBACK, "evil.example:9109", True, id="a name that leads to the loopback"),
        pytest.param(LOOPBACK, "localhost.evil.example:9109", True, id="a name that looks like it"),
        pytest.param(LOOPBACK, "127.0.0.1.evil.example", True, id="a name that looks like an address"),
        pytest.param(EVERYWHERE, "gpu01.example.com:9109", False, id="any name where anybody can read"),
        pytest.param(NAMED, "GPU01.example.com.:9109", False, id="a name given"),
        pytest.param(NAMED, "vllm-monitor:9109", False, id="beside names given, those that are not public"),
        pytest.param(NAMED, "evil.example", True, id="no other where names are given"),
        pytest.param(BEHIND_PROXY, "monitor.example.com", False, id="the name of external_url"),
        pytest.param(OFF, "evil.example", False, id="switched off"),
    ],
)
def test_what_reads_is_refused_by_a_name_that_may_be_anybodys(guard: Guard, host: str, *, refused: bool) -> None:
    assert guard.refusal("GET", host) == (Refusal.HOST if refused else None)


def test_what_is_refused_is_told_so_counted_and_not_done() -> None:
    heard: list[Refusal] = []
    with serve(Window(), StandIn(mistakes="done"), guarding=Guarding(lambda: LOOPBACK, heard.append)) as served:
        reload = requests.post(f"{served.url}/-/reload", headers={"Origin": FOREIGN}, timeout=60)
        read = requests.get(f"{served.url}/api/v1/query", headers={"Host": "evil.example"}, timeout=60)
        assert requests.post(f"{served.url}/-/reload", timeout=60).text == "done\n"
    assert (reload.status_code, read.status_code) == (403, 403)
    assert read.text == '403 forbidden: not known as "evil.example" (see web.external_url and web.allowed_hosts)\n'
    assert heard == [Refusal.ORIGIN, Refusal.HOST]
