"""
The API server of a Kubernetes cluster over HTTP, shown what a scrape would be shown.

With `requests` and a few hundred lines; the official client takes 38 MB of memory and 126 MB of disk for the same.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import requests

from monitor.clock import monotonic_seconds
from monitor.config.discovering import KubernetesSDConfig
from monitor.discovery.errors import DiscoveryError, Reason
from monitor.discovery.kubernetes.cluster import KubernetesDiscovery, resources
from monitor.discovery.kubernetes.reflector import GONE, USUAL_PACE, WATCH, GoneError, Pace
from monitor.jobs import client_options
from monitor.model.instant import SECOND, Duration, to_seconds
from monitor.scrape.errors import ScrapeError, readable
from monitor.scrape.options import Authorization, ScrapeOptions, TlsConfig
from monitor.scrape.session import THROWN, GuardedSession, chunks
from monitor.scrape.translate import as_scrape_error
from monitor.scrape.unpack import unpack

# Where Kubernetes puts what a pod shows to the API server.
ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
TIMEOUT: Duration = 30 * SECOND
# A page of objects, and the event of one.
LARGEST_PAGE = 64 * 1024 * 1024
LARGEST_EVENT = 8 * 1024 * 1024
_HEADERS = {"Accept": "application/json"}
_STATUS_BODY = _CHUNK = 64 * 1024
_FORBIDDEN = (requests.codes.unauthorized, requests.codes.forbidden)


def kubernetes_discovery(
    section: KubernetesSDConfig,
    environment: Mapping[str, str] = os.environ,
    account: Path = ACCOUNT,
    pace: Pace = USUAL_PACE,
) -> KubernetesDiscovery:
    """Return what looks for the targets of a section. Nothing is asked before it looks."""
    options = client_options(section, TIMEOUT, LARGEST_PAGE)
    url = section.api_server.rstrip("/")
    if not url:
        options = replace(
            options,
            authorization=Authorization(credentials_file=str(account / "token")),
            tls_config=TlsConfig(ca_file=str(account / "ca.crt")),
        )
        url = _in_cluster(environment)
    names = dict.fromkeys(section.namespaces.names)
    if section.namespaces.own_namespace:
        names[_own_namespace(account)] = None
    selectors = {one.role: _selector(one.label, one.field) for one in section.selectors}
    wanted = resources(section.role, tuple(names), selectors, nodes=section.attach_metadata.node)
    return KubernetesDiscovery(section.role, wanted, partial(ApiServer, url, options), pace)


def _in_cluster(environment: Mapping[str, str]) -> str:
    host, port = environment.get("KUBERNETES_SERVICE_HOST", ""), environment.get("KUBERNETES_SERVICE_PORT", "")
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}" if host else ""


def _own_namespace(account: Path) -> str:
    try:
        return (account / "namespace").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        # As kubectl has it.
        return "default"


def _selector(label: str, field: str) -> dict[str, str]:
    return {key: value for key, value in (("labelSelector", label), ("fieldSelector", field)) if value}


class ApiServer:
    """One connection. One thread at a time may use it. reference: reflector.Api."""

    def __init__(self, url: str, options: ScrapeOptions) -> None:
        self._url = url
        self._options = options
        self._session = GuardedSession(options, _HEADERS, monotonic_seconds)

    def get(self, path: str, parameters: Mapping[str, str]) -> bytes:
        """Return an answer. Raises DiscoveryError."""
        try:
            with self._answer(path, parameters, TIMEOUT) as response:
                return unpack(chunks(response), response.headers.get("Content-Encoding", ""), LARGEST_PAGE)
        except (ScrapeError, *THROWN) as err:
            raise _translated(err, TIMEOUT) from err

    def watch(self, path: str, parameters: Mapping[str, str]) -> Iterator[bytes]:
        """Yield the lines of an answer as they come. Raises DiscoveryError."""
        patience = WATCH + TIMEOUT
        try:
            with self._answer(path, parameters, patience) as response:
                yield b""
                yield from _lines(response)
        except (ScrapeError, *THROWN) as err:
            raise _translated(err, patience) from err

    def _answer(self, path: str, parameters: Mapping[str, str], patience: Duration) -> requests.Response:
        if not self._url:
            what = "not in a Kubernetes cluster: set api_server (KUBERNETES_SERVICE_HOST is not set)"
            raise DiscoveryError(what, reason=Reason.REQUEST)
        self._session.begin(to_seconds(patience))
        response = self._session.get(f"{self._url}{path}?{urlencode(parameters)}")
        if response.status_code == requests.codes.ok:
            return response
        with response:
            if response.status_code == GONE:
                raise GoneError
            raise _refused(response, path, _message(response))


def _lines(response: requests.Response) -> Iterator[bytes]:
    rest = b""
    # Unpacked on the way: whoever stands in between may have packed it.
    for chunk in response.raw.stream(_CHUNK, decode_content=True):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (line for line in whole if line.strip())
        if len(rest) > LARGEST_EVENT:
            raise DiscoveryError("an event that is too large", reason=Reason.CONTENT)


def _message(response: requests.Response) -> str:
    """Return the reason that the API server gives, on one line, "" when it gives none."""
    try:
        body = unpack(chunks(response), response.headers.get("Content-Encoding", ""), _STATUS_BODY)
    except (ScrapeError, *THROWN):
        return ""
    try:
        return readable(str(json.loads(body)["message"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _refused(response: requests.Response, path: str, message: str) -> DiscoveryError:
    status = response.status_code
    if status in _FORBIDDEN:
        what = f"{path}: not allowed ({status}): grant get, list and watch there (docs/discovery.md)"
        return DiscoveryError(what, reason=Reason.FORBIDDEN)
    return DiscoveryError(
        f"{path}: the API server returned HTTP status {status} {message}".rstrip(), reason=Reason.STATUS
    )


def _translated(err: Exception, patience: Duration) -> DiscoveryError:
    found = err if isinstance(err, ScrapeError) else as_scrape_error(err, patience)
    return DiscoveryError(f"API server: {found}", reason=Reason.REQUEST)
