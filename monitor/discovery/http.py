"""Targets behind a URL: `http_sd_configs`. reference: Prometheus 3, discovery/http/http.go."""

from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from monitor.discovery.errors import DiscoveryError, Reason
from monitor.discovery.groups import read_json
from monitor.discovery.provider import Found
from monitor.model.instant import Duration, to_seconds
from monitor.yamldoc.mistake import DocumentError

_URL = "__meta_url"
_CONTENT_TYPE = "application/json"


class Answer(NamedTuple):
    body: bytes
    content_type: str


class Get(Protocol):
    """Asks the server."""

    def __call__(self) -> Answer:
        """Return its answer, of status 200. Raises DiscoveryError."""
        ...


def headers(refresh_interval: Duration) -> dict[str, str]:
    """Return what a request says beside who asks."""
    return {
        "Accept": _CONTENT_TYPE,
        "X-Prometheus-Refresh-Interval-Seconds": f"{to_seconds(refresh_interval):g}",
    }


class HttpDiscovery:
    """The groups that a server lists. When it fails, the caller goes on with those it had."""

    def __init__(self, url: str, refresh_interval: Duration, get: Get) -> None:
        self._url = url
        self._every = refresh_interval
        self._get = get

    def look(self) -> tuple[Found, Duration]:
        """Ask once. Raises DiscoveryError."""
        try:
            answer = self._get()
        except DiscoveryError as err:
            # Of several servers it is this one.
            raise DiscoveryError(f"{_named(self._url)}: {err}", reason=err.reason) from err
        if answer.content_type.partition(";")[0].strip().lower() != _CONTENT_TYPE:
            what = f"{_named(self._url)}: the content type is not {_CONTENT_TYPE}"
            raise DiscoveryError(what, reason=Reason.CONTENT)
        try:
            return Found(read_json(answer.body, _named(self._url), {_URL: self._url})), self._every
        except DocumentError as err:
            raise DiscoveryError(str(err), reason=Reason.CONTENT) from err

    def stop(self) -> None:
        """A request under way ends by itself, within its timeout."""


def _named(url: str) -> str:
    """Return a URL for messages: what stands before the host or behind the path may be a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
