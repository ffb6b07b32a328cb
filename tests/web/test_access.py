"""Who may come in, judged by the Authorization header alone, and over a socket by a real promtool."""

import subprocess
import sys
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bcrypt
import pytest
import requests

from monitor.commands.ask import Way
from monitor.commands.report import asking
from monitor.config.webfile import WebFile, read_web_file
from monitor.entrance import access_of
from monitor.model.instant import MINUTE
from monitor.storage.window import Window
from monitor.web.access import _COMPARING, GUESSING, Access, _Passwords
from monitor.web.application import Guarding
from monitor.web.origin import Refusal
from monitor.yamldoc.mistake import DocumentError
from tests.engines import engine
from tests.waiting import until
from tests.web.serving import NOW, serve

# The least cost there is: the tests ask often.
HASH = bcrypt.hashpw(b"pass:word", bcrypt.gensalt(4))
LONG = bcrypt.hashpw(b"x" * 72, bcrypt.gensalt(4))
USERS = {"admin": HASH, "long": LONG}
API = "/api/v1/query"


def basic(pair: str) -> str:
    return "Basic " + b64encode(pair.encode()).decode()


def told() -> str:
    return "token"


def nothing() -> str:
    raise LookupError("the file is gone")


@pytest.mark.parametrize(
    ("access", "path", "header", "let_in"),
    [
        pytest.param(Access(), API, None, True, id="anybody where nothing is asked for"),
        pytest.param(Access(own="o"), API, None, True, id="a token of our own closes nothing"),
        pytest.param(Access(USERS), API, None, False, id="nobody without a header"),
        pytest.param(Access(USERS), API, basic("admin:pass:word"), True, id="a user, whose password has a colon"),
        pytest.param(Access(USERS), API, basic("admin:pass:word").replace("Basic", "bAsIc"), True, id="any case"),
        pytest.param(Access(USERS), API, basic("admin:password"), False, id="a wrong password"),
        pytest.param(Access(USERS), API, basic("admin:"), False, id="no password"),
        pytest.param(Access(USERS), API, basic("admin:pass:word\0"), False, id="a password with a NUL"),
        pytest.param(Access(USERS), API, basic("root:pass:word"), False, id="a name that is not known"),
        pytest.param(
            Access(USERS), API, basic("long:" + "x" * 80), True, id="no more than 72 bytes of a password count"
        ),
        pytest.param(Access(USERS), API, basic("admin"), False, id="no colon"),
        pytest.param(Access(USERS), API, "Basic %%%", False, id="what is not base64"),
        pytest.param(Access(USERS), API, "Basic " + b64encode(b"\xff:\xff").decode(), False, id="what is not UTF-8"),
        pytest.param(Access(USERS), API, basic("admin:" + "x" * 9000), False, id="a header without measure"),
        pytest.param(Access(USERS), API, "Digest admin", False, id="another scheme"),
        pytest.param(Access(USERS), API, "Bearer ", False, id="no token where there is none"),
        pytest.param(Access(USERS), API, "Bearer token", False, id="a token where only users are known"),
        pytest.param(Access(USERS, own="o"), API, "Bearer o", True, id="a child of the daemon"),
        pytest.param(Access(token=told), API, "Bearer token", True, id="a program"),
        pytest.param(Access(token=told), API, "Bearer Token", False, id="a wrong token"),
        pytest.param(Access(token=told), API, "Bearer tökén", False, id="a token that is not ASCII"),
        pytest.param(Access(token=told), API, basic("admin:pass:word"), False, id="a user where only a token is known"),
        pytest.param(Access(token=nothing), API, "Bearer token", False, id="nobody while the token cannot be read"),
        pytest.param(Access(token=lambda: ""), API, "Bearer ", False, id="nobody by an empty token"),
        pytest.param(Access(USERS, told), API, "Bearer token", True, id="either"),
        pytest.param(Access(USERS), "/-/healthy", None, True, id="whoever asks for health"),
        pytest.param(Access(USERS), "/-/ready", None, True, id="whoever asks whether it is ready"),
        pytest.param(Access(USERS), "/-/reload", None, False, id="not whoever wants a reload"),
        pytest.param(
            Access(USERS), "/-/healthy/../reload", None, False, id="not by a path that begins as one of those"
        ),
        pytest.param(Access(USERS, elsewhere=frozenset(("/s",))), "/s", None, True, id="who is judged elsewhere"),
        pytest.param(Access(USERS, elsewhere=frozenset(("/s",))), "/s/x", None, True, id="and below it"),
        pytest.param(Access(USERS, elsewhere=frozenset(("/s",))), "/sx", None, False, id="not what begins like it"),
    ],
)
def test_who_is_let_in(access: Access, path: str, header: str | None, *, let_in: bool) -> None:
    assert access.lets_in(path, header) is let_in


def test_a_password_that_fitted_is_asked_for_by_its_own_hash_only() -> None:
    access = Access(USERS)
    assert access.lets_in(API, basic("admin:pass:word"))
    assert access.lets_in(API, basic("admin:pass:word"))
    assert not access.lets_in(API, basic("long:pass:word"))
    assert not access.lets_in(API, basic("nobody:pass:word"))


