"""Whether Prometheus records what the alerts read: an alert over a series that nobody writes is silent for ever."""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import METRIC_NAME
from monitor.promql import Vector
from monitor.remote.client import Client
from monitor.remote.engine import value_of
from monitor.remote.errors import Reason, RemoteError
from monitor.rules.spec import RuleGroup
from monitor.upstream.standing import StandingAlert

log = logging.getLogger(__name__)

NAME = "VLLMMonitorPrometheusRulesMissing"
# Whoever loads the files in Prometheus restarts us a moment before or after.
HOLD: Duration = 5 * MINUTE
EVERY, EVERY_WHEN_MISSING = 10 * MINUTE, MINUTE
_SECONDS = 10.0
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Missing:
    """Names that a group records, of which Prometheus has neither a series nor a rule that would record them."""

    file: str
    group: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        more = f" and {len(self.names) - _SHOWN} more" if len(self.names) > _SHOWN else ""
        return f"{PurePath(self.file).name}, group {self.group}: {', '.join(self.names[:_SHOWN])}{more}"


def missing_from(client: Client, recorded: Mapping[str, Sequence[RuleGroup]], at: Instant) -> list[Missing]:
    """
    Return the names that Prometheus does not record, of those that alerts read, by group. Raises RemoteError.

    A name that has no series may be one of which there is nothing to record. Where Prometheus tells its rules, those of
    another version of a group lack some names; where it does not, a group counts as evaluated with any series of it.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for name, recording in recorded.items():
        for one in recording:
            groups.setdefault((one.file, one.name), []).append(name)
    if not groups:
        return []
    loaded = _loaded(client)
    known = loaded | _present(client, recorded, at)
    missing: list[Missing] = []
    for (file, group), names in groups.items():
        lacking = tuple(name for name in names if name not in known)
        if lacking and (len(lacking) == len(names) or not loaded.isdisjoint(names)):
            missing.append(Missing(file, group, lacking))
    return missing


def _loaded(client: Client) -> set[str]:
    """Return the names that rules record there; none where it is not told: VictoriaMetrics leaves that to vmalert."""
    try:
        data = client.get("/api/v1/rules", [("type", "record")], _SECONDS).data
    except RemoteError as err:
        if err.is_outage and err.retryable:
            raise
        return set()
    groups = data.get("groups") if isinstance(data, dict) else None
    rules = [rule for group in groups or () if isinstance(group, dict) for rule in group.get("rules") or ()]
    return {str(rule.get("name")) for rule in rules if isinstance(rule, dict)}


def _present(client: Client, names: Mapping[str, Any], at: Instant) -> set[str]:
    selector = "{__name__=~" + json.dumps("|".join(sorted(names))) + "}"
    answer = client.query(f"count by (__name__) ({selector})", at, _SECONDS)
    if answer.partial:
        raise RemoteError(f"{client.name} answers from a part of the data: {answer.partial}", reason=Reason.STATUS)
    value = value_of(answer.data, at, client.name)
    return {labels.value(METRIC_NAME) for labels, _ in value} if isinstance(value, Vector) else set()


class RecordedWatch:
    """Looks now and then. One thread at a time calls `look`, one `alerts`."""

    def __init__(self, client: Client, recorded: Mapping[str, Sequence[RuleGroup]], instance: str) -> None:
        self._client = client
        self._recorded = recorded
        self._alert = StandingAlert(NAME, instance, "warning", HOLD)
        self._looked_at: Instant | None = None
        self.missing: Sequence[Missing] | None = None

    def look(self, at: Instant) -> None:
        """Ask, when it is time to."""
        every = EVERY_WHEN_MISSING if self.missing else EVERY
        if not self._recorded or (self._looked_at is not None and 0 <= at - self._looked_at < every):
            return
        self._looked_at = at
        try:
            found = missing_from(self._client, self._recorded, at)
        except RemoteError as err:
            # The next evaluation will say so.
            log.debug("recorded names not looked for: %s", err)
            self._looked_at = None
            return
        if found != self.missing:
            for one in found:
                log.warning("Prometheus does not evaluate rules that alerts read", extra={"missing": str(one)})
        self.missing = found

    @property
    def count(self) -> int:
        """How many recorded names are missing."""
        return len({name for one in self.missing or () for name in one.names})

    def alerts(self, at: Instant) -> list[Alert]:
        """Return what dispatch must hear of at `at`."""
        if self.missing is None:
            return []
        return self._alert.raised(at, self._texts(self.missing)) if self.missing else self._alert.over(at)

    def shift(self, by: Duration) -> None:
        """The clock was set by so much."""
        self._alert.shift(by)
        self._looked_at = None

    def take_over(self, old: "RecordedWatch") -> None:
        """Go on where `old` stood."""
        self._alert.take_over(old._alert)  # noqa: SLF001 - the same class

    def _texts(self, missing: Sequence[Missing]) -> dict[str, str]:
        files = sorted({PurePath(one.file).name for one in missing})
        return {
            "summary": "Prometheus does not evaluate the recording rules that alerts read",
            "description": f"{self._client.name} has no series of {self.count} recorded names, and no rule that "
            f"records them ({'; '.join(str(one) for one in missing[:_SHOWN])}). The alerts that read them are silent "
            f"whatever happens.\nTry first: add {', '.join(files)} of this version to rule_files of Prometheus and "
            "reload it; vllm-monitor check --config FILE says what is missing.",
            "value": f"{self.count} names",
            "threshold": "none missing",
        }
