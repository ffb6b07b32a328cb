"""How the targets of a job are scraped, in the words of Prometheus' scrape_config."""

from dataclasses import dataclass, field
from enum import StrEnum

from monitor.model.instant import MINUTE, SECOND, Duration
from monitor.model.relabel import RelabelConfig
from monitor.scrape.labels import NO_LIMITS, LabelLimits

MEBIBYTE = 1024 * 1024


class ScrapeProtocol(StrEnum):
    """What to take a page for whose Content-Type says nothing useful."""

    PROMETHEUS_TEXT_0_0_4 = "PrometheusText0.0.4"
    PROMETHEUS_TEXT_1_0_0 = "PrometheusText1.0.0"
    OPENMETRICS_TEXT_0_0_1 = "OpenMetricsText0.0.1"
    OPENMETRICS_TEXT_1_0_0 = "OpenMetricsText1.0.0"


@dataclass(frozen=True, slots=True)
class Authorization:
    """The Authorization header; the credentials stand here or in a file, which is read for every scrape."""

    type: str = "Bearer"
    credentials: str = field(default="", repr=False)
    credentials_file: str = ""


@dataclass(frozen=True, slots=True)
class BasicAuth:
    """User and password; the password stands here or in a file, which is read for every scrape."""

    username: str = ""
    password: str = field(default="", repr=False)
    password_file: str = ""


@dataclass(frozen=True, slots=True)
class TlsConfig:
    """Files in PEM; `server_name` is the name the certificate must have, where it is not that of the URL."""

    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    server_name: str = ""
    insecure_skip_verify: bool = False


@dataclass(frozen=True, slots=True)
class ScrapeOptions:
    """
    One job's settings; durations in milliseconds, sizes in bytes, 0 is no limit.

    Servers under load took up to 2.3 s to answer, hence the timeout.
    """

    scrape_interval: Duration = MINUTE
    scrape_timeout: Duration = 5 * SECOND
    honor_labels: bool = False
    honor_timestamps: bool = True
    body_size_limit: int = 10 * MEBIBYTE
    sample_limit: int = 0
    label_limits: LabelLimits = NO_LIMITS
    authorization: Authorization | None = None
    basic_auth: BasicAuth | None = None
    tls_config: TlsConfig | None = None
    follow_redirects: bool = True
    fallback_scrape_protocol: ScrapeProtocol | None = None
    metric_relabel_configs: tuple[RelabelConfig, ...] = ()
    proxy_from_environment: bool = False

    @property
    def has_credentials(self) -> bool:
        """Whether a request shows something that only this target may see."""
        certificate = self.tls_config is not None and bool(self.tls_config.cert_file)
        return self.authorization is not None or self.basic_auth is not None or certificate
