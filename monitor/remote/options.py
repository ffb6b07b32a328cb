"""How a server is asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from monitor.model.instant import SECOND, Duration
from monitor.scrape.options import MEBIBYTE, ScrapeOptions


@dataclass(frozen=True, slots=True)
class RemoteOptions:
    """
    `timeout` is for one answer with all attempts at it, in milliseconds.

    `http` has who asks, and whom TLS trusts; `headers` go with every request (a tenant, say), `params` with every
    query. Both may hold secrets.
    """

    url: str
    timeout: Duration = 10 * SECOND
    http: ScrapeOptions = field(default_factory=ScrapeOptions)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    # So many questions at a time.
    connections: int = 8
    body_size_limit: int = 64 * MEBIBYTE

    @property
    def name(self) -> str:
        """The URL without user, password and query."""
        parts = urlsplit(self.url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl().rstrip("/")
