"""Alertmanagers: those that our alerts are sent to, in Prometheus' words, and those that post theirs to us."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import PlainValidator

from monitor.config import not_yet
from monitor.config.clients import Authorization, BasicAuth
from monitor.config.discovering import DnsSDConfig, FileSDConfig, HttpSDConfig, KubernetesSDConfig, RelabelSection
from monitor.config.fields import PositiveDuration, UrlPath, one_of, url
from monitor.config.httpclient import HttpConfig
from monitor.config.scraping import StaticConfig
from monitor.model.instant import HOUR, SECOND
from monitor.notify import http
from monitor.yamldoc.kinds import Text
from monitor.yamldoc.section import Section


class ReceivedConfig(Section):
    """
    What Alertmanagers post to `/alertmanager`: what they must show, and which receiver is told when they name none.

    What nobody has spoken of for `resolve_after` counts as over. `alertmanager_url` is where an Alertmanager that gives
    no `source` is asked in turn, as `http_config` says; "" is where it says itself that it is reached, and one that
    gives a source is always asked there. Durations are milliseconds.
    """

    receiver: Text = ""
    authorization: Authorization | None = None
    basic_auth: BasicAuth | None = None
    resolve_after: PositiveDuration = 12 * HOUR
    alertmanager_url: Annotated[str, PlainValidator(url)] = ""
    http_config: HttpConfig = HttpConfig()
    timeout: PositiveDuration = 10 * SECOND

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.authorization and self.basic_auth:
            yield "basic_auth", "at most one of basic_auth and authorization can be set"
        if not self.alertmanager_url and self.http_config.options(SECOND).authorization is not None:
            yield "http_config", "the credentials of http_config are for nobody: set alertmanager_url"

    @property
    def shown(self) -> http.Authorization | None:
        """What whoever posts must show, None when it is nothing."""
        shown = HttpConfig(authorization=self.authorization, basic_auth=self.basic_auth)
        return shown.options(SECOND).authorization


class AlertmanagerConfig(HttpConfig):
    """Alertmanagers that are reached in the same way; each that is named or found gets all alerts."""

    not_yet: ClassVar[dict[str, str]] = not_yet.ALERTMANAGER

    static_configs: tuple[StaticConfig, ...] = ()
    file_sd_configs: tuple[FileSDConfig, ...] = ()
    http_sd_configs: tuple[HttpSDConfig, ...] = ()
    dns_sd_configs: tuple[DnsSDConfig, ...] = ()
    kubernetes_sd_configs: tuple[KubernetesSDConfig, ...] = ()
    relabel_configs: tuple[RelabelSection, ...] = ()
    scheme: Annotated[str, PlainValidator(one_of("http", "https"))] = "http"
    path_prefix: UrlPath = "/"
    timeout: PositiveDuration = 10 * SECOND
    api_version: Annotated[str, PlainValidator(one_of("v2"))] = "v2"


class AlertingConfig(Section):
    """The section `alerting`."""

    alertmanagers: tuple[AlertmanagerConfig, ...] = ()
    alert_relabel_configs: tuple[RelabelSection, ...] = ()
    webhook: ReceivedConfig = ReceivedConfig()
