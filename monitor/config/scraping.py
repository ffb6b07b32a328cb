"""What is scraped, and how: `scrape_configs` in Prometheus' words."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Self

from pydantic import Field, PlainValidator

from monitor.config import not_yet
from monitor.config.clients import HttpClientConfig
from monitor.config.discovering import (
    DnsSDConfig,
    FileSDConfig,
    HttpSDConfig,
    KubernetesSDConfig,
    RelabelSection,
)
from monitor.config.fields import PositiveDuration, TargetAddress, UrlPath, one_of
from monitor.config.general import SCRAPE_INTERVAL, SCRAPE_TIMEOUT, GlobalConfig
from monitor.config.probing import ProbeConfig
from monitor.model.labels import EMPTY
from monitor.yamldoc.kinds import Boolean, Count, LabelSet, Size, Text
from monitor.yamldoc.section import Section

BODY_SIZE_LIMIT = 10 * 1024 * 1024
PROTOCOLS = ("PrometheusText0.0.4", "PrometheusText1.0.0", "OpenMetricsText0.0.1", "OpenMetricsText1.0.0")


class StaticConfig(Section):
    """Targets as `host:port`, and the labels that all of them get."""

    targets: tuple[TargetAddress, ...] = ()
    labels: LabelSet = EMPTY


class ScrapeConfig(HttpClientConfig):
    """One job. Durations are milliseconds, sizes bytes; a limit of 0 is no limit."""

    not_yet: ClassVar[dict[str, str]] = not_yet.SCRAPE_CONFIG

    job_name: Text
    scrape_interval: PositiveDuration = SCRAPE_INTERVAL
    scrape_timeout: PositiveDuration = SCRAPE_TIMEOUT
    metrics_path: UrlPath = "/metrics"
    scheme: Annotated[str, PlainValidator(one_of("http", "https"))] = "http"
    params: dict[Text, tuple[Text, ...]] = Field(default_factory=dict)
    honor_labels: Boolean = False
    honor_timestamps: Boolean = True
    body_size_limit: Size = BODY_SIZE_LIMIT
    sample_limit: Count = 0
    label_limit: Count = 0
    label_name_length_limit: Count = 0
    label_value_length_limit: Count = 0
    fallback_scrape_protocol: Annotated[str, PlainValidator(one_of(*PROTOCOLS))] = ""
    probe: ProbeConfig = ProbeConfig()
    static_configs: tuple[StaticConfig, ...] = ()
    file_sd_configs: tuple[FileSDConfig, ...] = ()
    http_sd_configs: tuple[HttpSDConfig, ...] = ()
    dns_sd_configs: tuple[DnsSDConfig, ...] = ()
    kubernetes_sd_configs: tuple[KubernetesSDConfig, ...] = ()
    relabel_configs: tuple[RelabelSection, ...] = ()
    metric_relabel_configs: tuple[RelabelSection, ...] = ()

    @property
    def discovers(self) -> bool:
        """Whether targets are found in other ways than by their names in the configuration."""
        return bool(self.file_sd_configs or self.http_sd_configs or self.dns_sd_configs or self.kubernetes_sd_configs)

    def problems(self) -> Iterator[tuple[str, str]]:
        if not self.job_name:
            yield "job_name", '"job_name" must not be empty'
        yield from super().problems()

    def filled(self, global_: GlobalConfig) -> Self:
        """Return a copy that has the durations of `global_` where it has none of its own."""
        given = self.model_fields_set
        interval = self.scrape_interval if "scrape_interval" in given else global_.scrape_interval
        timeout = self.scrape_timeout if "scrape_timeout" in given else min(global_.scrape_timeout, interval)
        return self.model_copy(update={"scrape_interval": interval, "scrape_timeout": timeout})
