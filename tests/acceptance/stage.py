"""The daemon's own parts on a clock that is moved, in front of a real page and a real (stub) Slack, over sockets."""

from dataclasses import dataclass, field
from pathlib import Path

from prometheus_client import CollectorRegistry

from monitor.build import Builder
from monitor.clock import VirtualClock
from monitor.config.config import Config
from monitor.dispatching import Dispatching
from monitor.metrics import Metrics
from monitor.notify.letter import Attempt
from monitor.pipeline import Pipeline
from monitor.rules.alerting import AlertState
from monitor.storage.window import Window
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN


def write_config(folder: Path, target: str, stub: SlackStub) -> Path:
    """Write the configuration that the README shows, but for a shorter group_interval, and without graphs."""
    token = folder / "token"
    token.write_text(TOKEN + "\n")
    path = folder / "monitor.yaml"
    path.write_text(
        f"""\
global: {{scrape_interval: 5s, slack_base_url: "{stub.base_url}"}}
scrape_configs: [{{job_name: vllm, static_configs: [{{targets: ["{target}"]}}]}}]
route: {{receiver: oncall, group_by: [alertname, model_name], group_wait: 0s, group_interval: 15s}}
receivers:
  - name: oncall
    slack_configs: [{{channel: {CHANNEL}, bot_token_file: {token}, graphs: false}}]
storage: {{path: ./data}}
web: {{listen: 127.0.0.1:0}}
"""
    )
    return path


@dataclass
class Stage:
    """A pipeline built as the daemon builds it."""

    config: Config
    clock: VirtualClock
    attempts: list[Attempt] = field(default_factory=list)

    def __post_init__(self) -> None:
        builder = Builder(self.clock, Window(), Metrics(CollectorRegistry(), "test"))
        parts = builder.build(self.config)
        dispatcher = Dispatching(self.config, parts.integrations).dispatcher
        self.pipeline: Pipeline = builder.assemble(parts, dispatcher, self.attempts.append)

    def states(self) -> dict[str, AlertState]:
        """Return the worst state of each alerting rule."""
        return {rule.spec.name: rule.state for group in self.pipeline.manager.groups for rule in group.alerting}

    def window(self) -> Window:
        return self.pipeline.window
