"""Whether an incident that was told is one that nobody would be told of now."""

from collections.abc import Iterator
from dataclasses import dataclass

from monitor.dispatch.group import group_key
from monitor.dispatch.muting import Muting
from monitor.dispatch.received import is_received
from monitor.dispatch.route import Route
from monitor.model.alert import Alert
from monitor.model.instant import Instant
from monitor.notify.slack.digest import is_digest
from monitor.notify.slack.incident import Incident


@dataclass(frozen=True, slots=True)
class Quiet:
    """What mutes, and the routes whose times count: what holds back a message holds back whoever is rung for it."""

    route: Route
    muting: Muting

    def holds(self, incident: Incident, now: Instant) -> bool:
        """Say whether all that fires is silenced or inhibited, or in a time in which its route is told nothing."""
        return all(self._is_muted(alert, incident, now) for alert in incident.told.firing)

    def _is_muted(self, alert: Alert, incident: Incident, now: Instant) -> bool:
        if is_received(incident.group_key):
            # Alertmanager decides of these, but for the silences that were set here.
            return bool(self.muting.silences.silencing(alert.labels, now))
        if self.muting.status(alert.labels, now).is_suppressed:
            return True
        routes = list(self._routes(alert, incident))
        return bool(routes) and all(self.muting.muted_by(route, now) for route in routes)

    def _routes(self, alert: Alert, incident: Incident) -> Iterator[Route]:
        """Yield the routes that lead the alert to the incident; to a digest all of them do."""
        for route in self.route.match(alert.labels):
            if is_digest(incident) or group_key(route, route.group_labels(alert.labels)) == incident.group_key:
                yield route
