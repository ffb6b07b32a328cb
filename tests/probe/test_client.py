"""The edge: a real server on loopback, and all that servers do wrong."""

import socket
from pathlib import Path

import pytest

from monitor.clock import monotonic_seconds
from monitor.model.instant import to_seconds
from monitor.probe.client import BODY_LIMIT, Client, Reply, is_loopback_address
from monitor.probe.errors import ProbeError
from monitor.scrape.errors import Reason
from monitor.scrape.options import Authorization, BasicAuth, ScrapeOptions, TlsConfig
from tests.ports import silent_port
from tests.probe.vllm import WELL, paths, routed
from tests.scrape.test_tls import make, serving_tls
from tests.scrape.wire import Answering, Served, head, page, serving

SECRET = "s3cr3t-t0ken"
# So that no stall of a busy machine is taken for a silence, and a silence does not last.
LONG, SHORT = 120_000, 300
SURELY_OVER = 60.0


def asked(url: str, path: str = "/health", *, timeout: int = LONG, options: ScrapeOptions | None = None) -> Reply:
    client = Client(url, options or ScrapeOptions(), timeout)
    try:
        return client.get(path)
    finally:
        client.close()


def failure(url: str, path: str = "/health", *, timeout: int = LONG, options: ScrapeOptions | None = None) -> Reason:
    with pytest.raises(ProbeError) as caught:
        asked(url, path, timeout=timeout, options=options)
    assert SECRET not in str(caught.value)
    return caught.value.reason


def test_an_answer_comes_with_its_status_whatever_it_is() -> None:
    with serving(page(b"gone", status="503 Service Unavailable", content_type="text/plain")) as served:
        assert asked(served.url) == Reply(503, b"gone", "text/plain")


def test_a_round_is_one_connection_and_says_who_asks() -> None:
    with serving(routed(lambda: WELL)) as served:
        client = Client(served.url, ScrapeOptions(), LONG)
        assert [client.get(path) for path in WELL] == [
            reply._replace(content_type="application/json") for reply in WELL.values()
        ]
        client.close()
        assert (served.connections, paths(served)) == (1, list(WELL))
        headers = served.headers()
    assert headers["user-agent"].startswith("vllm-monitor/")
    assert headers["host"] == f"127.0.0.1:{served.port}"
    assert "authorization" not in headers


def test_a_server_that_closes_after_each_answer_is_asked_on() -> None:
    with serving(page(b"{}", headers={"Connection": "close"})) as served:
        client = Client(served.url, ScrapeOptions(), LONG)
        assert [client.get("/health").status for _ in range(2)] == [200, 200]
        client.close()


@pytest.mark.parametrize(
    ("metrics_path", "expected"),
    [("/metrics", "/health"), ("/llm/a/metrics", "/llm/a/health"), ("/stats", "/health"), ("/metrics?x=1", "/health")],
)
def test_what_stands_before_the_page_stands_before_the_other_paths(metrics_path: str, expected: str) -> None:
    with serving(page(b"")) as served:
        asked(served.url.removesuffix("/metrics") + metrics_path)
        assert paths(served) == [expected]


def closing(_: Served, __: socket.socket) -> bool:
    return False


def gibberish(_: Served, connection: socket.socket) -> bool:
    connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
    return False


def cut_short(_: Served, connection: socket.socket) -> bool:
    connection.sendall(head(100) + b"{")
    return False


def endless_head(served: Served, connection: socket.socket) -> bool:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not served.stopping.is_set():
        connection.sendall(b"X-Filler: " + b"x" * 1000 + b"\r\n")
    return False


def dripping_head(served: Served, connection: socket.socket) -> bool:
    served.drip(connection, b"HTTP/1.1 200 OK\r\nX-Filler: " + b"x" * 2_000)
    return False


def dripping_body(served: Served, connection: socket.socket) -> bool:
    connection.sendall(head(2_000))
    served.drip(connection, b" " * 2_000)
    return False


def silent(served: Served, _: socket.socket) -> bool:
    served.stopping.wait(100)
    return False


def a_gigabyte(served: Served, connection: socket.socket) -> bool:
    connection.sendall(head(2**30))
    while not served.stopping.is_set():
        connection.sendall(b" " * 65536)
    return False


def chunks_without_end(served: Served, connection: socket.socket) -> bool:
    connection.sendall(head(None, headers={"Transfer-Encoding": "chunked"}))
    while not served.stopping.is_set():
        connection.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")
    return False


def negative_length(_: Served, connection: socket.socket) -> bool:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n")
    return False


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (closing, Reason.CONNECTION),
        (gibberish, Reason.CONNECTION),
        (cut_short, Reason.CONNECTION),
        (endless_head, Reason.CONNECTION),
        (dripping_head, Reason.TIMEOUT),
        (dripping_body, Reason.TIMEOUT),
        (silent, Reason.TIMEOUT),
        (a_gigabyte, Reason.BODY_TOO_LARGE),
        (chunks_without_end, Reason.BODY_TOO_LARGE),
    ],
)
def test_a_hostile_server_costs_no_more_than_the_timeout(answer: Answering, reason: Reason) -> None:
    with serving(answer) as served:
        began = monotonic_seconds()
        assert failure(served.url, timeout=SHORT if reason is Reason.TIMEOUT else LONG) is reason
        assert monotonic_seconds() - began < SURELY_OVER


def test_a_length_below_zero_is_none() -> None:
    with serving(negative_length) as served:
        assert asked(served.url) == Reply(200)


def test_the_longest_body_that_is_read() -> None:
    with serving(page(b" " * BODY_LIMIT)) as served:
        assert len(asked(served.url).body) == BODY_LIMIT
    with serving(page(b" " * (BODY_LIMIT + 1))) as served:
        assert failure(served.url) is Reason.BODY_TOO_LARGE


