"""Closes the messages of groups that are no more: after a reload, or a start, with other routes."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from monitor.dispatch.dispatcher import Integration
from monitor.dispatch.group import group_key
from monitor.dispatch.received import is_received
from monitor.dispatch.route import Route
from monitor.model.alert import Alert
from monitor.model.instant import Instant
from monitor.notify.slack.digest import is_digest
from monitor.notify.slack.incident import Incident, moved_on
from monitor.notify.slack.incidents import Incidents

log = logging.getLogger(__name__)

Receivers = Mapping[str, Sequence[Integration]]


def close_strays(
    incidents: Incidents, route: Route, receivers: Receivers, now: Instant, touched: Callable[[Incident], None]
) -> None:
    """
    Close every incident to whose group no route leads any of its alerts: nobody would ever hear of its end.

    `receivers` has for each receiver whatever is told when it is: its integrations, and those that stand in for it.
    `touched` hears of each that has to say so. One of an integration that is gone has nobody to say it.
    """
    present = {integration.name for integrations in receivers.values() for integration in integrations}
    ours = [one for one in incidents.open() if not is_digest(one) and not is_received(one.group_key)]
    stray = [one for one in ours if not _is_led_to(one, route, receivers)]
    for incident in stray:
        _close(incidents, incident, now, touched, is_present=incident.integration in present)
    for digest in incidents.open() if stray else ():
        members = incidents.members(digest.integration, digest.group_key) if is_digest(digest) else []
        if members and not any(member.is_open for member in members):
            _close(incidents, digest, now, touched, is_present=digest.integration in present)


def _close(
    incidents: Incidents, found: Incident, now: Instant, touched: Callable[[Incident], None], *, is_present: bool
) -> None:
    def change(incident: Incident | None) -> Incident:
        current = incident or found
        if not current.is_open:
            return current
        closed = moved_on(current, now)
        return closed if is_present else replace(closed, owed=())

    after = incidents.change(found.key, change)
    log.info("moved to another group", extra={"group": after.group_key, "integration": after.integration})
    if after.owed:
        touched(after)


def _is_led_to(incident: Incident, route: Route, receivers: Receivers) -> bool:
    return any(_leads(alert, incident, route, receivers) for alert in incident.told.firing)


def _leads(alert: Alert, incident: Incident, route: Route, receivers: Receivers) -> bool:
    return any(
        group_key(node, node.group_labels(alert.labels)) == incident.group_key
        and any(one.name == incident.integration for one in receivers.get(node.receiver, ()))
        for node in route.match(alert.labels)
    )
