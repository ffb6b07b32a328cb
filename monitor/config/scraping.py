"""What is scraped, and how: `scrape_configs` in Prometheus' words."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Self

from pydantic import Field, PlainValidator

from monitor.config import not_yet
from monitor.config.fields import FilePath, PositiveDuration, SecretText, TargetAddress, UrlPath, one_of
from monitor.config.general import SCRAPE_INTERVAL, SCRAPE_TIMEOUT, GlobalConfig
from monitor.config.probing import ProbeConfig
from monitor.model.labels import EMPTY
from monitor.yamldoc.kinds import Boolean, Count, LabelSet, Size, Text
from monitor.yamldoc.section import Section

BODY_SIZE_LIMIT = 10 * 1024 * 1024
PROTOCOLS = ("PrometheusText0.0.4", "PrometheusText1.0.0", "OpenMetricsText0.0.1", "OpenMetricsText1.0.0")


class Authorization(Section):
    """The Authorization header: a scheme and what proves it."""

    not_yet: ClassVar[dict[str, str]] = not_yet.AUTHORIZATION

    type: Text = "Bearer"
    credentials: SecretText | None = None
    credentials_file: FilePath | None = None

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.type.lower() == "basic":
            yield "type", 'the type cannot be "Basic": use basic_auth'
        if self.credentials and self.credentials_file:
            yield "credentials_file", "at most one of credentials and credentials_file can be set"


class BasicAuth(Section):
    not_yet: ClassVar[dict[str, str]] = not_yet.BASIC_AUTH

    username: Text = ""
    password: SecretText | None = None
    password_file: FilePath | None = None

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.password and self.password_file:
            yield "password_file", "at most one of password and password_file can be set"


class TLSConfig(Section):
    not_yet: ClassVar[dict[str, str]] = not_yet.TLS_CONFIG

    ca_file: FilePath | None = None
    cert_file: FilePath | None = None
    key_file: FilePath | None = None
    server_name: Text = ""
    insecure_skip_verify: Boolean = False

    def problems(self) -> Iterator[tuple[str, str]]:
        if (self.cert_file is None) != (self.key_file is None):
            missing = "key_file" if self.key_file is None else "cert_file"
            yield missing, f"a client certificate needs cert_file and key_file: {missing} is not set"


class StaticConfig(Section):
    """Targets as `host:port`, and the labels that all of them get."""

    targets: tuple[TargetAddress, ...] = ()
    labels: LabelSet = EMPTY

    def problems(self) -> Iterator[tuple[str, str]]:
        for name, _ in self.labels:
            if name.startswith("__"):
                yield "labels", f'labels that begin with "__" are not supported yet: {name}'


class ScrapeConfig(Section):
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
    authorization: Authorization | None = None
    basic_auth: BasicAuth | None = None
    tls_config: TLSConfig = TLSConfig()
    follow_redirects: Boolean = True
    fallback_scrape_protocol: Annotated[str, PlainValidator(one_of(*PROTOCOLS))] = ""
    probe: ProbeConfig = ProbeConfig()
    static_configs: tuple[StaticConfig, ...] = ()

    def problems(self) -> Iterator[tuple[str, str]]:
        if not self.job_name:
            yield "job_name", '"job_name" must not be empty'
        if self.authorization and self.basic_auth:
            yield "basic_auth", "at most one of basic_auth and authorization can be set"

    def filled(self, global_: GlobalConfig) -> Self:
        """Return a copy that has the durations of `global_` where it has none of its own."""
        given = self.model_fields_set
        interval = self.scrape_interval if "scrape_interval" in given else global_.scrape_interval
        timeout = self.scrape_timeout if "scrape_timeout" in given else min(global_.scrape_timeout, interval)
        return self.model_copy(update={"scrape_interval": interval, "scrape_timeout": timeout})
