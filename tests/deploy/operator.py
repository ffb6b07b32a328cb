"""
What the Prometheus Operator takes, as far as deploy/ uses it: the fields of four kinds, and no others.

Names and forms are those of the operator's API reference (v0.93). Kubernetes' own schemas do not know these kinds, so
that a field that is written wrong would be dropped by the API server without a word.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic.alias_generators import to_camel

Duration = Annotated[
    str,
    StringConstraints(
        pattern=r"^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$"
    ),
]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", max_length=63)]
LabelName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]
LabelValue = Annotated[str, StringConstraints(pattern=r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$", max_length=63)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel)


class Metadata(Strict):
    name: Name
    namespace: Name | None = None
    labels: dict[str, LabelValue] = {}
    annotations: dict[str, str] = {}


class Rule(Strict):
    alert: str | None = None
    record: str | None = None
    expr: str
    for_: Duration | None = Field(None, alias="for")
    keep_firing_for: Duration | None = Field(None, alias="keep_firing_for")
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class Group(Strict):
    name: Annotated[str, StringConstraints(min_length=1)]
    interval: Duration | None = None
    limit: int | None = None
    labels: dict[str, str] = {}
    rules: list[Rule]


class Rules(Strict):
    groups: list[Group]


class Expression(Strict):
    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: list[str] = []


class Selector(Strict):
    match_labels: dict[str, LabelValue] = {}
    match_expressions: list[Expression] = []


class NamespaceSelector(Strict):
    any: bool | None = None
    match_names: list[Name] = []


class Relabeling(Strict):
    source_labels: list[LabelName] = []
    separator: str | None = None
    target_label: str | None = None
    regex: str | None = None
    replacement: str | None = None
    action: Literal["replace", "keep", "drop", "labelmap", "labeldrop", "labelkeep", "hashmod"] | None = None


class Endpoint(Strict):
    port: str
    path: str | None = None
    scheme: Literal["http", "https"] | None = None
    interval: Duration | None = None
    scrape_timeout: Duration | None = None
    honor_labels: bool | None = None
    honor_timestamps: bool | None = None
    relabelings: list[Relabeling] = []
    metric_relabelings: list[Relabeling] = []


class ServiceMonitor(Strict):
    job_label: str | None = None
    selector: Selector
    namespace_selector: NamespaceSelector | None = None
    endpoints: list[Endpoint]


class PodMonitor(Strict):
    job_label: str | None = None
    selector: Selector
    namespace_selector: NamespaceSelector | None = None
    pod_metrics_endpoints: list[Endpoint]


class Matcher(Strict):
    name: Annotated[str, StringConstraints(min_length=1)]
    value: str | None = None
    match_type: Literal["=", "!=", "=~", "!~"] | None = None


class Route(Strict):
    receiver: str
    group_by: list[str] = []
    group_wait: Duration | None = None
    group_interval: Duration | None = None
    repeat_interval: Duration | None = None
    matchers: list[Matcher] = []
    continue_: bool | None = Field(None, alias="continue")
    routes: list["Route"] = []


class SecretKey(Strict):
    name: str
    key: str
    optional: bool | None = None


class Authorization(Strict):
    type: str | None = None
    credentials: SecretKey | None = None


class HttpConfig(Strict):
    authorization: Authorization | None = None


class Webhook(Strict):
    url: Annotated[str, StringConstraints(pattern=r"^https?://.+$")] | None = None
    url_secret: SecretKey | None = None
    send_resolved: bool | None = None
    max_alerts: int | None = None
    http_config: HttpConfig | None = None


class Receiver(Strict):
    name: Annotated[str, StringConstraints(min_length=1)]
    webhook_configs: list[Webhook] = []


class InhibitRule(Strict):
    source_match: list[Matcher]
    target_match: list[Matcher]
    equal: list[str] = []


class AlertmanagerConfig(Strict):
    route: Route
    receivers: list[Receiver]
    inhibit_rules: list[InhibitRule] = []


KINDS: Mapping[tuple[str, str], type[Strict]] = {
    ("monitoring.coreos.com/v1", "PrometheusRule"): Rules,
    ("monitoring.coreos.com/v1", "ServiceMonitor"): ServiceMonitor,
    ("monitoring.coreos.com/v1", "PodMonitor"): PodMonitor,
    ("monitoring.coreos.com/v1alpha1", "AlertmanagerConfig"): AlertmanagerConfig,
}


def is_operators(one: Mapping[str, Any]) -> bool:
    return str(one["apiVersion"]).startswith("monitoring.coreos.com/")


def operator_says(objects: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what is wrong with objects of the operator."""
    return [f"{one['kind']} {one['metadata']['name']}: {what}" for one in objects for what in _problems(one)]


def _problems(one: Mapping[str, Any]) -> list[str]:
    kind = KINDS.get((one["apiVersion"], one["kind"]))
    if kind is None:
        return [f"no such kind in {one['apiVersion']}"]
    surplus = sorted(one.keys() - {"apiVersion", "kind", "metadata", "spec"})
    found = [f"{key}: not a field" for key in surplus]
    for part, model in (("metadata", Metadata), ("spec", kind)):
        try:
            model.model_validate(one.get(part))
        except ValidationError as err:
            found += [f"{'.'.join(map(str, (part, *each['loc'])))}: {each['msg']}" for each in err.errors()]
    return found
