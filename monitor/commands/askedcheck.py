"""`vllm-monitor check --config` in `mode: prometheus`: whether the server answers, and records what alerts read."""

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.clock import SystemClock
from monitor.config.upstream import PrometheusConfig
from monitor.expressions import expressions_of
from monitor.ownnames import own_names
from monitor.remote.client import Client
from monitor.remote.errors import RemoteError
from monitor.rules.alerting_rule import ALERTS, ALERTS_FOR_STATE
from monitor.rules.spec import RuleGroup
from monitor.upstream.recorded import Missing, missing_from
from monitor.upstream.split import split
from monitor.upstreaming import remote_options


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of it: `error` is why there was no answer, "" when there was one."""

    server: str
    recorded: int
    missing: Sequence[Missing] = ()
    error: str = ""

    @property
    def works(self) -> bool:
        return not self.error and not self.missing

    def lines(self) -> list[str]:
        """Return what a person is told."""
        if self.error:
            return [self.error]
        if not self.missing:
            return [f"{self.server}: answers, and records what alerts read ({self.recorded} names)"]
        count = len({name for one in self.missing for name in one.names})
        head = f"{self.server}: {count} of {self.recorded} recorded names that alerts read are missing; no rule there"
        return [f"{head} records them. Add to its rule_files:", *(f"  {one}" for one in self.missing)]

    def as_json(self) -> dict[str, object]:
        """Return the same for a program."""
        missing = [{"file": one.file, "group": one.group, "names": list(one.names)} for one in self.missing]
        return {"server": self.server, "error": self.error, "recorded": self.recorded, "missing": missing}


def asked(given: PrometheusConfig, groups: Sequence[RuleGroup]) -> Asked:
    """Ask the server of a configuration."""
    recorded = split(groups, {*own_names(), ALERTS, ALERTS_FOR_STATE}, expressions_of).recorded
    client = Client(remote_options(given))
    try:
        return Asked(client.name, len(recorded), missing_from(client, recorded, SystemClock().now()))
    except RemoteError as err:
        return Asked(client.name, len(recorded), error=str(err))
    finally:
        client.close()
