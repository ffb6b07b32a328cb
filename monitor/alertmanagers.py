"""
Which Alertmanagers there are: those that are named, and those that are found like targets.

reference: Prometheus 3.5, notifier/alertmanager.go (AlertmanagerFromGroup).
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from monitor.config.alerting import AlertmanagerConfig
from monitor.config.discovering import DnsSDConfig, FileSDConfig, HttpSDConfig, KubernetesSDConfig
from monitor.discoveries import RETRY, discovery_of
from monitor.discovery.provider import Listener, Provider
from monitor.model.labels import Labels
from monitor.model.relabel import relabel
from monitor.model.targetgroup import TargetGroup

ADDRESS, SCHEME, PATH = "__address__", "__scheme__", "__alerts_path__"
_API = "/api/v2/alerts"
_JOB = "alertmanagers"
_Section = FileSDConfig | HttpSDConfig | DnsSDConfig | KubernetesSDConfig


class Place(NamedTuple):
    """One Alertmanager: the section that says how it is reached, and where its alerts are posted."""

    config: AlertmanagerConfig
    scheme: str
    address: str
    path: str

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.address}{self.path}"

    @property
    def name(self) -> str:
        """What it is called in metrics and in the log."""
        return self.address + self.path.removesuffix(_API)


class Alertmanagers:
    """Those of the configuration, over reloads. `changed` is called from another thread when others were found."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._listener = Listener(changed)
        self._providers: dict[AlertmanagerConfig, tuple[Provider, ...]] = {}

    def begin(self, configs: Iterable[AlertmanagerConfig]) -> None:
        """Go over to other sections; one that stays goes on with what it has found. Nothing is waited for."""
        old = self._providers
        self._providers = {
            config: old[config] if config in old else tuple(_providers(config, self._listener)) for config in configs
        }
        for config in old.keys() - self._providers.keys():
            for provider in old[config]:
                provider.stop()
        for providers in self._providers.values():
            for provider in providers:
                provider.start()

    def places(self) -> set[Place]:
        """Return those that are known now."""
        return {
            place
            for config, providers in self._providers.items()
            for group in (*_static(config), *(group for provider in providers for group in provider.groups))
            for labels in group.targets
            if (place := _place(config, group.labels, labels)) is not None
        }


def _static(config: AlertmanagerConfig) -> Iterator[TargetGroup]:
    for number, group in enumerate(config.static_configs):
        targets = tuple(Labels.of({ADDRESS: address}) for address in group.targets)
        yield TargetGroup(f"static/{number}", targets, group.labels)


def _place(config: AlertmanagerConfig, shared: Labels, own: Labels) -> Place | None:
    """Return where one is that was found, None when a rule drops it or it has no address."""
    labels = {SCHEME: config.scheme, PATH: config.path_prefix.rstrip("/") + _API, **dict(shared), **dict(own)}
    if not relabel(labels, (rule.built() for rule in config.relabel_configs)) or not labels.get(ADDRESS):
        return None
    return Place(config, labels.get(SCHEME) or config.scheme, labels[ADDRESS], "/" + labels.get(PATH, "").lstrip("/"))


def _providers(config: AlertmanagerConfig, listener: Listener) -> Iterator[Provider]:
    kinds: dict[str, tuple[_Section, ...]] = {
        "file": config.file_sd_configs,
        "http": config.http_sd_configs,
        "dns": config.dns_sd_configs,
        "kubernetes": config.kubernetes_sd_configs,
    }
    for mechanism, sections in kinds.items():
        for section in sections:
            yield Provider(_JOB, mechanism, discovery_of(section), listener, RETRY)
