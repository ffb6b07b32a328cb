"""
Targets by name in the DNS: `dns_sd_configs`. reference: Prometheus 3, discovery/dns/dns.go.

The system's resolver has no way to ask for SRV or MX, so dnspython asks; it is loaded when somebody configures this.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from monitor.discovery.errors import DiscoveryError, Reason
from monitor.discovery.groups import ADDRESS
from monitor.discovery.provider import Found
from monitor.model.instant import Duration
from monitor.model.labels import Labels
from monitor.model.targetgroup import TargetGroup

if TYPE_CHECKING:
    from dns.resolver import Resolver

TYPES = ("SRV", "A", "AAAA", "MX", "NS")
# How long all servers together may take for one name.
_LIFETIME_SECONDS = 10.0
_NAME, _RECORD = "__meta_dns_name", "__meta_dns_{kind}_record_{what}"


class Lookup(Protocol):
    """Asks the DNS."""

    def __call__(self, name: str, kind: str) -> Sequence[tuple[str, int | None]]:
        """
        Return the hosts (names with their final dot, or addresses) and, of SRV records, ports that `name` has.

        A name that does not exist has none. Raises DiscoveryError when nobody knows.
        """
        ...


class DnsDiscovery:
    """The records of all names; a name that nobody can answer for keeps its last ones."""

    def __init__(self, names: Sequence[str], kind: str, port: int, refresh_interval: Duration, lookup: Lookup) -> None:
        self._names = tuple(dict.fromkeys(names))
        self._kind = kind
        self._port = port
        self._every = refresh_interval
        self._lookup = lookup
        self._groups: dict[str, TargetGroup] = {}

    def look(self) -> tuple[Found, Duration]:
        """Look up every name, one after the other."""
        errors: list[DiscoveryError] = []
        for name in self._names:
            try:
                group = TargetGroup(name, tuple(self._targets(name)))
            except DiscoveryError as err:
                errors.append(err)
            else:
                self._groups[name] = group
        return Found(tuple(self._groups.values()), errors), self._every

    def stop(self) -> None:
        """A look-up under way ends by itself."""

    def _targets(self, name: str) -> Iterator[Labels]:
        # Servers rotate their answers: sorted, the same records are the same targets.
        for host, port in sorted(self._lookup(name, self._kind), key=str):
            number = self._port if port is None else port
            labels = {ADDRESS: join_host_port(host.rstrip("."), str(number)), _NAME: name}
            if self._kind in ("SRV", "MX", "NS"):
                labels[_RECORD.format(kind=self._kind.lower(), what="target")] = host
            if port is not None:
                labels[_RECORD.format(kind=self._kind.lower(), what="port")] = str(port)
            yield Labels.of(labels)


class Dns:
    """The DNS as /etc/resolv.conf says to ask it, which is read anew for every look-up, or through `resolver`."""

    def __init__(self, resolver: "Resolver | None" = None) -> None:
        self._resolver = resolver

    def __call__(self, name: str, kind: str) -> Sequence[tuple[str, int | None]]:
        """Return what `Lookup` promises."""
        from dns.exception import DNSException
        from dns.resolver import NXDOMAIN, NoAnswer, Resolver

        try:
            resolver = self._resolver or Resolver()
            answer = resolver.resolve(name, kind, search=True, lifetime=_LIFETIME_SECONDS)
        except (NXDOMAIN, NoAnswer):
            return ()
        except (DNSException, OSError, ValueError) as err:
            why = str(err) if isinstance(err, DNSException) else type(err).__name__
            raise DiscoveryError(f'cannot look up {kind} of "{name}": {why}', reason=Reason.LOOKUP) from err
        return [_read(record, kind) for record in answer]


def join_host_port(host: str, port: str) -> str:
    """Return `host:port`, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _read(record: object, kind: str) -> tuple[str, int | None]:
    match kind:
        case "SRV":
            return str(getattr(record, "target", "")), int(getattr(record, "port", 0))
        case "MX":
            return str(getattr(record, "exchange", "")), None
        case "NS":
            return str(getattr(record, "target", "")), None
        case _:
            return str(getattr(record, "address", "")), None
