"""
Who may ask: a page of somebody else in the operator's browser may not.

Such a page can send requests to the loopback, though it cannot read the answers; and with a name of its own that it
lets point to the loopback (DNS rebinding) it can read them as well. What no browser sends is never refused for it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from urllib.parse import urlsplit

# Switches off.
ANY = "*"
_READING = frozenset(("GET", "HEAD", "OPTIONS"))
_OWN_SITE = frozenset(("same-origin", "none"))
# Names that nobody can register, so that they lead to a rebinding page nowhere; as do names without a dot.
# reference: RFC 6761, RFC 6762, RFC 8375, ICANN resolution 2024.07.29.06 (internal); Kubernetes' names (svc).
_NOT_PUBLIC = frozenset(("internal", "local", "localhost", "svc", "test"))
_NOT_PUBLIC_PAIR = "home.arpa"


class Refusal(StrEnum):
    """Why a request is not answered; the label of a metric."""

    HOST = "host"
    ORIGIN = "origin"
    CREDENTIALS = "credentials"
    BUSY = "busy"


# Scheme, name and port.
_Origin = tuple[str, str, int]
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Guard:
    """
    Judges requests by their headers.

    `hosts` are names by which this daemon is asked, beside addresses and names that are not public; ANY among them:
    nothing is refused. `external` is where its own pages come from when a proxy is in between. With what changes
    something, a browser says from which page it comes; with what only reads it does not, so that, if `reads_too`, the
    name alone decides.
    """

    hosts: frozenset[str] = frozenset()
    external: _Origin | None = None
    reads_too: bool = False

    @classmethod
    def of(cls, listen: str, external_url: str, allowed_hosts: Iterable[str]) -> "Guard":
        """
        Return the guard of a configuration.

        What listens on the loopback is protected by that alone, and on other interfaces anybody can read: so reading
        needs a name only on the loopback, or when names are given.
        """
        given = frozenset(allowed_hosts)
        external = _origin(external_url)
        own = {listen.lower(), *((external[1],) if external is not None else ())}
        return cls(given | own, external, reads_too=bool(given) or is_loopback(listen))

    def refusal(self, method: str, host: str, origin: str | None = None, site: str | None = None) -> Refusal | None:
        """
        Return why a request is refused, or None.

        `host`, `origin` and `site` are its headers Host ("" when there is none), Origin and Sec-Fetch-Site.
        """
        if ANY in self.hosts:
            return None
        if method not in _READING:
            return Refusal.ORIGIN if self._is_foreign(host, origin, site) else None
        return Refusal.HOST if self.reads_too and not self._is_own(_name(host)) else None

    def _is_foreign(self, host: str, origin: str | None, site: str | None) -> bool:
        """Say whether a page of somebody else sends this; what has neither header comes from no browser."""
        if origin is None:
            return site is not None and site not in _OWN_SITE
        page = _origin(origin)
        if page is None:
            return True
        return page != self.external and (page != _origin(f"{page[0]}://{host}") or not self._is_own(page[1]))

    def _is_own(self, name: str) -> bool:
        return name in self.hosts or _is_not_public(name)


def _origin(url: str) -> _Origin | None:
    """Return where a page at `url` comes from; None for what is no URL of a page."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    return (parts.scheme, _name(parts.netloc), port) if port and parts.netloc else None


def _name(netloc: str) -> str:
    """Return the name of `name:port` in small letters; "" of what is not that."""
    try:
        return (urlsplit(f"//{netloc}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_not_public(name: str) -> bool:
    labels = name.split(".")
    return len(labels) == 1 or labels[-1] in _NOT_PUBLIC or name.endswith(f".{_NOT_PUBLIC_PAIR}") or _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True


def is_loopback(listen: str) -> bool:
    return listen == "localhost" or (_is_address(listen) and ip_address(listen.partition("%")[0]).is_loopback)
