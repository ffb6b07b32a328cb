"""The edge itself: a real server on loopback, and all that servers do wrong."""

import gzip
import socket
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from monitor.scrape.errors import Reason, ScrapeError
from monitor.scrape.fetch import Fetcher
from monitor.scrape.options import Authorization, BasicAuth, ScrapeOptions
from monitor.scrape.target import Answer
from tests.ports import silent_port
from tests.scrape.wire import TEXT_TYPE, Answering, Served, head, page, serving

PAGE = b"up_and_well 1\n"
PATIENT = ScrapeOptions(scrape_timeout=60_000)
SECRET = "s3cr3t-t0ken"
# For servers that do not come to an end for a minute; a scrape ends long before that, however busy the machine is.
SHORT = ScrapeOptions(scrape_timeout=300)
SURELY_OVER = 30.0


def fetched(url: str, options: ScrapeOptions | None = None) -> Answer:
    fetch = Fetcher(url, options or PATIENT)
    try:
        return fetch()
    finally:
        fetch.close()


def failure(url: str, options: ScrapeOptions | None = None) -> ScrapeError:
    with pytest.raises(ScrapeError) as caught:
        fetched(url, options)
    return caught.value


def test_a_page_comes_with_its_content_type() -> None:
    with serving(page(PAGE)) as served:
        assert fetched(served.url) == (PAGE, TEXT_TYPE)


def test_the_request_says_who_asks_for_what_and_how_long_it_waits() -> None:
    with serving(page(PAGE)) as served:
        fetched(served.url, ScrapeOptions(scrape_timeout=2500))
        headers = served.headers()
    assert headers["x-prometheus-scrape-timeout-seconds"] == "2.5"
    assert headers["accept-encoding"] == "gzip"
    assert headers["accept"].startswith("application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,")
    assert headers["user-agent"].startswith("vllm-monitor/")
    assert "authorization" not in headers


def test_one_connection_serves_many_scrapes() -> None:
    with serving(page(PAGE)) as served:
        fetch = Fetcher(served.url, PATIENT)
        for _ in range(3):
            fetch()
        fetch.close()
        assert (served.connections, len(served.heads)) == (1, 3)


@dataclass
class ClosesWhenIdle:
    """Promises to keep the connection, and closes it with the next request: its idle time has just run out."""

    answered: bool = False

    def __call__(self, _: Served, connection: socket.socket) -> bool:
        self.answered = not self.answered
        if self.answered:
            connection.sendall(head(len(PAGE)) + PAGE)
        return self.answered


def test_a_kept_connection_that_the_server_closes_is_made_anew() -> None:
    with serving(ClosesWhenIdle()) as served:
        fetch = Fetcher(served.url, PATIENT)
        assert [fetch().body for _ in range(2)] == [PAGE] * 2
        fetch.close()
        assert served.connections == 2


def test_a_new_connection_that_the_server_closes_is_a_failure() -> None:
    with serving(lambda *_: False) as served:
        assert failure(served.url).reason is Reason.CONNECTION
        assert served.connections == 1


def drip_header(served: Served, connection: socket.socket) -> bool:
    served.drip(connection, b"HTTP/1.1 200 OK\r\n" + b"X-Padding: x\r\n" * 90)
    return False


def drip_status_line(served: Served, connection: socket.socket) -> bool:
    served.drip(connection, b"HTTP/1.1 200 " + b"O" * 1300)
    return False


def drip_body(served: Served, connection: socket.socket) -> bool:
    connection.sendall(head(1300))
    served.drip(connection, b"x" * 1300)
    return False


def drip_chunks(served: Served, connection: socket.socket) -> bool:
    connection.sendall(head(None, headers={"Transfer-Encoding": "chunked"}))
    served.drip(connection, b"1\r\nx\r\n" * 250)
    return False


def say_nothing(served: Served, _: socket.socket) -> bool:
    served.stopping.wait(120)
    return False


@pytest.mark.parametrize("answer", [say_nothing, drip_status_line, drip_header, drip_body, drip_chunks])
def test_a_slow_server_does_not_outlive_the_deadline(answer: Answering) -> None:
    with serving(answer) as served:
        begun = time.monotonic()
        error = failure(served.url, SHORT)
        took = time.monotonic() - begun
    assert (error.reason, str(error)) == (Reason.TIMEOUT, "no complete answer within 300ms")
    assert took < SURELY_OVER


