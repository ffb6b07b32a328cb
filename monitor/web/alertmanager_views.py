"""
What dispatch knows, in the shapes of Alertmanager's API v2. Pure: values in, JSON-able values out.

reference: Alertmanager 0.33, api/v2/openapi.yaml.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from monitor.dispatch.fingerprint import fingerprint
from monitor.dispatch.muting import MuteStatus
from monitor.dispatch.silence import Silence, SilenceState
from monitor.dispatch.store import Stored
from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.model.matcher import Matcher
from monitor.web.views import timestamp

Json = dict[str, Any]
_ORDER = (SilenceState.ACTIVE, SilenceState.PENDING, SilenceState.EXPIRED)


@dataclass(frozen=True, slots=True)
class ShownAlert:
    """
    An alert and all that is said of it.

    `ends_at` is when it counts as over if nobody says more; `muted_by` are the names of time intervals.
    """

    stored: Stored
    ends_at: Instant
    receivers: tuple[str, ...]
    status: MuteStatus
    muted_by: tuple[str, ...] = ()

    @property
    def labels(self) -> Labels:
        return self.stored.alert.labels

    @property
    def is_active(self) -> bool:
        return not (self.status.is_suppressed or self.muted_by)


def alert(shown: ShownAlert) -> Json:
    told = shown.stored.alert
    body: Json = {
        "annotations": told.annotations.as_dict(),
        "endsAt": timestamp(shown.ends_at),
        "fingerprint": fingerprint(told.labels),
        "receivers": [{"name": name} for name in shown.receivers],
        "startsAt": timestamp(told.starts_at),
        "status": {
            "inhibitedBy": list(shown.status.inhibited_by),
            "mutedBy": list(shown.muted_by),
            "silencedBy": list(shown.status.silenced_by),
            "state": "active" if shown.is_active else "suppressed",
        },
        "updatedAt": timestamp(shown.stored.updated_at),
        "labels": told.labels.as_dict(),
    }
    if told.generator_url:
        body["generatorURL"] = told.generator_url
    return body


def group(labels: Labels, receiver: str, alerts: Sequence[ShownAlert]) -> Json:
    return {"alerts": [alert(one) for one in alerts], "labels": labels.as_dict(), "receiver": {"name": receiver}}


def silences(known: Iterable[Silence], now: Instant) -> list[Json]:
    """Return the active ones first, the next to expire first; then the pending ones, then the expired ones."""

    def order(one: Silence) -> tuple[int, Instant]:
        state = one.state(now)
        dates = {SilenceState.ACTIVE: one.ends_at, SilenceState.PENDING: one.starts_at}
        return _ORDER.index(state), dates.get(state, -one.ends_at)

    return [silence(one, now) for one in sorted(known, key=order)]


def silence(one: Silence, now: Instant) -> Json:
    return {
        "id": one.id,
        "status": {"state": one.state(now).value},
        "updatedAt": timestamp(one.updated_at),
        "comment": one.comment,
        "createdBy": one.created_by,
        "endsAt": timestamp(one.ends_at),
        "matchers": [_matcher(matcher) for matcher in one.matchers],
        "startsAt": timestamp(one.starts_at),
    }


def status(config: str, started_at: Instant, version: str) -> Json:
    """Return the state of an Alertmanager that is alone."""
    unknown = dict.fromkeys(("branch", "buildDate", "buildUser", "goVersion", "revision"), "")
    return {
        "cluster": {"peers": [], "status": "disabled"},
        "config": {"original": config},
        "uptime": timestamp(started_at),
        "versionInfo": unknown | {"version": version},
    }


def _matcher(matcher: Matcher) -> Json:
    return {
        "isEqual": not matcher.type.is_negative,
        "isRegex": matcher.type.is_regex,
        "name": matcher.name,
        "value": matcher.value,
    }
