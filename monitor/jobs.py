"""From a job of the configuration to its targets, and how they are scraped and probed."""

from collections.abc import Iterator
from pathlib import Path

from monitor.config.clients import HttpClientConfig, TLSConfig
from monitor.config.probing import CanaryConfig, ExposureConfig, OftenConfig, SeldomConfig
from monitor.config.scraping import ScrapeConfig
from monitor.config.secret import revealed
from monitor.discovery.populate import ADDRESS, JobSettings, populate
from monitor.model.instant import Duration
from monitor.model.labels import Labels
from monitor.model.target import Target
from monitor.model.targetgroup import TargetGroup
from monitor.probe.options import CanaryOptions, ProbeOptions
from monitor.scrape.labels import LabelLimits
from monitor.scrape.options import Authorization, BasicAuth, ScrapeOptions, ScrapeProtocol, TlsConfig


def settings_of(job: ScrapeConfig) -> JobSettings:
    """Return what a job says of its targets."""
    return JobSettings(
        job_name=job.job_name,
        scrape_interval=job.scrape_interval,
        scrape_timeout=job.scrape_timeout,
        metrics_path=job.metrics_path,
        scheme=job.scheme,
        params=tuple(job.params.items()),
        relabel_configs=tuple(rule.built() for rule in job.relabel_configs),
    )


def static_groups(job: ScrapeConfig) -> tuple[TargetGroup, ...]:
    """Return the targets that the configuration names."""
    return tuple(
        TargetGroup(f"static/{number}", tuple(Labels.of({ADDRESS: address}) for address in group.targets), group.labels)
        for number, group in enumerate(job.static_configs)
    )


def targets_of(job: ScrapeConfig) -> Iterator[Target]:
    """Yield the targets of a job that the configuration names, as relabelling leaves them."""
    for found in populate(static_groups(job), settings_of(job)):
        if found.target is not None:
            yield found.target


def options_of(job: ScrapeConfig) -> ScrapeOptions:
    """Return how the targets of a job are scraped."""
    protocol = job.fallback_scrape_protocol
    return ScrapeOptions(
        scrape_interval=job.scrape_interval,
        scrape_timeout=job.scrape_timeout,
        honor_labels=job.honor_labels,
        honor_timestamps=job.honor_timestamps,
        body_size_limit=job.body_size_limit,
        sample_limit=job.sample_limit,
        label_limits=LabelLimits(job.label_limit, job.label_name_length_limit, job.label_value_length_limit),
        authorization=_authorization(job),
        basic_auth=_basic_auth(job),
        tls_config=_tls(job.tls_config),
        follow_redirects=job.follow_redirects,
        fallback_scrape_protocol=ScrapeProtocol(protocol) if protocol else None,
        metric_relabel_configs=tuple(rule.built() for rule in job.metric_relabel_configs),
    )


def client_options(given: HttpClientConfig, timeout: Duration, body_size_limit: int) -> ScrapeOptions:
    """Return how a server that lists targets is asked; it is shown what a target is shown."""
    return ScrapeOptions(
        scrape_timeout=timeout,
        body_size_limit=body_size_limit,
        authorization=_authorization(given),
        basic_auth=_basic_auth(given),
        tls_config=_tls(given.tls_config),
        follow_redirects=given.follow_redirects,
    )


def probe_options_of(job: ScrapeConfig) -> ProbeOptions | None:
    """Return how the targets of a job are probed, None when they are not."""
    given = job.probe
    if not given.enabled:
        return None
    return ProbeOptions(
        scrape=options_of(job),
        timeout=given.timeout or job.scrape_timeout,
        health=_every(given.health),
        load=_every(given.load),
        version=_every(given.version),
        models=_every(given.models),
        exposure=_every(given.exposure) if given.exposure.paths else None,
        paths=given.exposure.paths,
        canary=_canary(given.canary),
    )


def _every(given: OftenConfig | SeldomConfig | ExposureConfig) -> Duration | None:
    return (given.interval or 0) if given.enabled else None


def _canary(given: CanaryConfig) -> CanaryOptions | None:
    return CanaryOptions(given.interval, given.timeout, given.model) if given.enabled else None


def _authorization(job: HttpClientConfig) -> Authorization | None:
    given = job.authorization
    if given is None:
        return None
    return Authorization(given.type, revealed(given.credentials), _path(given.credentials_file))


def _basic_auth(job: HttpClientConfig) -> BasicAuth | None:
    given = job.basic_auth
    if given is None:
        return None
    return BasicAuth(given.username, revealed(given.password), _path(given.password_file))


def _tls(given: TLSConfig) -> TlsConfig:
    return TlsConfig(
        _path(given.ca_file),
        _path(given.cert_file),
        _path(given.key_file),
        given.server_name,
        given.insecure_skip_verify,
    )


def _path(path: Path | None) -> str:
    return str(path) if path is not None else ""
