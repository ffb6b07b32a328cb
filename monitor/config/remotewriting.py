"""Where what is kept is written to: `remote_write`, in Prometheus' words."""

from collections.abc import Iterator
from hashlib import sha256
from typing import ClassVar

from pydantic import Field

from monitor.config import not_yet
from monitor.config.discovering import RelabelSection
from monitor.config.fields import PositiveDuration, SecretText, SecretUrl
from monitor.config.httpclient import HttpConfig
from monitor.model.instant import SECOND
from monitor.yamldoc.kinds import Count, Duration, Text
from monitor.yamldoc.section import Section

MOST_SAMPLES = 100_000
_OURS = frozenset(
    ("authorization", "content-encoding", "content-type", "content-length", "host", "x-prometheus-remote-write-version")
)


class QueueConfig(Section):
    """How much at once, and how long to wait after a failure. The queue itself is the history."""

    not_yet: ClassVar[dict[str, str]] = not_yet.QUEUE_CONFIG

    max_samples_per_send: Count = 2000
    min_backoff: PositiveDuration = 30
    max_backoff: PositiveDuration = 5 * SECOND
    sample_age_limit: Duration = 0

    def problems(self) -> Iterator[tuple[str, str]]:
        if not 1 <= self.max_samples_per_send <= MOST_SAMPLES:
            yield "max_samples_per_send", f"must be between 1 and {MOST_SAMPLES}"
        if self.max_backoff < self.min_backoff:
            yield "max_backoff", "is shorter than min_backoff"


class RemoteWriteConfig(HttpConfig):
    """One receiver. `remote_timeout` is milliseconds for a request; `headers` may hold secrets."""

    not_yet: ClassVar[dict[str, str]] = not_yet.REMOTE_WRITE

    url: SecretUrl
    name: Text = ""
    remote_timeout: PositiveDuration = 30 * SECOND
    headers: dict[Text, SecretText] = Field(default_factory=dict)
    write_relabel_configs: tuple[RelabelSection, ...] = ()
    queue_config: QueueConfig = QueueConfig()

    @property
    def called(self) -> str:
        """How metrics and logs call it: its name, or as Prometheus does some digits of a hash of where it is."""
        return self.name or sha256(self.url.reveal().encode()).hexdigest()[:6]

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        for name in self.headers:
            if name.lower() in _OURS:
                hint = ": use authorization or basic_auth" if name.lower() == "authorization" else ""
                yield "headers", f"{name} is not to be set{hint}"
