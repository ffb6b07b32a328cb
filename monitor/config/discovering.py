"""Where targets are found, and what relabelling makes of them: `…_sd_configs` and `relabel_configs`."""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import PlainValidator, ValidationInfo

from monitor.config import not_yet
from monitor.config.clients import HttpClientConfig
from monitor.config.fields import PositiveDuration, Url, file_path, one_of
from monitor.discovery.dns import TYPES
from monitor.model import relabel
from monitor.model.instant import MINUTE, SECOND
from monitor.yamldoc.kinds import Boolean, Count, Pattern, Text, text
from monitor.yamldoc.mistake import shown
from monitor.yamldoc.section import Section

# reference: Prometheus 3, discovery/file/file.go patFileSDName.
_FILE_NAME = re.compile(r"[^*]*(\*[^/]*)?\.(json|yml|yaml|JSON|YML|YAML)")
ROLES = ("pod", "service", "endpoints", "endpointslice", "node")
# Which kinds of objects a role looks at.
READS = {
    "pod": ("pod", "node"),
    "service": ("service",),
    "endpoints": ("endpoints", "pod", "service", "node"),
    "endpointslice": ("endpointslice", "pod", "service", "node"),
    "node": ("node",),
}
_UPPER = dict(zip(map(str.lower, TYPES), TYPES, strict=True))


def _pattern(value: Any, info: ValidationInfo) -> str:
    """Return the path of a file of targets, or a pattern for several."""
    written = text(value)
    if _FILE_NAME.fullmatch(written) is None:
        hint = 'write a name that ends in .json, .yml or .yaml, with "*" only behind the last "/"'
        raise ValueError(f"{shown(written)} is not a file of targets ({hint})")
    return str(file_path(value, info))


def _action(value: Any) -> relabel.Action:
    if isinstance(value, relabel.Action):
        return value
    return relabel.Action(one_of(*relabel.Action)(text(value).lower()))


def _record_type(value: Any) -> str:
    written = text(value)
    return _UPPER[one_of(*_UPPER)(written.lower())]


def _no_user(key: str, url: str) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a URL that holds a password: it would stand in labels, which everybody sees."""
    if "@" in urlsplit(url).netloc:
        yield key, "a user name and password in a URL are not supported: use basic_auth"


class RelabelSection(Section):
    """One rule of `relabel_configs` or `metric_relabel_configs`."""

    action: Annotated[relabel.Action, PlainValidator(_action)] = relabel.Action.REPLACE
    source_labels: tuple[Text, ...] = ()
    separator: Text = relabel.SEPARATOR
    target_label: Text = ""
    regex: Pattern = relabel.ANYTHING
    modulus: Count = 0
    replacement: Text = relabel.WHOLE

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from relabel.problems(self.built())

    def built(self) -> relabel.RelabelConfig:
        return relabel.RelabelConfig(**{name: getattr(self, name) for name in type(self).model_fields})


class FileSDConfig(Section):
    """Targets in files, which are watched; and read again every `refresh_interval` in any case."""

    files: tuple[Annotated[str, PlainValidator(_pattern)], ...]
    refresh_interval: PositiveDuration = 5 * MINUTE

    def problems(self) -> Iterator[tuple[str, str]]:
        if not self.files:
            yield "files", "at least one file must be named"


class HttpSDConfig(HttpClientConfig):
    """Targets that a server lists."""

    not_yet: ClassVar[dict[str, str]] = not_yet.HTTP_CLIENT

    url: Url
    refresh_interval: PositiveDuration = MINUTE

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        yield from _no_user("url", self.url)


class DnsSDConfig(Section):
    """Targets by name in the DNS; `port` is that of all, but for SRV records, which have their own."""

    names: tuple[Text, ...]
    type: Annotated[str, PlainValidator(_record_type)] = "SRV"
    port: Count = 0
    refresh_interval: PositiveDuration = 30 * SECOND

    def problems(self) -> Iterator[tuple[str, str]]:
        if not self.names:
            yield "names", "at least one name must be given"
        if self.type != "SRV" and not self.port:
            yield "port", "a port is needed for all types but SRV"
        if find_spec("dns") is None:
            yield "names", "the DNS needs dnspython: install vllm-monitor[dns]"


class NamespacesConfig(Section):
    """Where to look; without any, everywhere."""

    own_namespace: Boolean = False
    names: tuple[Text, ...] = ()


class SelectorConfig(Section):
    """What the API server is to leave out."""

    role: Annotated[str, PlainValidator(one_of(*ROLES))]
    label: Text = ""
    field: Text = ""


class AttachMetadataConfig(Section):
    node: Boolean = False


class KubernetesSDConfig(HttpClientConfig):
    """Targets in a Kubernetes cluster; without `api_server` in the one that the daemon runs in."""

    not_yet: ClassVar[dict[str, str]] = not_yet.KUBERNETES_SD_CONFIG

    role: Annotated[str, PlainValidator(one_of(*ROLES))]
    api_server: Url = ""
    namespaces: NamespacesConfig = NamespacesConfig()
    selectors: tuple[SelectorConfig, ...] = ()
    attach_metadata: AttachMetadataConfig = AttachMetadataConfig()

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        yield from _no_user("api_server", self.api_server)
        roles = [selector.role for selector in self.selectors]
        for role in roles:
            if role not in READS[self.role]:
                yield (
                    "selectors",
                    f"role {self.role} reads no {role}: a selector may be for {', '.join(READS[self.role])}",
                )
        if len({*roles}) < len(roles):
            yield "selectors", "more than one selector for the same role"
        if not self.api_server and (self.authorization or self.basic_auth or self.tls_config.ca_file):
            yield "api_server", "api_server must be set: within a cluster its service account is what is shown"