def test_redirects_share_one_deadline() -> None:
    def again(served: Served, connection: socket.socket) -> bool:
        served.stopping.wait(0.1)
        connection.sendall(head(0, status="302 Found", headers={"Location": "/metrics"}))
        return True

    with serving(again) as served:
        assert failure(served.url, SHORT).reason is Reason.TIMEOUT


def test_a_refused_connection_says_so() -> None:
    with silent_port() as port:
        error = failure(f"http://127.0.0.1:{port}/metrics")
    assert error.reason is Reason.REFUSED
    assert str(error) == f"cannot connect to 127.0.0.1 port {port}: connection refused"


def test_a_name_that_cannot_be_resolved_says_so() -> None:
    assert failure("http://no-such-host.invalid/metrics").reason is Reason.RESOLVE


@pytest.mark.parametrize("url", ["http://", "http://a b/", "ftp://127.0.0.1/", "127.0.0.1:8000", "http://[::1/"])
def test_a_url_that_is_none_says_so(url: str) -> None:
    assert failure(url).reason is Reason.URL


def test_a_status_but_200_is_a_failure_with_the_status() -> None:
    with serving(page(b"", status="503 Service Unavailable")) as served:
        error = failure(served.url)
    assert (error.reason, str(error)) == (Reason.STATUS, "server returned HTTP status 503 Service Unavailable")


def test_half_a_page_is_none() -> None:
    def half(_: Served, connection: socket.socket) -> bool:
        connection.sendall(head(100) + PAGE)
        return False

    with serving(half) as served:
        assert failure(served.url).reason is Reason.CONNECTION


def test_an_answer_that_is_not_http_is_a_failure() -> None:
    def garbage(_: Served, connection: socket.socket) -> bool:
        connection.sendall(b"\x00\x01\x02 how are you\r\n\r\n")
        return False

    with serving(garbage) as served:
        assert failure(served.url).reason is Reason.CONNECTION


def test_gzip_is_unpacked() -> None:
    packed = gzip.compress(PAGE) + gzip.compress(PAGE)
    with serving(page(packed, headers={"Content-Encoding": "gzip"})) as served:
        assert fetched(served.url).body == PAGE * 2


def test_a_bomb_is_not_unpacked() -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    with serving(page(bomb, headers={"Content-Encoding": "gzip"})) as served:
        error = failure(served.url, ScrapeOptions(body_size_limit=1_000_000))
    assert (error.reason, str(error)) == (Reason.BODY_TOO_LARGE, "body exceeds body_size_limit of 1000000 bytes")


def test_a_page_of_fifty_megabytes_is_read_where_that_is_allowed() -> None:
    body = b"# " + b"x" * 50_000_000
    with serving(page(body)) as served:
        assert len(fetched(served.url, ScrapeOptions(scrape_timeout=120_000, body_size_limit=0)).body) == len(body)


# --- credentials and redirects


def redirect(to: str) -> Answering:
    def answer(served: Served, connection: socket.socket) -> bool:
        if served.heads[-1].startswith("GET /metrics "):
            connection.sendall(head(0, status="307 Temporary Redirect", headers={"Location": to}))
        else:
            connection.sendall(head(len(PAGE)) + PAGE)
        return True

    return answer


BEARER = ScrapeOptions(authorization=Authorization(credentials=SECRET))


@pytest.mark.parametrize(
    ("options", "header"),
    [
        (BEARER, f"Bearer {SECRET}"),
        (ScrapeOptions(authorization=Authorization(type="Token", credentials="x")), "Token x"),
        (ScrapeOptions(basic_auth=BasicAuth("ada", "löve")), "Basic YWRhOmzDtnZl"),
    ],
)
def test_credentials_are_shown(options: ScrapeOptions, header: str) -> None:
    with serving(page(PAGE)) as served:
        fetched(served.url, options)
        assert served.headers()["authorization"] == header


