"""A Slack that takes every connection and answers none: the rules do not notice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.clock import VirtualClock, monotonic_seconds
from monitor.config.read import load
from monitor.model.instant import MINUTE, SECOND
from tests.acceptance.daemon import daemon
from tests.acceptance.in_a_row import InARow
from tests.acceptance.stage import Stage
from tests.slackstub.faults import Hang
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN
from tests.waiting import until

START = 1_796_018_700_000
# One alert that is new at every turn, so that there is always something to tell.
RULES = """\
groups:
  - name: g
    interval: {interval}
    rules:
      - alert: Always
        expr: 'count_values("turn", vector(time()))'
        labels: {{severity: critical}}
"""
CONFIG = """\
global: {{slack_base_url: "{base_url}", scrape_interval: 5s, evaluation_interval: {interval}}}
rule_files: [own.rules.yaml]
route: {{receiver: oncall, group_by: [turn], group_wait: 0s, group_interval: 1s}}
receivers: [{{name: oncall, slack_configs: [{{channel: {channel}, bot_token_file: token, graphs: false}}]}}]
web: {{listen: 127.0.0.1:0}}
"""
# Who waited for Slack would wait for ten seconds, at each turn.
MOST_SECONDS = 2.0
# So many turns may be long, because the machine gave the processor to somebody else.
UNLUCKY = 3


@pytest.fixture
def slack() -> Iterator[SlackStub]:
    with SlackStub() as stub:
        stub.fail_next(*[Hang(applied=False)] * 1_000)
        yield stub


def write(folder: Path, slack: SlackStub, interval: str) -> Path:
    (folder / "token").write_text(TOKEN)
    (folder / "own.rules.yaml").write_text(RULES.format(interval=interval))
    path = folder / "monitor.yaml"
    path.write_text(CONFIG.format(base_url=slack.base_url, channel=CHANNEL, interval=interval))
    return path


def test_ten_minutes_of_silence_delay_no_evaluation(tmp_path: Path, slack: SlackStub) -> None:
    """On a clock that is moved by hand; the connection hangs all the while."""
    stage = Stage(load(write(tmp_path, slack, "5s")), VirtualClock(START))
    stage.pipeline.outbox.start(stage.clock.now)
    took: list[float] = []
    for slot in range(START, START + 10 * MINUTE + 1, 5 * SECOND):
        stage.clock.at = slot
        began = monotonic_seconds()
        stage.pipeline.evaluate(slot)
        took.append(monotonic_seconds() - began)
        if slot == START:
            until(lambda: slack.requests, within=5)
    assert len(took) == 121
    assert sorted(took)[-1 - UNLUCKY] < MOST_SECONDS
    assert sum(stage.pipeline.outbox.waiting().values()) > 100
    assert slack.messages == []
    stage.pipeline.outbox.stop(0.01)


def test_the_rules_of_a_daemon_keep_their_slots_while_slack_hangs(tmp_path: Path, slack: SlackStub) -> None:
    with daemon(tmp_path, "--config", str(write(tmp_path, slack, "200ms"))) as running:
        until(lambda: slack.requests, within=10)
        in_a_row = InARow(15)
        until(lambda: in_a_row.seen(running.get("/metrics")), within=40)
    assert slack.messages == []
