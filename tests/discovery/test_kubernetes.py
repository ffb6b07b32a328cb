"""Discovery in a cluster whose API server is as unreliable as any."""

import json
import tracemalloc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from monitor.clusters import kubernetes_discovery
from monitor.config.clients import Authorization
from monitor.config.discovering import KubernetesSDConfig, NamespacesConfig, SelectorConfig
from monitor.config.secret import Hidden
from monitor.discovery.errors import DiscoveryError, Reason
from monitor.discovery.groups import ADDRESS
from monitor.discovery.kubernetes.cluster import KINDS, KubernetesDiscovery, resources
from monitor.discovery.kubernetes.meta import LONGEST_VALUE
from monitor.discovery.kubernetes.pod import pod_group, trimmed
from monitor.discovery.kubernetes.reflector import GoneError, Pace, Reflector, Resource
from monitor.discovery.provider import Found, Listener, Provider
from tests.discovery.apiserver import TOKEN, ApiServer, serving
from tests.discovery.cluster import endpoints, pod, service
from tests.scrape.test_tls import make
from tests.waiting import until

QUICK = Pace(first=20, longest=100, together=10)
PODS = Resource("pod", "/api/v1/pods", {}, KINDS["pod"].trimmed)


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with serving() as server:
        yield server
        assert server.complaints == []


def section(server: ApiServer, role: str = "pod", **more: Any) -> KubernetesSDConfig:
    shown = Authorization(credentials=Hidden(TOKEN))
    return KubernetesSDConfig(role=role, api_server=server.url, authorization=shown, **more)


@dataclass
class Life:
    """A discovery on its thread."""

    provider: Provider

    @classmethod
    def of(cls, discovery: KubernetesDiscovery) -> "Life":
        provider = Provider("j", "kubernetes", discovery, Listener(), retry=100)
        provider.start()
        return cls(provider)

    def addresses(self) -> list[str]:
        return sorted(one.value(ADDRESS) for group in self.provider.groups for one in group.targets)

    def comes_to(self, *addresses: str) -> None:
        until(lambda: self.addresses() == sorted(addresses), within=10)


@pytest.fixture
def living(request: pytest.FixtureRequest) -> Any:
    def begin(given: KubernetesSDConfig | KubernetesDiscovery) -> Life:
        found = kubernetes_discovery(given, pace=QUICK) if isinstance(given, KubernetesSDConfig) else given
        life = Life.of(found)
        request.addfinalizer(life.provider.stop)
        return life

    return begin


def test_pods_come_go_and_change_without_another_list(server: ApiServer, living: Any) -> None:
    server.put("pods", pod("a", ip="10.0.0.1"))
    life = living(section(server))
    life.comes_to("10.0.0.1:8000")
    server.put("pods", pod("b", ip=""))
    server.put("pods", pod("c", ip="10.0.0.3"))
    life.comes_to("10.0.0.1:8000", "10.0.0.3:8000")
    server.bookmark()
    server.put("pods", pod("b", ip="10.0.0.2"))
    server.delete("pods", "llm/a")
    life.comes_to("10.0.0.2:8000", "10.0.0.3:8000")
    assert len(server.lists) == 1


def test_after_a_watch_that_breaks_off_it_goes_on_where_it_was(server: ApiServer, living: Any) -> None:
    server.put("pods", pod("a", ip="10.0.0.1"))
    life = living(section(server))
    life.comes_to("10.0.0.1:8000")
    server.cut = 1
    server.put("pods", pod("b", ip="10.0.0.2"))
    server.put("pods", pod("c", ip="10.0.0.3"))
    life.comes_to("10.0.0.1:8000", "10.0.0.2:8000", "10.0.0.3:8000")
    assert len(server.lists) == 1


def test_a_version_that_is_too_old_is_listed_anew_and_nobody_vanishes_meanwhile(server: ApiServer, living: Any) -> None:
    server.put("pods", pod("a", ip="10.0.0.1"))
    server.put("pods", pod("b", ip="10.0.0.2"))
    life = living(section(server))
    life.comes_to("10.0.0.1:8000", "10.0.0.2:8000")
    server.objects["pods"].pop("llm/b")
    server.forget()
    life.comes_to("10.0.0.1:8000")
    assert len(server.lists) == 2


