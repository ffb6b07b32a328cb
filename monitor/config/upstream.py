"""A Prometheus that is asked in the place of the window: `prometheus`, of `mode: prometheus`."""

from collections.abc import Iterator
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, PlainValidator

from monitor.config.clients import HttpClientConfig
from monitor.config.fields import PositiveDuration, SecretText, Url, one_of
from monitor.model.instant import SECOND
from monitor.yamldoc.kinds import Boolean, Count, Text

EMBEDDED, PROMETHEUS = "embedded", "prometheus"
WARN, ABORT = "warn", "abort"
_MOST_AT_ONCE = 100


class PrometheusConfig(HttpClientConfig):
    """
    Where the HTTP API of Prometheus is: `/api/v1/query` stands below `url`.

    `timeout` is milliseconds for all questions of one evaluation. `headers` and `params` may hold secrets.
    """

    url: Url
    timeout: PositiveDuration = 10 * SECOND
    headers: dict[Text, SecretText] = Field(default_factory=dict)
    params: dict[Text, SecretText] = Field(default_factory=dict)
    follow_redirects: Boolean = False
    # Thanos' word, and its two values.
    partial_response_strategy: Annotated[str, PlainValidator(one_of(WARN, ABORT))] = WARN
    max_concurrency: Count = 8

    def problems(self) -> Iterator[tuple[str, str]]:
        parts = urlsplit(self.url)
        if parts.username is not None:
            yield "url", "url: a user name and password in a URL are not supported: use basic_auth"
        if parts.query or parts.fragment:
            yield "url", "url: write what stands behind the ? as params"
        if not 1 <= self.max_concurrency <= _MOST_AT_ONCE:
            yield "max_concurrency", f"must be between 1 and {_MOST_AT_ONCE}"
        if self.follow_redirects:
            yield "follow_redirects", "questions are posted, and no redirect is followed: give the URL it leads to"
        if any(name.lower() == "authorization" for name in self.headers):
            yield "headers", "use authorization or basic_auth"
        yield from super().problems()
