"""A Prometheus that answers and knows no vLLM server, by another tenant or a lost scrape job: all alerts end then."""

from collections.abc import Callable

from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, Duration, Instant
from monitor.upstream.standing import StandingAlert

NAME = "VLLMMonitorPrometheusWithoutServers"
HOLD: Duration = 2 * MINUTE


class Emptiness:
    """Says after each evaluation what there is to tell of it; `has_servers` returns None while that is not known."""

    def __init__(self, server: str, instance: str, has_servers: Callable[[], bool | None]) -> None:
        self._server = server
        self._has_servers = has_servers
        self._alert = StandingAlert(NAME, instance, "critical", HOLD)

    def alerts(self, at: Instant) -> list[Alert]:
        """Return what dispatch must hear of at `at`."""
        has_servers = self._has_servers()
        if has_servers is None:
            return []
        return self._alert.over(at) if has_servers else self._alert.raised(at, self._texts())

    def shift(self, by: Duration) -> None:
        """The clock was set by so much."""
        self._alert.shift(by)

    def take_over(self, old: "Emptiness") -> None:
        """Go on where `old` stood."""
        self._alert.take_over(old._alert)  # noqa: SLF001 - the same class

    def _texts(self) -> dict[str, str]:
        return {
            "summary": "Prometheus has no vLLM server, so nobody watches them",
            "description": f"{self._server} answers, and has no series of any vLLM server. Every alert that stood has "
            "ended, and none begins, whatever happens.\nTry first: open Status > Target health of Prometheus and look "
            "for the scrape job of vLLM; then compare the tenant in prometheus.headers of our configuration.",
            "value": "0 servers",
            "threshold": "none at all",
        }
