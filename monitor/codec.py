"""The values of rules and dispatch as texts for the state file, and back."""

import json
from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

from monitor.dispatch.dispatcher import Delivery
from monitor.dispatch.nflog import Entry
from monitor.dispatch.notification import Notification, Reason
from monitor.dispatch.received import Received
from monitor.dispatch.silence import Silence
from monitor.model.alert import Alert
from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.model.matcher import Matcher, MatchType
from monitor.model.sample import format_value
from monitor.notify.slack.incident import Action, Incident, PostRoot, Reply, UpdateRoot
from monitor.rules.alerting import ActiveAlert, AlertState


def labels_text(labels: Labels) -> str:
    return json.dumps(labels)


def labels_of(pairs: Any) -> Labels:
    """Return labels or annotations as they were written: an empty annotation is one, and not missing."""
    return Labels(sorted((str(name), str(value)) for name, value in pairs))


def entry_text(entry: Entry) -> str:
    return json.dumps({"firing": sorted(entry.firing), "resolved": sorted(entry.resolved)})


def entry_of(at: Instant, text: str) -> Entry:
    body = json.loads(text)
    return Entry(at, _sets(body["firing"]), _sets(body["resolved"]))


def active_text(alert: ActiveAlert) -> str:
    return json.dumps(
        {
            "labels": alert.labels,
            "state": alert.state.value,
            "active_at": alert.active_at,
            "value": format_value(alert.value),
            "annotations": alert.annotations,
            "fired_at": alert.fired_at,
            "resolved_at": alert.resolved_at,
            "keep_firing_since": alert.keep_firing_since,
        }
    )


def active_of(text: str) -> ActiveAlert:
    body = json.loads(text)
    return ActiveAlert(
        labels=labels_of(body["labels"]),
        state=AlertState(body["state"]),
        active_at=body["active_at"],
        value=float(body["value"]),
        annotations=labels_of(body["annotations"]),
        fired_at=body["fired_at"],
        resolved_at=body["resolved_at"],
        keep_firing_since=body["keep_firing_since"],
    )


def delivery_text(delivery: Delivery) -> str:
    return json.dumps(_notification_body(delivery.notification))


def delivery_of(integration: str, text: str) -> Delivery:
    return Delivery(integration, _notification_of(json.loads(text)))


def incident_text(incident: Incident) -> str:
    body = {one.name: getattr(incident, one.name) for one in fields(incident)}
    return json.dumps(
        body
        | {
            "told": _notification_body(incident.told),
            "peak_value": format_value(incident.peak_value),
            "owed": [
                _ACTIONS[type(action)] if not isinstance(action, Reply) else asdict(action) for action in incident.owed
            ],
        }
    )


def incident_of(integration: str, text: str) -> Incident:
    body = json.loads(text)
    return Incident(
        **(
            body
            | {
                "integration": integration,
                "told": _notification_of(body["told"]),
                "peak_value": float(body["peak_value"]),
                "owed": tuple(_action_of(action) for action in body["owed"]),
            }
        )
    )


def silence_text(silence: Silence) -> str:
    return json.dumps(
        {
            "id": silence.id,
            "matchers": [(matcher.name, matcher.type.value, matcher.value) for matcher in silence.matchers],
            "starts_at": silence.starts_at,
            "ends_at": silence.ends_at,
            "created_by": silence.created_by,
            "comment": silence.comment,
            "updated_at": silence.updated_at,
        }
    )


def silence_of(text: str) -> Silence:
    body = json.loads(text)
    matchers = tuple(Matcher(name, MatchType(kind), value) for name, kind, value in body["matchers"])
    return Silence(**(body | {"matchers": matchers}))


def received_text(group: Received) -> str:
    return json.dumps(
        {
            "group_labels": group.group_labels,
            "alerts": [_alert_body(alert) for alert in group.alerts],
            "heard_at": group.heard_at,
            "told_at": group.told_at,
            "external_url": group.external_url,
            "left_out": group.left_out,
        }
    )


def received_of(receiver: str, group_key: str, text: str) -> Received:
    body = json.loads(text)
    labels, alerts = labels_of(body["group_labels"]), tuple(_alert_of(alert) for alert in body["alerts"])
    return Received(**(body | {"receiver": receiver, "group_key": group_key, "group_labels": labels, "alerts": alerts}))


_ACTIONS: dict[type[Action], str] = {PostRoot: "post", UpdateRoot: "update"}


def _action_of(body: Any) -> Action:
    if isinstance(body, dict):
        return Reply(**body)
    return PostRoot() if body == _ACTIONS[PostRoot] else UpdateRoot()


def _notification_body(told: Notification) -> dict[str, Any]:
    return {
        "receiver": told.receiver,
        "group_key": told.group_key,
        "group_labels": told.group_labels,
        "alerts": [_alert_body(alert) for alert in told.alerts],
        "now": told.now,
        "reason": told.reason.value,
        "id": told.id,
        "fallback": told.fallback,
        "left_out": told.left_out,
    }


def _notification_of(body: dict[str, Any]) -> Notification:
    return Notification(
        receiver=body["receiver"],
        group_key=body["group_key"],
        group_labels=labels_of(body["group_labels"]),
        alerts=tuple(_alert_of(alert) for alert in body["alerts"]),
        now=body["now"],
        reason=Reason(body["reason"]),
        id=body["id"],
        fallback=body.get("fallback", ""),
        left_out=body.get("left_out", 0),
    )


def _sets(sets: Iterable[Any]) -> frozenset[Labels]:
    return frozenset(labels_of(pairs) for pairs in sets)


def _alert_body(alert: Alert) -> dict[str, Any]:
    return {
        "labels": alert.labels,
        "annotations": alert.annotations,
        "starts_at": alert.starts_at,
        "ends_at": alert.ends_at,
        "active_at": alert.active_at,
        "value": format_value(alert.value),
        "generator_url": alert.generator_url,
    }


def _alert_of(body: dict[str, Any]) -> Alert:
    return Alert(
        **(
            body
            | {
                "labels": labels_of(body["labels"]),
                "annotations": labels_of(body["annotations"]),
                "value": float(body["value"]),
            }
        )
    )