def test_all_questions_of_a_round_share_its_time() -> None:
    gone = 0.0
    with serving(routed(lambda: {**WELL, "/load": Reason.TIMEOUT})) as served:
        client = Client(served.url, ScrapeOptions(), LONG, seconds=lambda: monotonic_seconds() + gone)
        assert client.get("/health").status == 200
        # Almost all of it.
        gone = to_seconds(LONG) - 2
        for path in ("/load", "/version"):
            with pytest.raises(ProbeError) as caught:
                client.get(path)
            assert caught.value.reason is Reason.TIMEOUT
        client.close()
        assert paths(served) == ["/health", "/load"]


def test_a_port_that_is_refused_and_a_name_that_is_unknown() -> None:
    with silent_port() as port:
        assert failure(f"http://127.0.0.1:{port}/metrics") is Reason.REFUSED
    assert failure("http://nobody.invalid:8000/metrics", timeout=20_000) is Reason.RESOLVE


def moved(location: str) -> Answering:
    def answer(served: Served, connection: socket.socket) -> bool:
        if paths(served)[-1].endswith("/health"):
            connection.sendall(head(0, status="307 Elsewhere", headers={"Location": location}))
        else:
            connection.sendall(head(4) + b"here")
        return True

    return answer


def test_a_redirect_is_followed_on_the_same_server_only() -> None:
    with serving(moved("/health/")) as served:
        assert asked(served.url).body == b"here"
        assert asked(served.url, options=ScrapeOptions(follow_redirects=False)).status == 307
    with serving(page(b"other")) as other, serving(moved(f"http://127.0.0.1:{other.port}/health")) as served:
        assert asked(served.url).status == 307
        assert other.connections == 0
    with serving(moved("/health")) as served:
        assert asked(served.url).status == 307
        assert len(served.heads) < 10
    with serving(moved("/elsewhere")) as served:
        asked(served.url.removesuffix("/metrics") + "/llm/metrics")
        assert paths(served) == ["/llm/health", "/elsewhere"]


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (ScrapeOptions(authorization=Authorization(credentials=SECRET)), f"Bearer {SECRET}"),
        (ScrapeOptions(basic_auth=BasicAuth("monitor", SECRET)), "Basic bW9uaXRvcjpzM2NyM3QtdDBrZW4="),
    ],
)
def test_the_key_of_the_scrape_is_shown_but_by_somebody_anonymous(options: ScrapeOptions, shown: str) -> None:
    with serving(page(b"{}")) as served:
        asked(served.url, "/v1/models", options=options)
        assert served.headers()["authorization"] == shown
        client = Client(served.url, options, LONG, anonymous=True)
        client.get("/v1/models")
        client.close()
        assert "authorization" not in served.headers()


def test_a_key_file_that_is_missing_is_not_the_servers_fault(tmp_path: Path) -> None:
    options = ScrapeOptions(authorization=Authorization(credentials_file=str(tmp_path / "none")))
    with serving(page(b"{}")) as served:
        assert failure(served.url, options=options) is Reason.CREDENTIALS
        assert served.heads == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])
def test_a_server_on_this_machine_is_known_as_such(host: str) -> None:
    with serving(page(b"{}")) as served:
        client = Client(f"http://{host}:{served.port}/metrics", ScrapeOptions(), LONG)
        client.get("/health")
        assert client.is_loopback
        client.close()


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("10.0.0.11", False),
        ("192.168.1.5", False),
        ("::ffff:10.0.0.11", False),
        ("fe80::1%eth0", False),
        ("nonsense", False),
    ],
)
def test_addresses_of_the_loopback(address: str, expected: bool) -> None:  # noqa: FBT001 - a table
    assert is_loopback_address(address) is expected


def test_tls_is_that_of_the_scrape(tmp_path: Path) -> None:
    file = make(tmp_path, "own", "IP:127.0.0.1")
    own = TlsConfig(ca_file=file[0])
    with_certificate = TlsConfig(ca_file=file[0], cert_file=file[0], key_file=file[1])
    with serving_tls(*file) as served:
        assert asked(served.url, options=ScrapeOptions(tls_config=own)).status == 200
        assert asked(served.url, options=ScrapeOptions(tls_config=TlsConfig(insecure_skip_verify=True))).status == 200
        assert failure(served.url) is Reason.TLS
        missing = TlsConfig(ca_file=str(tmp_path / "none"))
        assert failure(served.url, options=ScrapeOptions(tls_config=missing)) is Reason.TLS
        named = TlsConfig(ca_file=file[0], server_name="vllm.example")
        assert failure(served.url, options=ScrapeOptions(tls_config=named)) is Reason.TLS
    with serving_tls(*file, clients=file[0]) as served:
        options = ScrapeOptions(tls_config=with_certificate)
        assert asked(served.url, options=options).status == 200
        client = Client(served.url, options, LONG, anonymous=True)
        with pytest.raises(ProbeError):
            client.get("/health")
        client.close()


def test_a_certificate_that_is_renewed_counts_at_once(tmp_path: Path) -> None:
    old, new = make(tmp_path, "old", "IP:127.0.0.1"), make(tmp_path, "new", "IP:127.0.0.1")
    trusted = tmp_path / "ca.pem"
    trusted.write_bytes(Path(old[0]).read_bytes())
    options = ScrapeOptions(tls_config=TlsConfig(ca_file=str(trusted)))
    with serving_tls(*new) as served:
        assert failure(served.url, options=options) is Reason.TLS
        trusted.write_bytes(Path(new[0]).read_bytes())
        assert asked(served.url, options=options).status == 200