def test_a_list_comes_in_pages_and_one_that_expires_begins_anew(server: ApiServer, living: Any) -> None:
    for number in range(7):
        server.put("pods", pod(f"p{number}", ip=f"10.0.0.{number}"))
    server.page = 3
    life = living(section(server))
    life.comes_to(*(f"10.0.0.{number}:8000" for number in range(7)))
    assert len(server.lists) == 3


@pytest.mark.parametrize(("code", "reason"), [(403, Reason.FORBIDDEN), (500, Reason.STATUS), (429, Reason.STATUS)])
def test_while_the_server_refuses_the_last_targets_stay_and_the_reason_is_told(
    server: ApiServer, living: Any, code: int, reason: Reason
) -> None:
    server.put("pods", pod("a", ip="10.0.0.1"))
    told: list[Reason] = []
    life = living(section(server))
    life.provider.listener = Listener(looked=lambda _job, _kind, errors: told.extend(one.reason for one in errors))
    life.comes_to("10.0.0.1:8000")
    server.broken["pods"] = code
    server.forget()
    until(lambda: "/api/v1/pods" in life.provider.error, within=10)
    assert reason in told
    assert life.addresses() == ["10.0.0.1:8000"]
    server.broken.clear()
    until(lambda: not life.provider.error, within=10)


def test_a_server_that_is_away_keeps_the_targets_and_is_told_of_once(living: Any) -> None:
    with serving() as server:
        server.put("pods", pod("a", ip="10.0.0.1"))
        life = living(section(server, namespaces=NamespacesConfig(names=("llm", "other"))))
        life.comes_to("10.0.0.1:8000")
    # Once both have seen it; the watch that broke off may have another word for it.
    until(lambda: "cannot connect" in life.provider.error and ";" not in life.provider.error, within=10)
    assert life.addresses() == ["10.0.0.1:8000"]


def test_endpoints_follow_their_pods_and_their_service(server: ApiServer, living: Any) -> None:
    server.put("endpoints", endpoints("engine", ready=(("a", "10.0.0.1"),)))
    life = living(section(server, "endpoints"))
    life.comes_to("10.0.0.1:8000", "10.9.9.9:8000")
    server.put("pods", pod("a", ip="10.0.0.1", containers=[("vllm", [("http", 8000), ("other", 9000)])]))
    life.comes_to("10.0.0.1:8000", "10.0.0.1:9000", "10.9.9.9:8000")
    server.put("services", service("engine", labels={"team": "llm"}))
    label = "__meta_kubernetes_service_label_team"
    until(lambda: [group.labels.value(label) for group in life.provider.groups] == ["llm"], within=10)
    server.delete("pods", "llm/a")
    life.comes_to("10.0.0.1:8000", "10.9.9.9:8000")


def test_what_one_kind_is_forbidden_does_not_hide_the_others(server: ApiServer, living: Any) -> None:
    server.broken["services"] = 403
    server.put("endpoints", endpoints("engine"))
    life = living(section(server, "endpoints"))
    life.comes_to("10.9.9.9:8000")
    until(lambda: "/api/v1/services: not allowed (403)" in life.provider.error, within=10)


def test_only_the_namespaces_and_selectors_that_are_named_are_asked_for(server: ApiServer, living: Any) -> None:
    server.put("pods", pod("a", "one", ip="10.0.0.1"))
    server.put("pods", pod("b", "two", ip="10.0.0.2"))
    server.put("pods", pod("c", "three", ip="10.0.0.3"))
    selectors = (SelectorConfig(role="pod", label="app=vllm", field="status.phase=Running"),)
    life = living(section(server, namespaces=NamespacesConfig(names=("one", "two")), selectors=selectors))
    life.comes_to("10.0.0.1:8000", "10.0.0.2:8000")
    assert len(server.lists) == 2
    assert all("labelSelector=app%3Dvllm&fieldSelector=status.phase%3DRunning" in path for path in server.lists)


def looked(discovery: KubernetesDiscovery) -> Found:
    found, _ = discovery.look()
    discovery.stop()
    return found


