"""`vllm-monitor demo`, as a newcomer runs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.slackstub.faults import rate_limited
from tests.slackstub.judge import assert_invariants
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN


def demo(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SLACK_", "VLLM_MONITOR_"))}
    return subprocess.run(
        [str(Path(sys.executable).with_name("vllm-monitor")), "demo", "--seconds", "0", *arguments],
        env=clean | {"COLUMNS": "120"} | environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_the_incident_prints_from_pending_to_resolved_with_what_to_do() -> None:
    done = demo()
    assert (done.returncode, done.stderr) == (0, "")
    order = [
        "pending VLLMRequestsWaiting",
        "firing VLLMOverloaded",
        "CRITICAL: vLLM is overloaded",
        "firing VLLMRequestsWaiting",
        "RESOLVED: vLLM is overloaded",
        "The incident is over.",
    ]
    places = [done.stdout.index(words) for words in order]
    assert places == sorted(places)
    for words in ("requests waiting (limit 10 requests", "since ", "--max-num-seqs", "docs/runbooks/README.md#"):
        assert words in done.stdout


@pytest.mark.parametrize("way", ["webhook", "bot"])
def test_the_same_messages_go_to_slack_instead(way: str) -> None:
    with SlackStub() as slack:
        bot = {"SLACK_BOT_TOKEN": TOKEN, "SLACK_CHANNEL": CHANNEL, "SLACK_BASE_URL": slack.base_url}
        # Slack is busy once: the demo waits and says it all the same.
        slack.fail_next(rate_limited("1"))
        done = demo(**({"SLACK_WEBHOOK_URL": slack.webhook_url} if way == "webhook" else bot))
        assert (done.returncode, done.stderr) == (0, "")
        # A bot edits its message, and what was said before is seen in the requests alone. The first one was refused.
        told = [
            request.payload["text"].splitlines()[0]
            for request in slack.requests[1:]
            if request.name != "chat.update" or "RESOLVED" in request.payload["text"]
            if "text" in request.payload
        ]
        assert {message.via for message in slack.messages} == {"webhook" if way == "webhook" else "chat.postMessage"}
        roots = [message.text.splitlines()[0] for message in slack.messages if not message.thread_ts]
        assert sum("vLLM is overloaded" in line for line in roots) == (1 if way == "bot" else 2)
        # It plays many minutes in seconds, and heeds what Slack says to that.
        assert_invariants(slack, in_real_time=False)
    assert sum("CRITICAL: vLLM is overloaded" in line for line in told) == 1
    assert sum("RESOLVED: vLLM is overloaded" in line for line in told) == 1
    assert "CRITICAL: vLLM" not in done.stdout


def test_an_unknown_scenario_is_named_with_those_there_are() -> None:
    done = demo("--scenario", "overlord")
    assert done.returncode == 1
    assert done.stderr.startswith('no scenario "overlord" (there are ')


def test_a_slack_that_takes_nothing_is_said_and_the_exit_code_tells() -> None:
    with SlackStub() as slack:
        slack.workspace.revoked.add(TOKEN)
        environment = {"SLACK_BOT_TOKEN": TOKEN, "SLACK_CHANNEL": CHANNEL, "SLACK_BASE_URL": slack.base_url}
        done = demo("--scenario", "killed", **environment)
    assert done.returncode == 1
    assert "Slack was not told everything" in done.stderr
    assert TOKEN not in done.stdout + done.stderr
