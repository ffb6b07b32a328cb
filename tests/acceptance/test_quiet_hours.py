"""A night with quiet hours as docs/slack.md shows them: what is critical rings at once, the rest is the morning's."""

from datetime import UTC, datetime
from pathlib import Path

from monitor.clock import VirtualClock
from monitor.config.read import load
from monitor.model.instant import HOUR, MINUTE, Instant, from_seconds
from monitor.replay import replay
from tests.acceptance.stage import Stage
from tests.slackstub.judge import assert_invariants
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN

# Monday, 23:00 in Berlin.
NIGHT: Instant = from_seconds(datetime(2026, 11, 30, 22, 0, tzinfo=UTC).timestamp())
MORNING: Instant = NIGHT + 8 * HOUR
MENTION = "<!subteam^S0ONCALL01>"
RULES = """\
groups:
  - name: g
    rules:
      - {alert: ModelDown, expr: vector(1), labels: {severity: critical}, annotations: {summary: A model is down}}
      - {alert: Brief, expr: "vector(1) and on () (hour() == 23)", labels: {severity: warning}}
"""
WARNING = "      - {{alert: Slow{number}, expr: vector(1), labels: {{severity: warning}}}}\n"
CONFIG = """\
global: {{slack_base_url: "{base_url}", scrape_interval: 1m, evaluation_interval: 1m}}
rule_files: [own.rules.yaml]
route:
  receiver: oncall
  group_by: [alertname]
  group_wait: 0s
  routes:
    - matchers: [severity="critical"]
    - mute_time_intervals: [quiet hours]
time_intervals:
  - name: quiet hours
    time_intervals:
      - times: [{{start_time: "22:00", end_time: "24:00"}}, {{start_time: "00:00", end_time: "07:00"}}]
        location: Europe/Berlin
receivers: [{{name: oncall, slack_configs: [{{channel: {channel}, bot_token_file: token, graphs: false{more}}}]}}]
"""


def test_a_warning_waits_for_the_morning_and_what_is_critical_does_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "own.rules.yaml").write_text(RULES + "".join(WARNING.format(number=number) for number in range(12)))
    with SlackStub() as stub:
        path = tmp_path / "monitor.yaml"
        path.write_text(CONFIG.format(base_url=stub.base_url, channel=CHANNEL, more=", mention: S0ONCALL01"))
        clock = VirtualClock(NIGHT)
        stub.workspace.seconds = lambda: clock.at / 1_000
        stage = Stage(load(path), clock)
        replay(stage.pipeline, clock, [NIGHT])
        (critical,) = stub.messages
        assert critical.text.startswith("🔴 CRITICAL: A model is down")
        assert critical.text.endswith(MENTION)
        replay(stage.pipeline, clock, range(NIGHT + MINUTE, MORNING, MINUTE))
        assert [one.ts for one in stub.messages if not one.thread_ts] == [critical.ts]
        replay(stage.pipeline, clock, range(MORNING, MORNING + 6 * MINUTE, MINUTE))
        (_, digest) = [one for one in stub.messages if not one.thread_ts]
        assert "12 alerts at once" in digest.text
        assert not any("Brief" in str(one.payload) for one in stub.messages)
        assert MENTION not in str(digest.payload)
        assert_invariants(stub, allowed_mentions=[MENTION.strip("<>")])
