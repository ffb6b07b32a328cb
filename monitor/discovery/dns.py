"""
Targets by name in the DNS: `dns_sd_configs`. reference: Prometheus 3, discovery/dns/dns.go.

The system's resolver has no way to ask for SRV or MX, so dnspython asks; it is loaded when somebody configures this.
"""

import contextlib
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
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
# So many names are looked up at a time: those that nobody answers for hold up no more than a few of the others.
_AT_ONCE = 8
_ENDED = DiscoveryError("the search has ended", reason=Reason.LOOKUP)
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
        self._stopping = threading.Event()

    def look(self) -> tuple[Found, Duration]:
        """Look up all names; one that nobody answers for does not hold up the others."""
        errors: list[DiscoveryError] = []
        for name, found in self._looked_up().items():
            if isinstance(found, TargetGroup):
                self._groups[name] = found
            elif isinstance(found, DiscoveryError):
                errors.append(found)
            else:
                raise found
        # As they are configured, whoever answered first.
        return Found(tuple(self._groups[name] for name in self._names if name in self._groups), errors), self._every

    def stop(self) -> None:
        """Look-ups under way end by themselves, within seconds; no other begins."""
        self._stopping.set()

    def _looked_up(self) -> Mapping[str, TargetGroup | Exception]:
        found: dict[str, TargetGroup | Exception] = dict.fromkeys(self._names, _ENDED)
        left = deque(self._names)

        def work() -> None:
            with contextlib.suppress(IndexError):
                while not self._stopping.is_set():
                    name = left.popleft()
                    found[name] = self._group(name)

        # None of a pool, which the end of the process would wait for.
        helpers = [threading.Thread(target=work, name="dns", daemon=True) for _ in self._names[1:_AT_ONCE]]
        for helper in helpers:
            helper.start()
        work()
        for helper in helpers:
            helper.join()
        return found

    def _group(self, name: str) -> TargetGroup | Exception:
        try:
            return TargetGroup(name, tuple(self._targets(name)))
        except Exception as err:  # noqa: BLE001 - it is told, or raised again, on the thread that looks
            return err

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
