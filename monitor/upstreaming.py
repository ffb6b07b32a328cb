"""From `mode: prometheus` in a configuration to who is asked."""

from collections.abc import Sequence

from monitor.clock import Clock
from monitor.config.config import Config
from monitor.config.upstream import ABORT, PrometheusConfig
from monitor.expressions import expressions_of
from monitor.jobs import client_options
from monitor.metrics import Metrics
from monitor.ownnames import own_names
from monitor.probe.series import HELP as PROBED
from monitor.remote.options import RemoteOptions
from monitor.rules.alerting_rule import ALERTS, ALERTS_FOR_STATE
from monitor.rules.context import Query
from monitor.rules.spec import RuleGroup
from monitor.scrape.options import MEBIBYTE
from monitor.upstream.upstream import REASONS, Settings, Upstream

BODY_SIZE_LIMIT = 64 * MEBIBYTE


def upstream_of(
    config: Config,
    given: PrometheusConfig,
    groups: Sequence[RuleGroup],
    local: Query,
    metrics: Metrics,
    clock: Clock | None,
) -> Upstream:
    """Return the Prometheus of a configuration; with `clock` the difference to its clock is made up for."""
    own = {*own_names(), ALERTS, ALERTS_FOR_STATE}
    if not config.scrape_configs:
        # What is said of targets, another daemon says, whom Prometheus scrapes.
        own -= PROBED.keys()
    is_strict = given.partial_response_strategy == ABORT
    settings = Settings(remote_options(given), str(config.web.listen), is_strict, clock)
    return Upstream(settings, groups, own, expressions_of, local, metrics.upstream(REASONS))


def remote_options(given: PrometheusConfig) -> RemoteOptions:
    """Return how a server is asked."""
    return RemoteOptions(
        given.url,
        given.timeout,
        client_options(given, given.timeout, BODY_SIZE_LIMIT),
        {name: value.reveal() for name, value in given.headers.items()},
        {name: value.reveal() for name, value in given.params.items()},
        given.max_concurrency,
        BODY_SIZE_LIMIT,
    )
