"""From the receivers of the configuration to their integrations, and what delivers to each."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from monitor.config.config import Config
from monitor.config.receiving import ReceiverConfig, SlackConfig
from monitor.config.secret import revealed
from monitor.dispatch.dispatcher import Integration
from monitor.dispatch.notification import Notifier
from monitor.notify.slack.bot import SlackBot
from monitor.notify.slack.secret import Secret
from monitor.notify.slack.webhook import SlackWebhook

if TYPE_CHECKING:
    from rich.console import Console


def receivers_of(config: Config, console: "Console | None") -> tuple[dict[str, list[Integration]], dict[str, Notifier]]:
    """Return the integrations of each receiver, by its name, and the notifier of each integration, by its name."""
    integrations: dict[str, list[Integration]] = {}
    notifiers: dict[str, Notifier] = {}
    for receiver in config.receivers:
        integrations[receiver.name] = []
        for name, send_resolved, notifier in _notifiers(receiver, config.global_.slack_base_url, console):
            integrations[receiver.name].append(Integration(name, send_resolved))
            notifiers[name] = notifier
    return integrations, notifiers


def _notifiers(
    receiver: ReceiverConfig, base_url: str, console: "Console | None"
) -> Iterator[tuple[str, bool, Notifier]]:
    for number, slack in enumerate(receiver.slack_configs):
        yield f"{receiver.name}/slack[{number}]", slack.send_resolved, _slack(slack, base_url)
    for number, printed in enumerate(receiver.console_configs):
        yield f"{receiver.name}/console[{number}]", printed.send_resolved, _console(console)


def _slack(slack: SlackConfig, base_url: str) -> Notifier:
    if slack.api_url is not None or slack.api_url_file is not None:
        return SlackWebhook(Secret(revealed(slack.api_url), slack.api_url_file))
    token = Secret(revealed(slack.bot_token), slack.bot_token_file)
    return SlackBot(token, slack.channel, base_url=base_url)


def _console(console: "Console | None") -> Notifier:
    # Imported here: memory that only a daemon at a terminal needs.
    from rich.console import Console

    from monitor.notify.console import ConsoleNotifier

    return ConsoleNotifier(console or Console())
