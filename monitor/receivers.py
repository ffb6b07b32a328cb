"""From the receivers of the configuration to their integrations, and what delivers to each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from monitor.charts.child import is_installed
from monitor.config.config import Config
from monitor.config.pagerduty import PagerDutyConfig
from monitor.config.receiving import ReceiverConfig, SlackConfig
from monitor.config.secret import held
from monitor.config.webhook import WebhookConfig
from monitor.dispatch.dispatcher import Integration
from monitor.dispatch.notification import Notifier
from monitor.notify.interactive.escalation import mention
from monitor.notify.pagerduty import PagerDuty
from monitor.notify.slack.bot import SlackBot
from monitor.notify.slack.channel import Channel
from monitor.notify.slack.graph import BotGraphs
from monitor.notify.slack.incident import Policy
from monitor.notify.slack.upload import Upload
from monitor.notify.slack.web_api import WebApi
from monitor.notify.slack.webhook import SlackWebhook
from monitor.notify.slack.workspace import Workspace
from monitor.notify.teller import Editor
from monitor.notify.webhook import Webhook

if TYPE_CHECKING:
    from rich.console import Console


def receivers_of(
    config: Config, console: "Console | None", workspace: Workspace
) -> tuple[dict[str, list[Integration]], dict[str, Notifier]]:
    """
    Return the integrations of each receiver, by its name, and the notifier of each integration, by its name.

    All bots share `workspace`.
    """
    integrations: dict[str, list[Integration]] = {}
    notifiers: dict[str, Notifier] = {}
    for receiver in config.receivers:
        integrations[receiver.name] = []
        for name, send_resolved, notifier in _notifiers(receiver, config, console, workspace):
            integrations[receiver.name].append(Integration(name, send_resolved, edits=isinstance(notifier, Editor)))
            notifiers[name] = notifier
    return integrations, notifiers


def fallbacks_of(config: Config, integrations: Mapping[str, Sequence[Integration]]) -> dict[str, Sequence[Integration]]:
    """Return for each integration that has a fallback those that are told in its place, by its name."""
    return {
        integration.name: integrations[receiver.fallback]
        for receiver in config.receivers
        if receiver.fallback
        for integration in integrations[receiver.name]
    }


def _notifiers(
    receiver: ReceiverConfig, config: Config, console: "Console | None", workspace: Workspace
) -> Iterator[tuple[str, bool, Notifier]]:
    external_url = config.web.external_url
    for number, slack in enumerate(receiver.slack_configs):
        name = f"{receiver.name}/slack[{number}]"
        yield name, slack.send_resolved, _slack(name, slack, config, workspace)
    for number, webhook in enumerate(receiver.webhook_configs):
        yield f"{receiver.name}/webhook[{number}]", webhook.send_resolved, _webhook(webhook, external_url)
    for number, pagerduty in enumerate(receiver.pagerduty_configs):
        yield (
            f"{receiver.name}/pagerduty[{number}]",
            pagerduty.send_resolved,
            _pagerduty(pagerduty, external_url, workspace),
        )
    for number, printed in enumerate(receiver.console_configs):
        yield f"{receiver.name}/console[{number}]", printed.send_resolved, _console(console, workspace)


def _slack(name: str, slack: SlackConfig, config: Config, workspace: Workspace) -> Notifier:
    if slack.api_url is not None or slack.api_url_file is not None:
        url = held(slack.api_url, slack.api_url_file)
        return SlackWebhook(url, facts=workspace.facts, changes=workspace.changes, external_url=config.web.external_url)
    token = held(slack.bot_token, slack.bot_token_file)
    api = WebApi(token, config.global_.slack_base_url)
    channel = Channel(api, slack.channel, workspace.pace, workspace.now)
    policy = Policy(
        slack.flap_window,
        slack.flap_hold,
        slack.digest_above,
        slack.send_resolved,
        config.slack.has_buttons,
        config.web.external_url,
        mention(slack.mention) if slack.mention else "",
    )
    return SlackBot(name, channel, workspace, policy, _graphs(name, slack, api, workspace))


def _graphs(name: str, slack: SlackConfig, api: WebApi, workspace: Workspace) -> BotGraphs | None:
    wanted = is_installed() if slack.graphs is None else slack.graphs
    if workspace.graphs is None or not wanted:
        return None
    return BotGraphs(name, Upload(api), workspace.graphs)


def _webhook(webhook: WebhookConfig, external_url: str) -> Notifier:
    options = webhook.http_config.options(webhook.timeout)
    url = held(webhook.url, webhook.url_file)
    return Webhook(url, external_url=external_url, max_alerts=webhook.max_alerts, options=options)


def _pagerduty(given: PagerDutyConfig, external_url: str, workspace: Workspace) -> Notifier:
    key = held(given.routing_key, given.routing_key_file)
    return PagerDuty(key, severities=given.severities, external_url=external_url, facts=workspace.facts, url=given.url)


def _console(console: "Console | None", workspace: Workspace) -> Notifier:
    # Imported here: memory that only a daemon at a terminal needs.
    from rich.console import Console

    from monitor.notify.console import ConsoleNotifier

    return ConsoleNotifier(console or Console(), workspace.facts)
