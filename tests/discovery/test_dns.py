"""Targets in the DNS, from a server on the loopback that speaks it."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread

import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest
from dns.resolver import Resolver

from monitor.discovery.dns import Dns, DnsDiscovery
from monitor.discovery.errors import DiscoveryError, Reason
from monitor.model.labels import Labels

ZONE = {
    ("_vllm._tcp.example.", "SRV"): ["0 0 8001 b.example.", "0 0 8000 a.example."],
    ("vllm.example.", "A"): ["10.0.0.2", "10.0.0.1"],
    ("vllm.example.", "AAAA"): ["fd00::1"],
    ("vllm.example.", "MX"): ["10 mail.example."],
    ("vllm.example.", "NS"): ["ns.example."],
}


class Zone:
    """What the server knows; `refuses` makes it answer nothing but SERVFAIL."""

    def __init__(self) -> None:
        self.records = dict(ZONE)
        self.refuses: set[str] = set()

    def answer(self, data: bytes) -> bytes:
        query = dns.message.from_wire(data)
        (question,) = query.question
        name, kind = question.name.to_text(), dns.rdatatype.to_text(question.rdtype)
        answer = dns.message.make_response(query)
        if name in self.refuses:
            answer.set_rcode(dns.rcode.SERVFAIL)
        elif (name, kind) in self.records:
            answer.answer.append(dns.rrset.from_text(name, 0, "IN", kind, *self.records[name, kind]))
        elif name not in {known for known, _ in self.records}:
            answer.set_rcode(dns.rcode.NXDOMAIN)
        return answer.to_wire()


@contextmanager
def served(zone: Zone) -> Iterator[Dns]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        ended = False

        def serve() -> None:
            while not ended:
                data, sender = server.recvfrom(4096)
                if data:
                    server.sendto(zone.answer(data), sender)

        thread = Thread(target=serve)
        thread.start()
        resolver = Resolver(configure=False)
        resolver.nameservers, resolver.port, resolver.cache = ["127.0.0.1"], server.getsockname()[1], None
        try:
            yield Dns(resolver)
        finally:
            ended = True
            server.sendto(b"", server.getsockname())
            thread.join()


def labels(address: str, name: str, **more: str) -> Labels:
    return Labels.of({"__address__": address, "__meta_dns_name": name, **more})


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        (
            "_vllm._tcp.example",
            "SRV",
            [
                labels(
                    f"{host}.example:{port}",
                    "_vllm._tcp.example",
                    __meta_dns_srv_record_target=f"{host}.example.",
                    __meta_dns_srv_record_port=str(port),
                )
                for host, port in (("a", 8000), ("b", 8001))
            ],
        ),
        ("vllm.example", "A", [labels(f"10.0.0.{last}:9000", "vllm.example") for last in (1, 2)]),
        ("vllm.example", "AAAA", [labels("[fd00::1]:9000", "vllm.example")]),
        (
            "vllm.example",
            "MX",
            [labels("mail.example:9000", "vllm.example", __meta_dns_mx_record_target="mail.example.")],
        ),
        ("vllm.example", "NS", [labels("ns.example:9000", "vllm.example", __meta_dns_ns_record_target="ns.example.")]),
        ("nobody.example", "A", []),
        ("vllm.example", "SRV", []),
    ],
)
def test_each_type_of_record_is_a_target_with_the_labels_of_prometheus(
    name: str, kind: str, expected: list[Labels]
) -> None:
    with served(Zone()) as lookup:
        found, wait = DnsDiscovery([name], kind, 9000, 30_000, lookup).look()
    assert wait == 30_000
    assert [*found.groups[0].targets] == expected
    assert found.errors == []


def test_a_name_that_nobody_can_answer_for_keeps_its_records_and_one_that_is_gone_does_not() -> None:
    zone = Zone()
    zone.records["other.example.", "A"] = ["10.0.0.9"]
    with served(zone) as lookup:
        discovery = DnsDiscovery(["vllm.example", "other.example"], "A", 9000, 30_000, lookup)
        discovery.look()
        zone.refuses.add("vllm.example.")
        del zone.records["other.example.", "A"]
        found, _ = discovery.look()
    assert [len(group.targets) for group in found.groups] == [2, 0]
    assert [str(error).partition(":")[0] for error in found.errors] == ['cannot look up A of "vllm.example"']


def test_names_that_nobody_answers_for_hold_up_neither_the_others_nor_the_end() -> None:
    hanging, asked = threading.Event(), []

    def lookup(name: str, kind: str) -> Sequence[tuple[str, int | None]]:
        asked.append((name, kind))
        if name.startswith("dead"):
            assert hanging.wait(60)
            raise DiscoveryError(name, reason=Reason.LOOKUP)
        if name == "good-3":
            hanging.set()
        return [("10.0.0.1", None)]

    names = [*(f"dead-{number}" for number in range(4)), *(f"good-{number}" for number in range(4))]
    found, _ = DnsDiscovery(names, "A", 9000, 30_000, lookup).look()
    assert [group.source for group in found.groups] == names[4:]
    assert [str(error) for error in found.errors] == names[:4]
    assert sorted(asked) == sorted((name, "A") for name in names)


def test_after_the_end_no_other_name_is_looked_up() -> None:
    asked = []

    def lookup(name: str, kind: str) -> Sequence[tuple[str, int | None]]:
        asked.append((name, kind))
        discovery.stop()
        return []

    discovery = DnsDiscovery([f"{number}.example" for number in range(100)], "A", 9000, 30_000, lookup)
    discovery.look()
    assert len(asked) <= 8


def test_a_defect_on_the_way_is_not_lost() -> None:
    def lookup(name: str, kind: str) -> Sequence[tuple[str, int | None]]:
        raise LookupError(name, kind)

    with pytest.raises(LookupError):
        DnsDiscovery(["a", "b"], "A", 9000, 30_000, lookup).look()
