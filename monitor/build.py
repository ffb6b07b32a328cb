"""From a configuration to the parts it describes. Builds only; nothing is started, and nothing at work is touched."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from monitor.clock import Clock, monotonic_seconds
from monitor.config.config import Config
from monitor.config.receiving import ReceiverConfig, SlackConfig
from monitor.config.scraping import ScrapeConfig, TLSConfig
from monitor.config.secret import Secret as ConfigSecret
from monitor.dispatch.dispatcher import Dispatcher, Integration
from monitor.dispatch.notification import Notifier
from monitor.embedded import EmbeddedQuery, WindowAppender, longest_reach, wanted_names
from monitor.expressions import check_expr, check_template
from monitor.journal import Journal
from monitor.metrics import Metrics
from monitor.model.labels import INSTANCE, JOB, Labels
from monitor.model.target import Target
from monitor.notify.lane import Attempt
from monitor.notify.outbox import Outbox
from monitor.notify.slack.bot import SlackBot
from monitor.notify.slack.secret import Secret
from monitor.notify.slack.webhook import SlackWebhook
from monitor.ownseries import OwnSeries
from monitor.pipeline import Pipeline
from monitor.promql import Engine
from monitor.rules.context import Context
from monitor.rules.manager import Manager
from monitor.rules.rulefmt import read_rules
from monitor.rules.spec import RuleGroup
from monitor.scrape.fetch import Fetcher
from monitor.scrape.labels import LabelLimits
from monitor.scrape.options import Authorization, BasicAuth, ScrapeOptions, ScrapeProtocol, TlsConfig
from monitor.scrape.target import ScrapeLoop
from monitor.shipped import rules_folder
from monitor.storage.window import Window

if TYPE_CHECKING:
    from rich.console import Console

TargetKey = tuple[Target, ScrapeOptions]


@dataclass(frozen=True)
class Parts:
    """What a configuration describes; each part is at rest."""

    config: Config
    loops: Mapping[TargetKey, ScrapeLoop]
    manager: Manager
    appender: WindowAppender
    integrations: Mapping[str, Sequence[Integration]]
    notifiers: Mapping[str, Notifier]
    expressions: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Builder:
    """What every configuration is built on; `build` and `assemble` belong together."""

    clock: Clock
    window: Window
    metrics: Metrics

    def build(self, config: Config, old: Parts | None = None, console: "Console | None" = None) -> Parts:
        """
        Return the parts; a target that `old` scrapes in the same way goes on as it is.

        `console` is where a console receiver prints, if not on standard output. Raises DocumentError when a rule file
        is wrong.
        """
        specs = rule_groups(config)
        expressions = tuple(rule.expr for spec in specs for rule in spec.rules)
        # reference: Prometheus 3, docs/querying/basics.md: the step of a subquery that names none.
        query = EmbeddedQuery(Engine(self.window, default_subquery_step=config.global_.evaluation_interval))
        appender = WindowAppender(self.window) if old is None else old.appender
        context = Context(query, appender, config.global_.external_labels, config.web.external_url)
        integrations, notifiers = _receivers(config, console)
        return Parts(
            config,
            self._loops(config, old.loops if old is not None else {}),
            Manager(specs, context, config.global_.evaluation_interval, monotonic_seconds),
            appender,
            integrations,
            notifiers,
            expressions,
        )

    def assemble(
        self,
        parts: Parts,
        dispatcher: Dispatcher,
        report: Callable[[Attempt], None],
        journal: Journal | None = None,
        own: OwnSeries | None = None,
    ) -> Pipeline:
        """
        Return the pipeline of `parts`; from here on the window keeps what their rules read, and for how long.

        Without a journal nothing outlives the process; without `own` rules cannot read the daemon's own metrics.
        """
        self.window.retention = max(parts.config.storage.retention, longest_reach(parts.expressions))
        wanted = wanted_names(parts.expressions)
        for loop in parts.loops.values():
            loop.wanted = wanted
        return Pipeline(
            self.clock,
            self.window,
            tuple(parts.loops.values()),
            parts.manager,
            dispatcher,
            Outbox(parts.notifiers, report, journal),
            self.metrics,
            journal,
            own.writer(parts.appender, wanted) if own is not None else lambda _: None,
        )

    def _loops(self, config: Config, old: Mapping[TargetKey, ScrapeLoop]) -> dict[TargetKey, ScrapeLoop]:
        loops: dict[TargetKey, ScrapeLoop] = {}
        for job in config.scrape_configs:
            options = _options(job)
            for target in _targets(job):
                key = (target, options)
                loops[key] = old.get(key) or ScrapeLoop(target, options, self.window, Fetcher(target.url, options))
        return loops


def rule_paths(config: Config) -> Iterable[Path]:
    """Return the rule files: those that are named, else the shipped ones."""
    if config.rule_files is not None:
        return config.rule_files
    return sorted(rules_folder().glob("*.rules.yaml"))


def rule_groups(config: Config) -> tuple[RuleGroup, ...]:
    """Read the rule files; raises DocumentError with all mistakes."""
    return read_rules(rule_paths(config), check_expr, check_template)


def _targets(job: ScrapeConfig) -> Iterator[Target]:
    query = "?" + urlencode(job.params, doseq=True) if job.params else ""
    for group in job.static_configs:
        for address in group.targets:
            discovered = {
                "__address__": address,
                "__metrics_path__": job.metrics_path,
                "__scheme__": job.scheme,
                **group.labels.as_dict(),
                JOB: job.job_name,
            }
            labels = Labels.of({JOB: job.job_name, INSTANCE: address, **group.labels.as_dict()})
            url = f"{job.scheme}://{address}{job.metrics_path}{query}"
            yield Target(job.job_name, url, labels, Labels.of(discovered))


def _options(job: ScrapeConfig) -> ScrapeOptions:
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
    )


def _authorization(job: ScrapeConfig) -> Authorization | None:
    given = job.authorization
    if given is None:
        return None
    return Authorization(given.type, _revealed(given.credentials), _path(given.credentials_file))


def _basic_auth(job: ScrapeConfig) -> BasicAuth | None:
    given = job.basic_auth
    if given is None:
        return None
    return BasicAuth(given.username, _revealed(given.password), _path(given.password_file))


def _tls(given: TLSConfig) -> TlsConfig:
    return TlsConfig(
        _path(given.ca_file),
        _path(given.cert_file),
        _path(given.key_file),
        given.server_name,
        given.insecure_skip_verify,
    )


def _receivers(config: Config, console: "Console | None") -> tuple[dict[str, list[Integration]], dict[str, Notifier]]:
    integrations: dict[str, list[Integration]] = {}
    notifiers: dict[str, Notifier] = {}
    for receiver in config.receivers:
        integrations[receiver.name] = []
        for name, send_resolved, notifier in _notifiers(receiver, config.global_.slack_base_url, console):
            integrations[receiver.name].append(Integration(name, send_resolved))
            notifiers[name] = notifier
    return integrations, notifiers


def _notifiers(
    receiver: ReceiverConfig, base_url: str, console: "Console | None"
) -> Iterator[tuple[str, bool, Notifier]]:
    for number, slack in enumerate(receiver.slack_configs):
        yield f"{receiver.name}/slack[{number}]", slack.send_resolved, _slack(slack, base_url)
    for number, printed in enumerate(receiver.console_configs):
        yield f"{receiver.name}/console[{number}]", printed.send_resolved, _console(console)


def _slack(slack: SlackConfig, base_url: str) -> Notifier:
    if slack.api_url is not None or slack.api_url_file is not None:
        return SlackWebhook(Secret(_revealed(slack.api_url), slack.api_url_file))
    token = Secret(_revealed(slack.bot_token), slack.bot_token_file)
    return SlackBot(token, slack.channel, base_url=base_url)


def _console(console: "Console | None") -> Notifier:
    # Imported here: memory that only a daemon at a terminal needs.
    from rich.console import Console

    from monitor.notify.console import ConsoleNotifier

    return ConsoleNotifier(console or Console())


def _revealed(secret: ConfigSecret | None) -> str:
    return secret.reveal() if secret is not None else ""


def _path(path: Path | None) -> str:
    return str(path) if path is not None else ""
