"""The section `slack`: what it is read as, and what is wrong with it."""

from pathlib import Path

import pytest

from monitor.config.config import Config
from monitor.config.read import load
from monitor.model.instant import MINUTE
from monitor.model.matcher import equal
from monitor.notify.interactive.escalation import Escalation
from monitor.yamldoc.mistake import DocumentError

FILE = """\
scrape_configs: [{job_name: vllm, static_configs: [{targets: ['a:1']}]}]
receivers: [{name: oncall, slack_configs: [{channel: C1, bot_token: xoxb-1}]}, {name: second}]
route: {receiver: oncall}
slack: """


def config(folder: Path, section: str, base: str = FILE) -> Config:
    path = folder / "monitor.yaml"
    path.write_text(f"{base}{section}\n")
    return load(path)


def test_without_a_token_and_a_secret_there_are_no_buttons(tmp_path: Path) -> None:
    slack = config(tmp_path, "{}").slack
    assert (slack.has_buttons, slack.socket_token, slack.signing) == (False, None, None)


def test_a_token_and_a_secret_come_as_they_are_or_from_files(tmp_path: Path) -> None:
    slack = config(tmp_path, "{app_token: xapp-1, signing_secret_file: signing}").slack
    (tmp_path / "signing").write_text("0123\n")
    assert slack.has_buttons
    assert slack.socket_token is not None
    assert slack.signing is not None
    assert (slack.socket_token.get(), slack.signing.get()) == ("xapp-1", "0123")
    assert "xapp" not in repr(slack)


def test_escalation_is_read_whole_and_waits_a_quarter_of_an_hour_unless_told(tmp_path: Path) -> None:
    whole = "{after: 5m, mention: S0ONCALL01, receiver: second, matchers: ['severity=\"critical\"']}"
    escalate = config(tmp_path, f"{{app_token: xapp-1, escalate: {whole}}}").slack.escalate
    assert escalate is not None
    critical = (equal("severity", "critical"),)
    assert escalate.built() == Escalation(5 * MINUTE, "S0ONCALL01", "second", critical)
    short = config(tmp_path, "{app_token: xapp-1, escalate: {mention: here}}").slack.escalate
    assert short is not None
    assert short.built() == Escalation(15 * MINUTE, "here")


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("{app_token: xapp-1, app_token_file: f}", "at most one of app_token, app_token_file can be set"),
        ("{app_token: xoxb-geheim}", "is no app-level token"),
        ("{signing_secret: ''}", "is empty"),
        ("{app_token: xapp-1, allowed_users: ['@alice']}", '"@alice" is not the ID of a user'),
        ("{allowed_users: [U0ALICE001]}", "there are no buttons"),
        ("{escalate: {mention: here}}", "there are no buttons"),
        ("{app_token: xapp-1, escalate: {after: 5m}}", "set mention, receiver or both"),
        ("{app_token: xapp-1, escalate: {mention: everyone}}", '"everyone" is not a user'),
        ("{app_token: xapp-1, escalate: {receiver: secnd}}", 'slack: receiver "secnd" is not defined'),
        ("{app_token: xapp-1, escalate: {after: 0s, mention: here}}", "must be longer than 0"),
        ("{bot_token: xoxb-1}", 'unknown field "bot_token"'),
    ],
)
def test_what_is_wrong_is_told_with_its_place_and_without_a_secret(tmp_path: Path, section: str, expected: str) -> None:
    with pytest.raises(DocumentError, match=expected) as caught:
        config(tmp_path, section)
    (mistake,) = [mistake for mistake in caught.value.mistakes if not mistake.warning]
    assert (mistake.place.line, "slack" in str(mistake)) == (4, True)
    assert "geheim" not in str(mistake)


def test_buttons_that_no_message_can_have_are_warned_of(tmp_path: Path) -> None:
    webhook = FILE.replace("channel: C1, bot_token: xoxb-1", "api_url: http://x")
    (warning,) = config(tmp_path, "{app_token: xapp-1}", webhook).warnings
    assert "no receiver has a bot" in warning.what