def test_who_is_not_let_in_is_told_how_and_counted() -> None:
    heard: list[Refusal] = []
    with serve(Window(), guarding=Guarding(refused=heard.append, access=lambda: Access(USERS))) as served:
        refused = requests.get(f"{served.url}/metrics", timeout=60)
        assert requests.get(f"{served.url}/metrics", auth=("admin", "pass:word"), timeout=60).status_code == 200
        assert requests.get(f"{served.url}/-/healthy", timeout=60).status_code == 200
    assert (refused.status_code, refused.text) == (401, "401 unauthorized\n")
    assert refused.headers["WWW-Authenticate"] == 'Basic realm="vllm-monitor", charset="UTF-8"'
    assert heard == [Refusal.CREDENTIALS]


def test_guessing_keeps_neither_health_nor_those_waiting_who_were_let_in_before() -> None:
    heard: list[Refusal] = []
    access = Access(USERS)
    guarding = Guarding(refused=heard.append, access=lambda: access)
    with serve(Window(), guarding=guarding) as served, ThreadPoolExecutor(40) as pool:

        def ask(name: str, password: str, path: str = "/metrics") -> int:
            return requests.get(served.url + path, auth=(name, password), timeout=60).status_code

        assert ask("admin", "pass:word") == 200
        # The slow comparison takes as long as it likes: nobody gets beyond it in the meantime.
        with _COMPARING:
            guesses = [pool.submit(ask, "admin", f"guess {number}") for number in range(40)]
            until(lambda: len(heard) == 40 - GUESSING, within=30)
            assert set(heard) == {Refusal.BUSY}
            assert ask("admin", "pass:word") == ask("", "", "/-/healthy") == 200
    assert sorted(guess.result() for guess in guesses) == [401] * GUESSING + [503] * (40 - GUESSING)


def test_a_name_that_is_not_known_takes_as_long_as_some_name_that_is() -> None:
    passwords = _Passwords()
    chosen = {name: passwords.like(name, [HASH, LONG]) for name in map(str, range(50))}
    assert set(chosen.values()) == {HASH, LONG}
    assert chosen == {name: passwords.like(name, [HASH, LONG]) for name in chosen}


COMPARING = """
import threading, time
from monitor.web.access import Access
access = Access({"a": b"$2y$12$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi"})
for number in range(4):
    threading.Thread(target=access.lets_in, args=("/x", "Basic YTpi"), daemon=True).start()
time.sleep(0.1)
"""


def test_a_process_that_ends_while_somebody_guesses_ends_well() -> None:
    done = subprocess.run([sys.executable, "-c", COMPARING], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_no_repr_shows_what_lets_somebody_in() -> None:
    file = WebFile.model_validate({"basic_auth_users": {"admin": HASH.decode()}})
    shown = f"{Access(USERS, own='our own token')} {Way('Bearer our own token')} {file}"
    assert "our own token" not in shown
    assert HASH.decode() not in shown


def test_a_token_that_is_written_anew_counts_at_once(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("first\n")
    access = access_of(WebFile(bearer_token_file=file), "")
    assert access.lets_in(API, "Bearer first")
    file.write_text("the second\n")
    assert not access.lets_in(API, "Bearer first")
    assert access.lets_in(API, "Bearer the second")


def test_promtool_comes_in_with_the_file_that_our_commands_take(tmp_path: Path) -> None:
    file = tmp_path / "http.yml"
    file.write_text('basic_auth: {username: admin, password: "pass:word"}\n')
    ask = [engine("promtool", "newer"), "query", "instant"]
    with serve(Window(), guarding=Guarding(access=lambda: Access(USERS))) as served:
        for shown, code in (([f"--http.config.file={file}"], 0), ([], 1)):
            done = subprocess.run([*ask, *shown, served.url, "vector(1)"], capture_output=True, check=False)
            assert done.returncode == code


WRONG = """\
tls_server_config:
  cert_file: gone.pem
  key_fiel: key.pem
  client_auth_type: RequireAnyClientCert
  cert: inline
basic_auth_users:
  admin: letmein
  "a:b": $2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi
  slow: $2y$31$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi
http_server_config: {http2: false}
bearer_token_file: gone
"""


UNVERIFIED = "RequireAnyClientCert takes any certificate without a look at it: use RequireAndVerifyClientCert"


def test_every_mistake_of_a_web_file_is_told_and_no_password(tmp_path: Path) -> None:
    path = tmp_path / "web.yml"
    path.write_text(WRONG)
    with pytest.raises(DocumentError) as caught:
        read_web_file(path)
    told = str(caught.value).replace(str(tmp_path) + "/", "")
    assert told.splitlines() == [
        'web.yml:2:3: "key_file" must be set',
        'web.yml:3:3: unknown field "key_fiel" (did you mean "key_file"?)',
        "web.yml:4:21: tls_server_config.client_auth_type: " + UNVERIFIED,
        'web.yml:5:3: "cert" is not supported: use cert_file',
        "web.yml:7:10: basic_auth_users.admin: is no bcrypt hash (htpasswd -nBC 10 NAME makes one)",
        'web.yml:8:3: basic_auth_users: "a:b" is no name of a user: it is empty or has a colon',
        "web.yml:9:9: basic_auth_users.slow: a cost of 31 takes too long each time: use 10 to 15",
        'web.yml:10:1: "http_server_config" is not supported yet',
    ]
    assert "letmein" not in told


def test_a_child_comes_in_by_its_own_token() -> None:
    with serve(Window(), guarding=Guarding(access=lambda: Access(USERS, own="ours"))) as served:
        ask = asking(served.url, Way("Bearer ours"))
        assert [one.values for one in ask("vector(1)", NOW - MINUTE, NOW, MINUTE)] == [[1.0, 1.0]]
