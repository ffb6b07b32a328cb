"""What the daemon says of its buttons: made when a configuration has some, so that nobody else sees a zero."""

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge


class ButtonMetrics:
    """
    Series on the daemon's registry. `outcomes` are what may become of a click.

    `socket` returns whether the link of Socket Mode stands, and the seconds since its last sign of life.
    """

    def __init__(
        self, registry: CollectorRegistry, outcomes: Iterable[str], socket: Callable[[], tuple[float, float]]
    ) -> None:
        self.clicks = Counter("vllm_monitor_clicks", "What became of clicks in Slack.", ["outcome"], registry=registry)
        for outcome in outcomes:
            # From 0 on, so that the first one is an increase.
            self.clicks.labels(outcome)
        self.answers_failed = Counter(
            "vllm_monitor_click_answers_failed",
            "Answers that did not reach who clicked.",
            ["reason"],
            registry=registry,
        )
        self.socket_failures = Counter(
            "vllm_monitor_socket_mode_failures", "Connections to Slack that failed.", ["reason"], registry=registry
        )
        Gauge(
            "vllm_monitor_socket_mode_connected", "Whether clicks can arrive by Socket Mode.", registry=registry
        ).set_function(lambda: socket()[0])
        Gauge(
            "vllm_monitor_socket_mode_last_event_age_seconds",
            "Since Slack last gave a sign of life.",
            registry=registry,
        ).set_function(lambda: socket()[1])
