"""A daemon that is killed while Slack has its message: the next life looks, and there is one message."""

import signal
from pathlib import Path

import pytest
import requests

from tests.acceptance.daemon import PATIENCE, Daemon, daemon
from tests.slackstub.faults import Fault, Hang
from tests.slackstub.judge import assert_invariants
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN
from tests.waiting import until

CONFIG = """\
global: {{slack_base_url: "{base_url}", scrape_interval: 1m}}
rule_files: []
route: {{receiver: oncall, group_by: [alertname], group_wait: 50ms, group_interval: 200ms}}
receivers: [{{name: oncall, slack_configs: [{{channel: {channel}, bot_token_file: token}}]}}]
web: {{listen: 127.0.0.1:0}}
"""


def post(to: Daemon) -> None:
    alert = {"labels": {"alertname": "ModelDown", "severity": "critical"}, "annotations": {"summary": "It is down"}}
    assert requests.post(f"{to.url}/api/v2/alerts", json=[alert], timeout=PATIENCE).ok


@pytest.mark.parametrize("fault", [Hang(applied=True), Hang(applied=False)], ids=["carried out", "not carried out"])
def test_killed_between_the_request_and_its_answer_one_message_stands_and_goes_on(tmp_path: Path, fault: Fault) -> None:
    with SlackStub() as slack:
        (tmp_path / "token").write_text(TOKEN)
        config = tmp_path / "monitor.yaml"
        config.write_text(CONFIG.format(base_url=slack.base_url, channel=CHANNEL))
        slack.fail_next(fault, method="chat.postMessage")
        with daemon(tmp_path, "--config", str(config)) as first:
            post(first)
            until(lambda: slack.requests, within=30)
            first.end(signal.SIGKILL)
        with daemon(tmp_path, "--config", str(config)) as again:
            # It is edited when it was found, and posted when it was not.
            until(lambda: len(slack.requests) >= 3 and slack.messages, within=15)
            assert [request.name for request in slack.requests][1] == "conversations.history"
            log = again.log
        assert len([one for one in slack.messages if not one.thread_ts]) == 1
        assert_invariants(slack, logs=log)
