"""TLS: with a certificate authority of our own, made by the openssl program."""

import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from monitor.scrape.errors import Reason, ScrapeError
from monitor.scrape.fetch import Fetcher
from monitor.scrape.options import ScrapeOptions, TlsConfig
from tests.scrape.wire import Answering, Served, head, page, serving

PAGE = b"encrypted 1\n"


@dataclass(frozen=True)
class Keys:
    """One self-signed certificate, for the server, for the client and as the authority; another of a made-up name."""

    certificate: str
    key: str
    other_certificate: str
    other_key: str


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl program (apt-get install openssl)")
    folder = tmp_path_factory.mktemp("tls")
    return Keys(*make(folder, "own", "IP:127.0.0.1"), *make(folder, "other", "DNS:vllm.example"))


def make(folder: Path, name: str, subject: str) -> tuple[str, str]:
    certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
    ask = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    what = [
        "-subj",
        f"/CN={name}",
        "-addext",
        f"subjectAltName={subject}",
        "-keyout",
        str(key),
        "-out",
        str(certificate),
    ]
    subprocess.run([*ask, *what], check=True, capture_output=True)
    return str(certificate), str(key)


@contextmanager
def serving_tls(certificate: str, key: str, *, clients: str = "", answer: Answering | None = None) -> Iterator[Served]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    if clients:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients)
    with serving(answer or page(PAGE), tls=context) as served:
        yield served


def fetched(served: Served, tls: TlsConfig, *, timeout: int = 60_000) -> bytes:
    fetch = Fetcher(served.url, ScrapeOptions(scrape_timeout=timeout, tls_config=tls))
    try:
        return fetch().body
    finally:
        fetch.close()


def refused(served: Served, tls: TlsConfig) -> ScrapeError:
    with pytest.raises(ScrapeError) as caught:
        fetched(served, tls)
    return caught.value


def test_a_certificate_of_the_given_authority_is_trusted(keys: Keys) -> None:
    with serving_tls(keys.certificate, keys.key) as served:
        assert fetched(served, TlsConfig(ca_file=keys.certificate)) == PAGE


def test_a_redirect_to_tls_is_followed_with_the_same_trust(keys: Keys) -> None:
    with serving_tls(keys.certificate, keys.key) as encrypted:

        def redirect(_: Served, connection: socket.socket) -> bool:
            connection.sendall(head(0, status="302 Found", headers={"Location": encrypted.url}))
            return True

        with serving(redirect) as plain:
            assert fetched(plain, TlsConfig(ca_file=keys.certificate)) == PAGE
            assert refused(plain, TlsConfig()).reason is Reason.TLS


def test_an_unknown_certificate_is_refused_with_the_reason(keys: Keys) -> None:
    with serving_tls(keys.certificate, keys.key) as served:
        error = refused(served, TlsConfig())
    assert error.reason is Reason.TLS
    assert "self-signed certificate" in str(error)


def test_an_unknown_certificate_passes_where_the_user_says_so(keys: Keys) -> None:
    with serving_tls(keys.certificate, keys.key) as served:
        assert fetched(served, TlsConfig(insecure_skip_verify=True)) == PAGE


def test_a_certificate_of_another_name_needs_server_name(keys: Keys) -> None:
    with serving_tls(keys.other_certificate, keys.other_key) as served:
        assert refused(served, TlsConfig(ca_file=keys.other_certificate)).reason is Reason.TLS
        assert fetched(served, TlsConfig(ca_file=keys.other_certificate, server_name="vllm.example")) == PAGE


def test_a_client_certificate_is_shown(keys: Keys) -> None:
    with serving_tls(keys.certificate, keys.key, clients=keys.other_certificate) as served:
        shown = TlsConfig(ca_file=keys.certificate, cert_file=keys.other_certificate, key_file=keys.other_key)
        assert fetched(served, shown) == PAGE
        assert refused(served, TlsConfig(ca_file=keys.certificate)).reason in (Reason.TLS, Reason.CONNECTION)


NONE = "/no/such.pem"


@pytest.mark.parametrize("tls", [TlsConfig(ca_file=NONE), TlsConfig(cert_file=NONE), TlsConfig(key_file=NONE)])
def test_a_file_that_is_not_there_is_named(keys: Keys, tls: TlsConfig) -> None:
    with serving_tls(keys.certificate, keys.key) as served:
        error = refused(served, tls)
    assert (error.reason, str(error)) == (Reason.TLS, "TLS: cannot read /no/such.pem")


def test_a_file_without_a_certificate_is_refused(keys: Keys, tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    with serving_tls(keys.certificate, keys.key) as served:
        assert refused(served, TlsConfig(ca_file=str(empty))).reason is Reason.TLS


def test_a_slow_server_does_not_outlive_the_deadline_behind_tls_either(keys: Keys) -> None:
    def drip(served: Served, connection: socket.socket) -> bool:
        served.drip(connection, b"HTTP/1.1 200 OK\r\nContent-Length: 1300\r\n\r\n" + b"x" * 1300)
        return False

    with serving_tls(keys.certificate, keys.key, answer=drip) as served, pytest.raises(ScrapeError) as caught:
        fetched(served, TlsConfig(ca_file=keys.certificate), timeout=400)
    assert caught.value.reason is Reason.TIMEOUT


def test_a_handshake_that_never_comes_does_not_outlive_the_deadline() -> None:
    # The server waits for a request in plain text that never ends.
    with serving(lambda *_: True, scheme="https") as served, pytest.raises(ScrapeError) as caught:
        fetched(served, TlsConfig(), timeout=300)
    assert caught.value.reason is Reason.TIMEOUT
