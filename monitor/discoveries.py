"""From the `…_sd_configs` of a job to what finds its targets; and all of them at work."""

from collections.abc import Iterable, Iterator

from monitor.clock import monotonic_seconds
from monitor.config.discovering import DnsSDConfig, FileSDConfig, HttpSDConfig, KubernetesSDConfig
from monitor.config.scraping import ScrapeConfig
from monitor.discovery.dns import Dns, DnsDiscovery
from monitor.discovery.errors import DiscoveryError, Reason
from monitor.discovery.file import FileDiscovery
from monitor.discovery.http import Answer, Get, HttpDiscovery, headers
from monitor.discovery.provider import Discovery, Listener, Provider
from monitor.jobs import client_options
from monitor.model.instant import SECOND, Duration, to_seconds
from monitor.scrape.errors import ScrapeError
from monitor.scrape.fetch import Fetcher
from monitor.yamldoc.section import Section

# How long a server that lists targets may take, and how much it may say.
TIMEOUT: Duration = 30 * SECOND
LARGEST_BODY = 4 * 1024 * 1024
# After a look that failed as a whole the next one does not wait for longer than this.
RETRY: Duration = 10 * SECOND

_Section = FileSDConfig | HttpSDConfig | DnsSDConfig | KubernetesSDConfig
# A job, how one of its discoveries is set up, and how many before it are set up in the same way.
_Key = tuple[str, _Section, int]


class Discoveries:
    """
    What finds the targets of all configurations: a discovery that two of them have goes on, with what it has found.

    `listener` hears of all of them; it may be set until the first one begins.
    """

    def __init__(self) -> None:
        self.listener = Listener()
        self._providers: dict[_Key, Provider] = {}

    def providers_of(self, job: ScrapeConfig) -> tuple[Provider, ...]:
        """Return what finds the targets of a job; nothing begins yet."""
        return tuple(self._provider(key) for key in _keys(job))

    def begin(self, jobs: Iterable[ScrapeConfig], patience: Duration) -> None:
        """Begin to look for the targets of `jobs`, and wait for the first answers, but no longer than `patience`."""
        providers = [self._provider(key) for job in jobs for key in _keys(job)]
        for provider in providers:
            provider.start()
        until = monotonic_seconds() + to_seconds(patience)
        for provider in providers:
            provider.answered.wait(max(0.0, until - monotonic_seconds()))

    def keep_only(self, jobs: Iterable[ScrapeConfig]) -> set[tuple[str, str]]:
        """End all discoveries but those of `jobs`; returns the jobs and mechanisms that there are none of any more."""
        kept = {key for job in jobs for key in _keys(job)}
        gone = [self._providers.pop(key) for key in self._providers.keys() - kept]
        for provider in gone:
            provider.stop()
        left = {(provider.job, provider.mechanism) for provider in self._providers.values()}
        return {(provider.job, provider.mechanism) for provider in gone} - left

    def _provider(self, key: _Key) -> Provider:
        if key not in self._providers:
            job, section, _ = key
            # A cluster looks after its own pauses.
            retry = RETRY if isinstance(section, KubernetesSDConfig) else min(RETRY, section.refresh_interval)
            mechanism = _MECHANISMS[type(section)]
            self._providers[key] = Provider(job, mechanism, discovery_of(section), self.listener, retry)
        return self._providers[key]


def _keys(job: ScrapeConfig) -> Iterator[_Key]:
    kinds: tuple[tuple[_Section, ...], ...] = (
        job.file_sd_configs,
        job.http_sd_configs,
        job.dns_sd_configs,
        job.kubernetes_sd_configs,
    )
    for sections in kinds:
        for number, section in enumerate(sections):
            # Not its place: another one that is put before it makes it no other.
            yield job.job_name, section, sections[:number].count(section)


_MECHANISMS: dict[type[Section], str] = {
    FileSDConfig: "file",
    HttpSDConfig: "http",
    DnsSDConfig: "dns",
    KubernetesSDConfig: "kubernetes",
}


def discovery_of(section: _Section) -> Discovery:
    """Return what looks as a section says. Raises nothing: what is wrong shows when it looks."""
    match section:
        case FileSDConfig():
            return FileDiscovery(section.files, section.refresh_interval)
        case HttpSDConfig():
            return HttpDiscovery(section.url, section.refresh_interval, _get(section))
        case DnsSDConfig():
            return DnsDiscovery(section.names, section.type, section.port, section.refresh_interval, Dns())
        case KubernetesSDConfig():
            from monitor.clusters import kubernetes_discovery

            return kubernetes_discovery(section)


def _get(section: HttpSDConfig) -> Get:
    options = client_options(section, TIMEOUT, LARGEST_BODY)
    fetch = Fetcher(section.url, options, headers=headers(section.refresh_interval))

    def get() -> Answer:
        try:
            answer = fetch()
        except ScrapeError as err:
            raise DiscoveryError(str(err), reason=Reason.REQUEST) from err
        return Answer(answer.body, answer.content_type)

    return get
