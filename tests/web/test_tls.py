"""The HTTP side over TLS: real handshakes, certificates made by the openssl program."""

import os
import resource
import shutil
import socket
import ssl
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests
from flask import Flask

from monitor.clock import SystemClock
from monitor.commands.ask import Way, way_of
from monitor.commands.startlimits import DESCRIPTORS, more_descriptors
from monitor.model.instant import MINUTE
from monitor.storage.window import Window
from monitor.web.access import Access
from monitor.web.application import LARGEST_BODY_BYTES, Guarding
from monitor.web.inner import new_place, sweep
from monitor.web.server import Server
from monitor.web.tls import Renewed, TlsFiles
from tests.scrape.test_tls import make
from tests.waiting import until
from tests.web.serving import serve


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tls")
    make(made, "own", "IP:127.0.0.1")
    make(made, "client", "DNS:client")
    make(made, "stranger", "DNS:stranger")
    return made


def files(folder: Path, *, clients: bool = False) -> TlsFiles:
    verify = ssl.CERT_REQUIRED if clients else ssl.CERT_NONE
    return TlsFiles(folder / "own.crt", folder / "own.key", folder / "client.crt" if clients else None, verify)


def test_whoever_speaks_tls_is_answered_and_nobody_else(folder: Path) -> None:
    with serve(Window(), tls=files(folder)) as served:
        answer = requests.get(f"{served.url}/api/v1/query?query=vector(1)", verify=str(folder / "own.crt"), timeout=60)
        assert answer.json()["data"]["result"][0]["value"][1] == "1"
        with pytest.raises(requests.ConnectionError):
            requests.get(served.url.replace("https", "http") + "/metrics", timeout=60)


def test_many_ask_at_once_and_long_bodies_come_through_whole(folder: Path) -> None:
    with serve(Window(), tls=files(folder)) as served, ThreadPoolExecutor(20) as pool:
        trust = str(folder / "own.crt")

        def ask(number: int) -> str:
            data = {"query": f"vector(1) + {number}", "long": "x" * (LARGEST_BODY_BYTES // 2)}
            answer = requests.post(f"{served.url}/api/v1/query", data=data, verify=trust, timeout=60)
            return str(answer.json()["data"]["result"][0]["value"][1])

        assert list(pool.map(ask, range(40))) == [str(number + 1) for number in range(40)]


def test_connections_that_say_nothing_keep_nobody_out(folder: Path) -> None:
    with serve(Window(), tls=files(folder)) as served:
        port = int(served.url.rpartition(":")[2])
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
        answer = requests.get(f"{served.url}/-/healthy", verify=str(folder / "own.crt"), timeout=60)
        for one in silent:
            one.close()
        assert answer.status_code == 200


def test_descriptors_above_those_that_select_knows_are_served(folder: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))
    more_descriptors()
    try:
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == DESCRIPTORS
        held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1024)]
        with serve(Window(), tls=files(folder)) as secure, serve(Window()) as plain:
            trust = str(folder / "own.crt")
            asked = [requests.get(f"{one.url}/-/healthy", verify=trust, timeout=60) for one in (secure, plain)]
        for one in held:
            os.close(one)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert [answer.status_code for answer in asked] == [200, 200]


def test_connections_take_no_more_than_half_of_the_descriptors(folder: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (600, before[1]))
    try:
        with serve(Window(), tls=files(folder)) as served:
            port = int(served.url.rpartition(":")[2])
            silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(120)]
            until(lambda: sum(map(_is_shut, silent)) >= 20, within=5)
            shut = sum(map(_is_shut, silent))
            for one in silent:
                one.close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert shut == 20


