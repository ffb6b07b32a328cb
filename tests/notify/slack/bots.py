"""Bots before a stub of Slack."""

from monitor.clock import VirtualClock
from monitor.model.instant import SECOND, Duration
from monitor.notify.secret import Secret
from monitor.notify.slack.bot import SlackBot
from monitor.notify.slack.channel import Channel
from monitor.notify.slack.incident import Policy
from monitor.notify.slack.web_api import WebApi
from monitor.notify.slack.workspace import Workspace
from tests.notify.samples import NOW
from tests.slackstub.faults import Fault, Hang
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN

NAME = "oncall/slack[0]"
# Long, so that a busy machine is not taken for a silent Slack.
PATIENCE: Duration = 60 * SECOND


def patience_with(fault: Fault) -> Duration:
    """Return how long to wait for an answer: short only where there will be none."""
    return 2 * SECOND if isinstance(fault, Hang) else PATIENCE


def bot_of(
    stub: SlackStub,
    token: Secret | None = None,
    *,
    workspace: Workspace | None = None,
    timeout: Duration = PATIENCE,
    policy: Policy | None = None,
) -> SlackBot:
    """Return a bot that writes to the channel of `stub`."""
    shared = workspace or Workspace(VirtualClock(NOW).now)
    api = WebApi(token or Secret(TOKEN), stub.base_url, timeout=timeout)
    return SlackBot(NAME, Channel(api, CHANNEL, shared.pace, shared.now), shared, policy)
