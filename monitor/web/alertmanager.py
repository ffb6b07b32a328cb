"""
Alertmanager's API v2: alerts, silences, receivers, status, for amtool and everything else that speaks it.

Times and mutes are decided when somebody asks; nothing here is stored.
"""

import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from flask import Blueprint, Response

from monitor.clock import Clock
from monitor.dispatch.alerting import Alerting
from monitor.dispatch.dispatcher import MOST_ALERTS
from monitor.dispatch.matchers import MatcherError
from monitor.dispatch.silence import (
    Silence,
    SilenceError,
    SilenceNotFoundError,
    SilenceSizeError,
    SilencesLimitError,
)
from monitor.dispatch.store import AlertStore, Stored
from monitor.model.alert import Alert
from monitor.model.instant import Instant
from monitor.model.matcher import MatchError
from monitor.web import alertmanager_bodies as bodies
from monitor.web import alertmanager_views as views
from monitor.web.alertmanager_requests import Filter, RefusedError, body, flag, matchers
from monitor.web.alertmanager_views import ShownAlert
from monitor.web.json_fields import WRONG_TYPE, BodyError

BASE = "/api/v2"
ALERTS, SILENCES = "alerts", "silences"
_STATUS: dict[type[Exception], int] = {SilenceNotFoundError: 404, SilenceSizeError: 413, SilencesLimitError: 429}


class AlertingDaemon(Protocol):
    """What the API needs of the daemon."""

    def alerting(self) -> Alerting | None:
        """Return what is at work now, or None when nothing is."""
        ...