def _is_shut(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False


def test_only_a_certificate_that_is_trusted_comes_in_where_one_is_asked_for(folder: Path, tmp_path: Path) -> None:
    with serve(Window(), tls=files(folder, clients=True)) as served:

        def asked_as(name: str) -> int:
            config = tmp_path / f"{name}.yml"
            shown = f"cert_file: {folder}/{name}.crt, key_file: {folder}/{name}.key, " if name else ""
            config.write_text(f"tls_config: {{{shown}ca_file: {folder}/own.crt}}\n")
            return way_of(config)("GET", f"{served.url}/metrics", timeout=60).status_code

        assert asked_as("client") == 200
        for name in ("", "stranger"):
            with pytest.raises(requests.ConnectionError):
                asked_as(name)


def test_the_daemons_own_children_go_past_tls_but_not_past_the_question_who_they_are(folder: Path) -> None:
    guarding = Guarding(access=lambda: Access({"admin": b"-"}, own="ours"))
    with serve(Window(), guarding=guarding, tls=files(folder, clients=True)) as served:
        assert Path(served.inner).stat().st_mode & 0o777 == 0o600
        assert Path(served.inner).parent.stat().st_mode & 0o777 == 0o700
        assert Way("Bearer ours", inner=served.inner)("GET", "http://daemon/metrics", timeout=60).status_code == 200
        assert Way("Bearer other", inner=served.inner)("GET", "http://daemon/metrics", timeout=60).status_code == 401
    assert not Path(served.inner).parent.exists()


@pytest.mark.parametrize("gone", ["the socket", "its folder"])
def test_a_socket_that_was_cleaned_up_is_made_anew(folder: Path, gone: str, caplog: pytest.LogCaptureFixture) -> None:
    with serve(Window(), tls=files(folder)) as served:
        place, trust = Path(served.inner), str(folder / "own.crt")
        with requests.Session() as kept:
            assert kept.get(f"{served.url}/-/healthy", verify=trust, timeout=60).status_code == 200
            if gone == "its folder":
                # In one step: it may be made anew at any moment.
                place.parent.rename(place.parent.with_suffix(".gone"))
                shutil.rmtree(place.parent.with_suffix(".gone"))
            else:
                place.unlink()
            until(lambda: "it is there again" in caplog.text, within=10)
            # A connection from before, and one of now.
            assert kept.get(f"{served.url}/-/healthy", verify=trust, timeout=60).status_code == 200
        assert requests.get(f"{served.url}/-/healthy", verify=trust, timeout=60).status_code == 200
        assert [path.stat().st_mode & 0o777 for path in (place, place.parent)] == [0o600, 0o700]
    assert not place.parent.exists()


def test_a_folder_that_somebody_else_has_put_there_is_not_used(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with serve(Window(), tls=files(folder)) as served:
        place = Path(served.inner)
        place.parent.chmod(0o755)
        place.unlink()
        until(lambda: "the socket behind TLS is gone" in caplog.text, within=10)
        assert not place.exists()
        place.parent.chmod(0o700)
        until(place.is_socket, within=10)
    assert [one.getMessage() for one in caplog.records if one.levelname == "ERROR"] == ["the socket behind TLS is gone"]


def test_what_a_killed_daemon_left_behind_is_taken_away_and_what_lives_is_not(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In the one of all, others are in the midst of making theirs, and what is swept here is not a minute old.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("swept")))
    with serve(Window(), tls=files(folder)) as served:
        left = new_place()
        with socket.socket(socket.AF_UNIX) as killed:
            killed.bind(str(left))
        now = SystemClock().now()
        sweep(now)
        assert left.parent.exists()
        sweep(now + 2 * MINUTE)
        assert not left.parent.exists()
        assert Path(served.inner).is_socket()


def test_a_renewed_certificate_counts_for_the_next_connection_and_half_a_renewal_for_none(
    folder: Path, tmp_path: Path
) -> None:
    for end in ("crt", "key"):
        shutil.copy(folder / f"own.{end}", tmp_path / f"own.{end}")
    make(tmp_path, "new", "IP:127.0.0.1")
    with serve(Window(), tls=files(tmp_path)) as served:

        def trusts(certificate: Path) -> bool:
            try:
                requests.get(f"{served.url}/-/healthy", verify=str(certificate), timeout=60)
            except requests.exceptions.SSLError:
                return False
            return True

        assert trusts(folder / "own.crt")
        (tmp_path / "new.crt").replace(tmp_path / "own.crt")
        certificate = Path(shutil.copy(tmp_path / "own.crt", tmp_path / "trusted.crt"))
        assert trusts(folder / "own.crt")
        assert not trusts(certificate)
        (tmp_path / "new.key").replace(tmp_path / "own.key")
        assert trusts(certificate)
        assert not trusts(folder / "own.crt")


def test_files_that_become_readable_later_are_taken_then_and_the_trouble_is_told_once(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for end in ("crt", "key"):
        shutil.copy(folder / f"own.{end}", tmp_path / f"own.{end}")
    renewed = Renewed(files(tmp_path))
    old, key = renewed.context(), tmp_path / "own.key"
    content, times = key.read_bytes(), (key.stat().st_atime_ns, key.stat().st_mtime_ns)
    key.write_bytes(b"-" * len(content))
    os.utime(key, ns=times)
    assert [renewed.context() for _ in range(3)] == [old] * 3
    # As after chown and chmod: another time of the inode, and nothing else that is different.
    key.write_bytes(content)
    os.utime(key, ns=times)
    new = renewed.context()
    assert new is not old
    key.unlink()
    assert [renewed.context() for _ in range(3)] == [new] * 3
    assert [one.getMessage() for one in caplog.records] == ["certificate not renewed"] * 2


def test_files_that_are_none_are_refused_at_the_start(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "garbage").write_text("garbage")
    good = files(folder)
    with pytest.raises(OSError, match="No such file"):
        Renewed(TlsFiles(tmp_path / "gone", good.key_file))
    with pytest.raises(ssl.SSLError):
        Renewed(TlsFiles(tmp_path / "garbage", good.key_file))
    with pytest.raises(ssl.SSLError, match="KEY_VALUES_MISMATCH"):
        Renewed(TlsFiles(good.cert_file, folder / "client.key"))


def test_an_address_that_is_taken_leaves_nothing_behind(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Others make folders in the one of all at the same time.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError, match="in use"):
            Server(Flask("x"), "127.0.0.1", taken.getsockname()[1], files(folder))
    assert list(tmp_path.iterdir()) == []