def test_a_rotated_secret_counts_at_the_next_scrape(tmp_path: Path) -> None:
    secret = tmp_path / "token"
    with serving(page(PAGE)) as served:
        fetch = Fetcher(served.url, ScrapeOptions(authorization=Authorization(credentials_file=str(secret))))
        for value in ("first", "second"):
            secret.write_text(f"{value}\n")
            fetch()
            assert served.headers()["authorization"] == f"Bearer {value}"
        fetch.close()


@pytest.mark.parametrize(
    "authorization",
    [
        Authorization(credentials_file="/no/such/file"),
        Authorization(credentials=f"{SECRET}\r\nX-Injected: 1"),
        Authorization(credentials=f"{SECRET}…"),
    ],
)
def test_credentials_that_cannot_be_used_fail_without_showing_them(authorization: Authorization) -> None:
    with serving(page(PAGE)) as served:
        error = failure(served.url, ScrapeOptions(authorization=authorization))
        assert served.heads == []
    assert error.reason is Reason.CREDENTIALS
    assert SECRET not in str(error)


def test_options_do_not_show_secrets() -> None:
    shown = repr(ScrapeOptions(authorization=Authorization(credentials=SECRET), basic_auth=BasicAuth("u", SECRET)))
    assert SECRET not in shown


def test_a_redirect_within_the_target_is_followed_with_credentials() -> None:
    with serving(redirect("/metrics/")) as served:
        assert fetched(served.url, BEARER).body == PAGE
        assert served.headers()["authorization"] == f"Bearer {SECRET}"


def test_a_redirect_elsewhere_is_refused_with_credentials() -> None:
    with serving(page(PAGE)) as other, serving(redirect(f"http://localhost:{other.port}/x?{SECRET}")) as served:
        error = failure(served.url, BEARER)
        assert other.heads == []
    assert error.reason is Reason.REDIRECT
    assert str(error) == "redirect to http://localhost refused: credentials are only for the target"


def test_another_port_is_elsewhere() -> None:
    with serving(page(PAGE)) as other, serving(redirect(f"http://127.0.0.1:{other.port}/x")) as served:
        assert failure(served.url, BEARER).reason is Reason.REDIRECT


def test_a_redirect_elsewhere_is_followed_without_credentials() -> None:
    with serving(page(PAGE)) as other, serving(redirect(f"http://localhost:{other.port}/x")) as served:
        assert fetched(served.url).body == PAGE


def test_redirects_are_not_followed_when_told_so() -> None:
    with serving(redirect("/elsewhere")) as served:
        error = failure(served.url, ScrapeOptions(follow_redirects=False))
    assert (error.reason, str(error)) == (Reason.STATUS, "server returned HTTP status 307 Temporary Redirect")


def test_redirects_in_a_circle_come_to_an_end() -> None:
    with serving(redirect("/metrics")) as served:
        assert failure(served.url, ScrapeOptions()).reason is Reason.REDIRECT


def test_a_redirect_to_a_file_is_refused() -> None:
    with serving(redirect("file:///etc/passwd")) as served:
        assert failure(served.url).reason is Reason.REDIRECT


@pytest.mark.parametrize("answer", [page(b"", status="500 Oops"), drip_body, lambda *_: False])
def test_no_message_shows_the_url(answer: Answering) -> None:
    with serving(answer) as served:
        error = failure(served.url.replace("//", f"//user:{SECRET}@") + f"?key={SECRET}", SHORT)
    assert SECRET not in str(error)


def test_a_proxy_of_the_environment_is_used_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(page(b"proxied 1\n")) as proxy, serving(page(PAGE)) as served:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert fetched(served.url).body == PAGE
        assert fetched(served.url, ScrapeOptions(proxy_from_environment=True)).body == b"proxied 1\n"


def test_a_cookie_is_not_kept() -> None:
    with serving(page(PAGE, headers={"Set-Cookie": "a=b"})) as served:
        fetch = Fetcher(served.url, PATIENT)
        fetch()
        fetch()
        fetch.close()
        assert "cookie" not in served.headers()


def test_no_error_of_requests_travels() -> None:
    assert not issubclass(ScrapeError, requests.RequestException | OSError)