def test_in_a_cluster_the_service_account_says_who_asks_and_whom_to_trust(tmp_path: Path, server: ApiServer) -> None:
    given = KubernetesSDConfig(role="pod", namespaces=NamespacesConfig(own_namespace=True))
    for name, text in (("token", TOKEN), ("namespace", "llm\n")):
        (tmp_path / name).write_text(text)
    host, _, port = server.url.removeprefix("http://").partition(":")
    inside = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
    found = looked(kubernetes_discovery(given, inside, tmp_path))
    assert [str(error) for error in found.errors] == [f"API server: TLS: cannot read {tmp_path / 'ca.crt'}"]
    found = looked(kubernetes_discovery(given, {}, tmp_path))
    assert "set api_server" in str(found.errors[0])


def test_a_pod_in_the_cluster_is_let_in_over_tls_and_a_new_token_counts_at_once(tmp_path: Path, living: Any) -> None:
    _, key = make(tmp_path, "ca", "IP:127.0.0.1")
    (tmp_path / "token").write_text("one that has expired")
    (tmp_path / "namespace").write_text("llm")
    with serving(str(tmp_path / "ca.crt"), key) as server:
        host, _, port = server.url.removeprefix("https://").partition(":")
        inside = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
        server.put("pods", pod("a", ip="10.0.0.1"))
        server.put("pods", pod("b", "other", ip="10.0.0.2"))
        own = KubernetesSDConfig(role="pod", namespaces=NamespacesConfig(own_namespace=True))
        life = living(kubernetes_discovery(own, inside, tmp_path, QUICK))
        until(lambda: "not allowed (401)" in life.provider.error, within=10)
        (tmp_path / "token").write_text(TOKEN + "\n")
        life.comes_to("10.0.0.1:8000")
        assert server.complaints == []


@dataclass
class Scripted:
    """An API server of words: each answer is a page, the lines of a watch, or an error."""

    script: list[Any]
    limits: list[str] = field(default_factory=list)

    def get(self, _path: str, parameters: Mapping[str, str]) -> bytes:
        self.limits.append(parameters["limit"])
        answer = self.script.pop(0)
        if isinstance(answer, DiscoveryError):
            raise answer
        return json.dumps(answer).encode() if isinstance(answer, dict) else bytes(answer)

    def watch(self, _path: str, _parameters: Mapping[str, str]) -> Iterator[bytes]:
        answer = self.script.pop(0)
        if isinstance(answer, DiscoveryError):
            raise answer
        yield b""
        for line in answer:
            yield line if isinstance(line, bytes) else json.dumps(line).encode()


@dataclass
class Slow:
    """A clock on which every step takes no time but that of this number, which takes a minute."""

    number: int
    asked: int = 0

    def __call__(self) -> float:
        self.asked += 1
        return 60.0 * (self.asked > 2 * self.number)


def listed(*pods: Any, version: str = "1", rest: str = "") -> Any:
    return {"metadata": {"resourceVersion": version, "continue": rest}, "items": list(pods)}


A, B = pod("a"), pod("b")
GONE_EVENT = {"type": "ERROR", "object": {"code": 410, "message": "too old"}}
BAD_EVENT = {"type": "ERROR", "object": {"code": 500, "message": "etcd"}}


@pytest.mark.parametrize(
    ("script", "keys", "error"),
    [
        pytest.param([listed(A), [GONE_EVENT], listed(B)], ["llm/b"], "", id="gone within a watch"),
        pytest.param([listed(A, rest="x"), GoneError(), listed(B)], ["llm/b"], "", id="gone within a list"),
        pytest.param([listed(A), [BAD_EVENT]], ["llm/a"], "etcd", id="an error within a watch"),
        pytest.param([listed(A), [b"{nonsense"]], ["llm/a"], "no JSON", id="nonsense within a watch"),
        pytest.param([listed(A), [b"[1]"]], ["llm/a"], "no object", id="a list within a watch"),
        pytest.param([b"<html>"], [], "no JSON", id="no API server"),
        pytest.param([{"items": [A]}], ["llm/a"], "resource version", id="no version"),
        pytest.param(
            [listed(A), [{"type": "ADDED", "object": {**B, "metadata": "x"}}]], ["llm/a"], "", id="odd objects"
        ),
    ],
)
def test_whatever_a_server_says_is_survived(script: list[Any], keys: list[str], error: str) -> None:
    changed: list[str] = []
    steps = len(script)
    reflector = Reflector(PODS, Scripted(script), lambda _, key: changed.append(key), seconds=lambda: 0.0)
    for _ in range(steps):
        if script:
            reflector.step()
    assert [key for key in sorted(reflector.objects) if key] == keys
    assert error in str(reflector.error or "")


