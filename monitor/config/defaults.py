"""Who is told, and how, where nobody says it."""

from monitor.config.receiving import ConsoleConfig, ReceiverConfig
from monitor.config.routing import GROUP_INTERVAL, GROUP_WAIT, REPEAT_INTERVAL
from monitor.dispatch.route import Route

CONSOLE = ReceiverConfig(name="console", console_configs=(ConsoleConfig(),))


def only_route(receiver: str) -> Route:
    """Return the route that sends everything to one receiver, one message an alert and model."""
    return Route(
        receiver=receiver,
        group_by=("alertname", "model_name"),
        group_wait=GROUP_WAIT,
        group_interval=GROUP_INTERVAL,
        repeat_interval=REPEAT_INTERVAL,
    )
