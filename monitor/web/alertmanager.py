"""
Alertmanager's API v2: alerts, silences, receivers, status, for amtool and everything else that speaks it.

Times and mutes are decided when somebody asks; nothing here is stored.
"""

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from flask import Blueprint, Response, request

from monitor.clock import Clock
from monitor.dispatch.dispatcher import Dispatcher
from monitor.dispatch.matchers import MatcherError, parse_matchers
from monitor.dispatch.muting import Muting
from monitor.dispatch.route import Route
from monitor.dispatch.silence import Silence, SilenceError, SilenceNotFoundError
from monitor.dispatch.store import AlertStore, Stored
from monitor.model.alert import Alert
from monitor.model.instant import Duration, Instant
from monitor.model.matcher import Matcher, MatchError, compile_anchored
from monitor.web import alertmanager_bodies as bodies
from monitor.web import alertmanager_views as views
from monitor.web.alertmanager_views import ShownAlert

BASE = "/api/v2"
# The words that go-openapi takes for true; everything else is false.
_TRUE = frozenset(("true", "1", "yes", "ok", "y", "on", "selected", "checked", "t", "enabled"))


@dataclass(frozen=True, slots=True)
class Alerting:
    """
    What the API shows: the parts of one configuration.

    `config` returns that configuration in Alertmanager's words; `changed` is called when alerts were inserted.
    """

    dispatcher: Dispatcher
    store: AlertStore
    muting: Muting
    route: Route
    receivers: tuple[str, ...]
    resolve_timeout: Duration
    config: Callable[[], str]
    changed: Callable[[], None]


class AlertingDaemon(Protocol):
    """What the API needs of the daemon."""

    def alerting(self) -> Alerting | None:
        """Return what is at work now, or None when nothing is."""
        ...


class RefusedError(Exception):
    """A request of the right form that makes no sense."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class AlertmanagerApi:
    """One method a path. `version` is the daemon's, `started_at` when it started."""

    def __init__(self, daemon: AlertingDaemon, clock: Clock, started_at: Instant, version: str) -> None:
        self._daemon = daemon
        self._clock = clock
        self._started_at = started_at
        self._version = version

    def blueprint(self) -> Blueprint:
        """Return the paths, for an application to register."""
        blueprint = Blueprint("alertmanager", __name__, url_prefix=BASE)
        for path, method, view in self._paths():
            blueprint.add_url_rule(path, f"{method} {path}", view, methods=[method])
        blueprint.register_error_handler(bodies.BodyError, _misshapen)
        for error in (RefusedError, bodies.InvalidSilenceError, SilenceError, MatcherError, MatchError):
            blueprint.register_error_handler(error, _refused)
        return blueprint

    def get_alerts(self) -> Response:
        alerting, wanted, now = self._alerting(), _Filter(), self._clock.now()
        shown = [self._shown(alerting, stored, now) for stored in alerting.store.firing(now)]
        alerts = [views.alert(one) for one in shown if wanted.takes(one) and wanted.takes_any_receiver(one.receivers)]
        return _answer(sorted(alerts, key=lambda alert: str(alert["fingerprint"])))

    def post_alerts(self) -> Response:
        alerting, now = self._alerting(), self._clock.now()
        posted = bodies.alerts(_body(), now, alerting.resolve_timeout)
        alerting.dispatcher.insert(posted.ending, now)
        alerting.dispatcher.insert(posted.endless, now, timeout=True)
        alerting.changed()
        if posted.problems:
            raise RefusedError("\n".join(posted.problems))
        return Response(status=200)

    def get_groups(self) -> Response:
        alerting, wanted, now = self._alerting(), _Filter(), self._clock.now()
        groups = []
        for route, labels, alerts in alerting.dispatcher.groups():
            muted_by = alerting.muting.muted_by(route, now)
            if not wanted.takes_any_receiver((route.receiver,)) or (muted_by and not _flag("muted")):
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
        now, wanted = self._clock.now(), _matchers()
        silences = self._alerting().muting.silences.all(now)
        found = [one for one in silences if all(matcher in one.matchers for matcher in wanted)]
        return _answer(views.silences(found, now))

    def post_silences(self) -> Response:
        now, silence = self._clock.now(), bodies.silence(_body())
        if silence.starts_at >= silence.ends_at:
            raise RefusedError("Failed to create silence: start time must be before end time")
        if silence.ends_at < now:
            raise RefusedError("Failed to create silence: end time can't be in the past")
        return _answer({"silenceID": self._alerting().muting.silences.set(silence, now).id})

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
            raise RefusedError("not running", 503)
        return alerting

    def _silence(self, silence_id: str) -> Silence:
        try:
            uuid.UUID(silence_id)
        except ValueError as err:
            what = f'silenceID in path must be of type uuid: "{silence_id}"'
            raise bodies.BodyError(what, bodies.WRONG_TYPE, 422) from err
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


class _Filter:
    """The query parameters that alerts are chosen by. Raises RefusedError, MatcherError, MatchError."""

    def __init__(self) -> None:
        self._matchers = _matchers()
        pattern = request.args.get("receiver")
        try:
            self._receiver = compile_anchored(pattern) if pattern else None
        except MatchError as err:
            raise RefusedError(f"failed to parse receiver param: {err}") from err
        self._active, self._silenced, self._inhibited = map(_flag, ("active", "silenced", "inhibited"))

    def takes(self, shown: ShownAlert) -> bool:
        """Say whether the alert is of a kind that is wanted, and matched."""
        status = shown.status
        return (
            (self._active or status.is_suppressed)
            and (self._silenced or not status.silenced_by)
            and (self._inhibited or not status.inhibited_by)
            and all(matcher.accepts(shown.labels) for matcher in self._matchers)
        )

    def takes_any_receiver(self, names: tuple[str, ...]) -> bool:
        return self._receiver is None or any(self._receiver.fullmatch(name) is not None for name in names)


def _stored(store: AlertStore, alert: Alert, now: Instant) -> Stored | None:
    return None if alert.resolved(now) else store.get(alert.labels)


def _flag(name: str) -> bool:
    """Return a parameter that is true when it is not given."""
    return request.args.get(name, "true").lower() in _TRUE


def _matchers() -> list[Matcher]:
    """Return the matchers of all `filter` parameters, each of which holds one."""
    found: list[Matcher] = []
    for text in request.args.getlist("filter"):
        try:
            (matcher,) = parse_matchers(text)
        except (MatcherError, ValueError) as err:
            if isinstance(err, MatchError):
                raise
            raise RefusedError(f"bad matcher format: {text}") from err
        found.append(matcher)
    return found


def _body() -> bytes:
    """
    Return what was posted, if it says that it is JSON.

    A browser does not let a foreign page say so without asking first: no page can silence an alert behind its reader.
    """
    if request.mimetype != "application/json":
        what = f'unsupported media type "{request.mimetype}", only [application/json] are allowed'
        raise bodies.BodyError(what, 415, 415)
    return request.get_data()


def _answer(body: Any, status: int = 200) -> Response:
    response = Response(json.dumps(body, ensure_ascii=False) + "\n", status, content_type="application/json")
    response.headers["Cache-Control"] = "no-store"
    return response


def _misshapen(err: bodies.BodyError) -> Response:
    return _answer({"code": err.code, "message": str(err)}, err.status)


def _refused(err: Exception) -> Response:
    status = 404 if isinstance(err, SilenceNotFoundError) else getattr(err, "status", 400)
    return _answer(str(err), status) if str(err) else Response(status=status)