def test_a_server_that_ends_every_watch_at_once_is_asked_less_and_less_often() -> None:
    reflector = Reflector(PODS, Scripted([listed(A), [], [], []]), lambda _, __: None, seconds=lambda: 0.0)
    assert [reflector.step() for _ in range(4)] == [0, 1000, 2000, 4000]


def test_a_server_for_which_every_list_is_too_old_at_once_is_asked_less_and_less_often() -> None:
    script: list[Any] = [listed(A), GoneError()] * 3
    reflector = Reflector(PODS, Scripted(script), lambda _, __: None, seconds=lambda: 0.0)
    assert [reflector.step() for _ in range(6)] == [0, 1000, 0, 2000, 0, 4000]
    assert reflector.error is None


def test_a_list_that_never_comes_to_its_end_is_told_of() -> None:
    reflector = Reflector(PODS, Scripted([listed(A, rest="x"), GoneError()] * 2), lambda _, __: None)
    assert [reflector.step() for _ in range(2)] == [1000, 2000]
    assert reflector.has_tried
    assert "too old" in str(reflector.error)


@pytest.mark.parametrize("end", [[], [b"{cut off"], [GONE_EVENT]])
def test_after_a_watch_that_went_on_for_a_while_the_pause_is_short_again_however_it_ended(end: list[Any]) -> None:
    broken = DiscoveryError("away", reason=Reason.REQUEST)
    reflector = Reflector(PODS, Scripted([listed(A), broken, broken, end]), lambda _, __: None, seconds=Slow(3))
    assert [reflector.step() for _ in range(4)] == [0, 1000, 2000, 1000 if end else 0]


def test_where_pages_do_not_come_they_are_made_smaller_and_larger_again_where_they_do() -> None:
    """Pods with annotations of 256 KB each make a page that is too large."""
    large = DiscoveryError("body exceeds", reason=Reason.REQUEST)
    api = Scripted([large, large, large, large, listed(A), [GONE_EVENT], listed(A), [GONE_EVENT], listed(A)])
    reflector = Reflector(PODS, api, lambda _, __: None)
    while api.script:
        reflector.step()
    assert api.limits == ["250", "125", "62", "31", "30", "60", "120"]


def test_of_a_search_that_has_ended_no_other_page_is_asked_for() -> None:
    api = Scripted([listed(A, rest="x"), listed(B)])
    reflector = Reflector(PODS, api, lambda _, __: None)
    reflector.stop()
    reflector.step()
    assert len(api.script) == 1


def test_hostile_labels_and_annotations_become_names_that_are_allowed_and_nothing_too_long() -> None:
    odd = {'a"}\n{': "v", "ünï": "w", "": "x", "manifest": "m" * (LONGEST_VALUE + 1), "number": 7}
    group = pod_group(trimmed(pod("a", annotations=odd)), {})
    found = {name.removeprefix("__meta_kubernetes_pod_"): value for name, value in group.labels if "annotation" in name}
    assert found == {
        "annotation_a____": "v",
        "annotation__n_": "w",
        "annotation_": "x",
        **{f"annotationpresent_{name}": "true" for name in ("a____", "_n_", "", "manifest", "number")},
    }


def test_of_a_large_cluster_only_what_is_read_is_kept() -> None:
    """A list is gone over page by page, and a manifest in an annotation is no label."""
    numbers = range(1000)
    pods = [pod(f"p{number}", annotations={"manifest": "m" * 5000}) for number in numbers]
    pages = [listed(*pods[start : start + 250], rest="x" if start < 750 else "") for start in numbers[::250]]
    discovery = KubernetesDiscovery(
        "pod", resources("pod", (), {}, nodes=False), lambda: Scripted([*pages, GoneError()])
    )
    tracemalloc.start()
    try:
        found, _ = discovery.look()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        discovery.stop()
    assert len(found.groups) == len(numbers)
    assert kept / len(numbers) < 4_000
