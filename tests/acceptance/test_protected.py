"""A daemon that asks for a certificate and a password: every command comes in by one file, and nobody without it."""

from collections.abc import Callable, Iterator
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bcrypt
import pytest
import requests
from typer.testing import CliRunner, Result

from monitor.cli import cli
from tests.acceptance.daemon import PATIENCE, Daemon, daemon
from tests.scrape.test_tls import make
from tests.waiting import until

WEB = """\
tls_server_config:
  {{cert_file: own.crt, key_file: own.key, client_auth_type: RequireAndVerifyClientCert, client_ca_file: me.crt}}
basic_auth_users: {{oncall: "{hashed}"}}
"""
HTTP = """\
basic_auth: {username: oncall, password_file: password}
tls_config: {ca_file: own.crt, cert_file: me.crt, key_file: me.key}
"""
COMMANDS = (
    ("query", "vector(1)"),
    ("alerts",),
    ("silence", "add", "VLLMTargetDown", "--duration", "1h", "--comment", "c", "--author", "a"),
    ("silence", "list"),
    ("outbox", "list"),
    ("report", "--json"),
)


@dataclass
class Protected:
    """The daemon, and the files by which it is asked."""

    daemon: Daemon
    folder: Path

    @property
    def url(self) -> str:
        return self.daemon.url.replace("http:", "https:")

    def run(self, *command: str, shown: bool = True) -> Result:
        """Run a command; what is shown is remembered for a run, so each has a context of its own."""
        given = ["--http.config.file", str(self.folder / "http.yml")] if shown else []
        return copy_context().run(CliRunner().invoke, cli, [*given, *command, "--url", self.url])

    def ask(self, send: Callable[..., requests.Response], path: str, **named: Any) -> requests.Response:
        pair = (str(self.folder / "me.crt"), str(self.folder / "me.key"))
        return send(self.url + path, verify=str(self.folder / "own.crt"), cert=pair, timeout=PATIENCE, **named)


@pytest.fixture(scope="module")
def protected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Protected]:
    folder = tmp_path_factory.mktemp("protected")
    make(folder, "own", "IP:127.0.0.1")
    make(folder, "me", "DNS:me")
    (folder / "password").write_text("pass:word\n")
    (folder / "http.yml").write_text(HTTP)
    (folder / "web.yml").write_text(WEB.format(hashed=bcrypt.hashpw(b"pass:word", bcrypt.gensalt(4)).decode()))
    config = folder / "monitor.yaml"
    config.write_text("web: {listen: 127.0.0.1:0, config_file: web.yml}\nstorage: {path: ./data}\n")
    with daemon(folder, "--config", str(config)) as ours:
        found = Protected(ours, folder)
        until(lambda: found.run("query", "vector(1)").exit_code == 0, within=20)
        yield found


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_comes_in_by_one_file_and_nobody_without_it(protected: Protected, command: list[str]) -> None:
    inside, outside = protected.run(*command), protected.run(*command, shown=False)
    # There is nothing yet that a report could be about; that it has asked.
    assert inside.exit_code == (1 if "nothing is recorded of this time" in inside.output else 0), inside.output
    assert outside.exit_code != 0
    assert "does not answer" in outside.output


def test_whoever_has_a_certificate_and_no_password_learns_whether_it_is_up_and_nothing_else(
    protected: Protected,
) -> None:
    with pytest.raises(requests.ConnectionError):
        requests.get(f"{protected.url}/-/healthy", verify=str(protected.folder / "own.crt"), timeout=PATIENCE)
    paths = ("/-/healthy", "/metrics", "//metrics", "/-/healthy/../../metrics", "/federate?match[]=up", "/nowhere")
    statuses = {path: protected.ask(requests.get, path).status_code for path in paths}
    assert statuses == {path: 200 if path == "/-/healthy" else 401 for path in paths}


def test_a_web_file_that_is_wrong_is_refused_at_a_reload_and_shows_no_password(protected: Protected) -> None:
    path = protected.folder / "web.yml"
    good = path.read_text()
    path.write_text("basic_auth_users: {oncall: pass:word}\n")
    told = protected.ask(requests.post, "/-/reload", auth=("oncall", "pass:word"))
    path.write_text(good)
    assert told.status_code == 400
    assert "is no bcrypt hash" in told.text
    assert "pass:word" not in told.text + protected.daemon.log
    assert protected.run("alerts").exit_code == 0
    assert protected.ask(requests.get, "/metrics").status_code == 401