class AlertmanagerApi:
    """
    One method a path. `version` is the daemon's, `started_at` when it started.

    `limited` hears of how many ALERTS or SILENCES there was no room for.
    """

    def __init__(
        self,
        daemon: AlertingDaemon,
        clock: Clock,
        started_at: Instant,
        version: str,
        limited: Callable[[str, int], None] = lambda _kind, _count: None,
    ) -> None:
        self._limited = limited
        self._daemon = daemon
        self._clock = clock
        self._started_at = started_at
        self._version = version

    def blueprint(self) -> Blueprint:
        """Return the paths, for an application to register."""
        blueprint = Blueprint("alertmanager", __name__, url_prefix=BASE)
        for path, method, view in self._paths():
            blueprint.add_url_rule(path, f"{method} {path}", view, methods=[method])
        blueprint.register_error_handler(BodyError, _misshapen)
        for error in (RefusedError, bodies.InvalidSilenceError, SilenceError, MatcherError, MatchError):
            blueprint.register_error_handler(error, _refused)
        return blueprint

    def get_alerts(self) -> Response:
        alerting, wanted, now = self._alerting(), Filter(), self._clock.now()
        shown = [self._shown(alerting, stored, now) for stored in alerting.store.firing(now)]
        alerts = [views.alert(one) for one in shown if wanted.takes(one) and wanted.takes_any_receiver(one.receivers)]
        return _answer(sorted(alerts, key=lambda alert: str(alert["fingerprint"])))

    def post_alerts(self) -> Response:
        alerting, now = self._alerting(), self._clock.now()
        posted = bodies.alerts(body(), now, alerting.resolve_timeout)
        left_out = alerting.dispatcher.admit(posted.ending, now)
        left_out += alerting.dispatcher.admit(posted.endless, now, timeout=True)
        alerting.changed()
        if left_out:
            self._limited(ALERTS, left_out)
            what = f"exceeded maximum number of alerts: {left_out} left out (limit: {MOST_ALERTS})"
            raise RefusedError("\n".join((what, *posted.problems)), 429)
        if posted.problems:
            raise RefusedError("\n".join(posted.problems))
        return Response(status=200)

    def get_groups(self) -> Response:
        alerting, wanted, now = self._alerting(), Filter(), self._clock.now()
        groups = []
        for route, labels, alerts in alerting.dispatcher.groups():
            muted_by = alerting.muting.muted_by(route, now)
            if not wanted.takes_any_receiver((route.receiver,)) or (muted_by and not flag("muted")):
                continue
            shown = [
                self._shown(alerting, stored, now, muted_by)
                for alert in alerts
                if (stored := _stored(alerting.store, alert, now)) is not None
            ]
            shown = [one for one in shown if wanted.takes(one)]
            if shown:
                groups.append((len(labels), labels, route.receiver, shown))
        groups.sort(key=lambda group: group[:3])
        return _answer([views.group(labels, receiver, shown) for _, labels, receiver, shown in groups])

    def get_silences(self) -> Response:
        now, wanted = self._clock.now(), matchers()
        silences = self._alerting().muting.silences.all(now)
        found = [one for one in silences if all(matcher in one.matchers for matcher in wanted)]
        return _answer(views.silences(found, now))

    def post_silences(self) -> Response:
        now, silence = self._clock.now(), bodies.silence(body())
        if silence.starts_at >= silence.ends_at:
            raise RefusedError("Failed to create silence: start time must be before end time")
        if silence.ends_at < now:
            raise RefusedError("Failed to create silence: end time can't be in the past")
        try:
            silence = self._alerting().muting.silences.set(silence, now)
        except SilencesLimitError:
            self._limited(SILENCES, 1)
            raise
        return _answer({"silenceID": silence.id})

    def get_silence(self, silence_id: str) -> Response:
        return _answer(views.silence(self._silence(silence_id), self._clock.now()))

    def delete_silence(self, silence_id: str) -> Response:
        self._alerting().muting.silences.expire(self._silence(silence_id).id, self._clock.now())
        return Response(status=200)

    def get_receivers(self) -> Response:
        return _answer([{"name": name} for name in self._alerting().receivers])

    def get_status(self) -> Response:
        return _answer(views.status(self._alerting().config(), self._started_at, self._version))

    def _paths(self) -> Iterator[tuple[str, str, Callable[..., Response]]]:
        yield "/alerts", "GET", self.get_alerts
        yield "/alerts", "POST", self.post_alerts
        yield "/alerts/groups", "GET", self.get_groups
        yield "/silences", "GET", self.get_silences
        yield "/silences", "POST", self.post_silences
        yield "/silence/<silence_id>", "GET", self.get_silence
        yield "/silence/<silence_id>", "DELETE", self.delete_silence
        yield "/receivers", "GET", self.get_receivers
        yield "/status", "GET", self.get_status

    def _alerting(self) -> Alerting:
        alerting = self._daemon.alerting()
        if alerting is None:
            raise RefusedError("not running, or standing by for another one", 503)
        return alerting

    def _silence(self, silence_id: str) -> Silence:
        try:
            uuid.UUID(silence_id)
        except ValueError as err:
            what = f'silenceID in path must be of type uuid: "{silence_id}"'
            raise BodyError(what, WRONG_TYPE, 422) from err
        silence = self._alerting().muting.silences.get(silence_id)
        if silence is None:
            raise RefusedError("", 404)
        return silence

    def _shown(
        self, alerting: Alerting, stored: Stored, now: Instant, muted_by: tuple[str, ...] | None = None
    ) -> ShownAlert:
        """Return the alert as it is shown; `muted_by` are the time intervals of its group, None for all its routes."""
        alert, muting = stored.alert, alerting.muting
        routes = list(alerting.route.match(alert.labels))
        if muted_by is None:
            by_route = [muting.muted_by(route, now) for route in routes]
            muted_by = tuple(dict.fromkeys(name for names in by_route for name in names)) if all(by_route) else ()
        ends_at = now + alerting.resolve_timeout if alert.ends_at is None else alert.ends_at
        receivers = tuple(dict.fromkeys(route.receiver for route in routes))
        return ShownAlert(stored, ends_at, receivers, muting.status(alert.labels, now), muted_by)


def _stored(store: AlertStore, alert: Alert, now: Instant) -> Stored | None:
    return None if alert.resolved(now) else store.get(alert.labels)


def _answer(body: Any, status: int = 200) -> Response:
    response = Response(json.dumps(body, ensure_ascii=False) + "\n", status, content_type="application/json")
    response.headers["Cache-Control"] = "no-store"
    return response


def _misshapen(err: BodyError) -> Response:
    return _answer({"code": err.code, "message": str(err)}, err.status)


def _refused(err: Exception) -> Response:
    status = err.status if isinstance(err, RefusedError) else _STATUS.get(type(err), 400)
    return _answer(str(err), status) if str(err) else Response(status=status)
