"""`vllm-monitor alerts` and `vllm-monitor silence`, against a daemon's API."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from typer.testing import CliRunner, Result

from monitor.cli import cli
from monitor.clock import SystemClock
from monitor.commands.alertmanager import rough
from monitor.model.instant import DAY, HOUR, MINUTE, SECOND
from tests.ports import silent_port
from tests.web.alerting import FakeDaemon, served

CONFIG = """\
route: {receiver: oncall, routes: [{matchers: [team=x], mute_time_intervals: [always]}]}
receivers: [{name: oncall}]
time_intervals: [{name: always, time_intervals: [{}]}]
"""
ALERTS = [
    {"labels": {"alertname": "VLLMTargetDown", "severity": "critical", "job": "vllm", "instance": "a:1"}},
    {"labels": {"alertname": "VLLMOverloaded", "severity": "critical", "job": "vllm", "instance": "a:1"}},
    {
        "labels": {"alertname": "Slow", "severity": "warning", "instance": "b:1", "model_name": "m"},
        "annotations": {"summary": "it is [red]slow[/red]\nand \x1b[31mred"},
    },
    {"labels": {"alertname": "Quiet", "team": "x"}},
]
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Shell:
    """Runs commands against one daemon."""

    def __init__(self, url: str) -> None:
        self.url = url

    def __call__(self, *arguments: str) -> Result:
        return CliRunner().invoke(cli, [*arguments, "--url", self.url])

    def lines(self, *arguments: str) -> list[str]:
        done = self(*arguments)
        assert done.exit_code == 0, done.output
        return [re.sub(" {2,}", "|", line.strip()) for line in done.stdout.splitlines() if line.strip(" ─")]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    (tmp_path / "monitor.yaml").write_text(CONFIG)
    # The commands write silences by the machine's clock.
    daemon = FakeDaemon(tmp_path / "monitor.yaml", SystemClock())
    with served(daemon) as url:
        assert requests.post(f"{url}/api/v2/alerts", json=ALERTS, timeout=60).ok
        yield Shell(url)


def test_alerts_say_what_fires_and_why_nobody_is_told(shell: Shell) -> None:
    shell("silence", "add", "Slow", "--comment", "known")
    assert {tuple(line.split("|")[:2]) for line in shell.lines("alerts")[1:]} == {
        ("firing", "VLLMTargetDown"),
        ("inhibited by VLLMTargetDown", "VLLMOverloaded"),
        ("silenced", "Slow"),
        ("muted by always", "Quiet"),
    }


def test_alerts_are_chosen_by_matchers_and_printed_harmlessly(shell: Shell) -> None:
    (_, line) = shell.lines("alerts", "Slow", "severity=~warn.*")
    assert r"it is [red]slow[/red]\nand \x1b[31mred" in line
    assert shell.lines("alerts", "Slow", "severity=critical") == ["no alerts"]
    (alert,) = json.loads(shell("alerts", "Quiet", "--json").stdout)
    assert alert["status"]["mutedBy"] == ["always"]


def test_a_silence_is_added_listed_and_expired(shell: Shell) -> None:
    added = shell("silence", "add", "instance=~a.*", "--duration", "1h30m", "--comment", "new disk", "--author", "me")
    silence = added.stdout.strip()
    assert ID.fullmatch(silence)
    assert added.stderr == "2 alerts that fire now are silenced\n"
    assert silence in shell.lines("silence", "list")[1]
    assert '|active|instance=~"a.*"|' in shell.lines("silence", "list")[1]
    assert shell.lines("silence", "expire", silence) == []
    assert shell.lines("silence", "list") == ["no silences"]
    (told,) = json.loads(shell("silence", "list", "--expired", "--json").stdout)
    assert (told["id"], told["comment"], told["createdBy"]) == (silence, "new disk", "me")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        pytest.param((), "a silence needs a matcher", id="no-matcher"),
        pytest.param(("Slow", "--comment", " "), "--comment must say why", id="no-comment"),
        pytest.param(("Slow", "--duration", "soon"), "--duration: 'soon' is not a duration", id="no-duration"),
        pytest.param(("Slow", "--duration", "0"), "--duration must be longer than 0", id="no-time"),
        pytest.param(("Slow", "a=~("), "bad regular expression", id="bad-expression"),
        pytest.param(("Slow", "word"), "is not a matcher", id="second-word"),
        pytest.param(("a=~.*",), "at least one matcher must not match the empty string", id="everything"),
        pytest.param(("alertname=~.+",), "it would match every alert", id="everything-that-has-a-name"),
        pytest.param(('alertname!=""',), "it would match every alert", id="everything-that-has-a-name-too"),
    ],
)
def test_a_silence_that_makes_no_sense_is_refused(shell: Shell, arguments: tuple[str, ...], complaint: str) -> None:
    comment = () if "--comment" in arguments else ("--comment", "why")
    refused = shell("silence", "add", *arguments, *comment)
    assert refused.exit_code != 0
    assert complaint in " ".join(re.sub("[│╭╮╰╯─]", " ", refused.stderr).split())
    assert shell.lines("silence", "list") == ["no silences"]


def test_an_unknown_silence_is_told_and_the_others_are_expired(shell: Shell) -> None:
    known = shell("silence", "add", "Slow", "--comment", "why").stdout.strip()
    done = shell("silence", "expire", "c3c9b722-c689-4062-9ceb-f21702460a4f", "nonsense", known)
    assert done.exit_code == 1
    assert "c3c9b722-c689-4062-9ceb-f21702460a4f: it answers 404 NOT FOUND" in done.stderr
    assert "nonsense: silenceID in path must be of type uuid" in done.stderr
    assert shell.lines("silence", "list") == ["no silences"]


def test_a_daemon_that_is_not_there_is_told_in_a_line() -> None:
    with silent_port() as port:
        done = CliRunner().invoke(cli, ["alerts", "--url", f"http://127.0.0.1:{port}"])
    assert done.exit_code == 1
    assert done.stderr == "the daemon does not answer: ConnectionError (is it running, and is --url right?)\n"


@pytest.mark.parametrize(
    ("duration", "said"),
    [
        (42 * SECOND + 1, "42s"),
        (59 * MINUTE + 59 * SECOND, "59m59s"),
        (2 * HOUR + 13 * MINUTE + 5 * SECOND, "2h13m"),
        (3 * DAY + 4 * HOUR + 5 * MINUTE, "3d4h"),
    ],
)
def test_durations_are_rough(duration: int, said: str) -> None:
    assert rough(duration) == said
