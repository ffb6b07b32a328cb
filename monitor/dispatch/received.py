"""
What an Alertmanager tells us by its webhook: a group that it has grouped, inhibited and silenced already.

Nothing of that is done again here. Decided is only what of it is news to a receiver, for Alertmanager posts a message
again when it missed the answer, and the same state again after its repeat_interval.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from monitor.dispatch.dispatcher import Delivery, Integration
from monitor.dispatch.nflog import Entry, decide
from monitor.dispatch.notification import Notification, Reason
from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import Labels

# No group of ours has a key that begins so.
_PREFIX = "alertmanager"
# Alertmanager tries one message again until its next look at the group, by default so long. What comes in the same
# state later is a repetition that somebody has asked for (repeat_interval).
RETRIES: Duration = 5 * MINUTE


@dataclass(frozen=True, slots=True)
class Message:
    """
    One notification of an Alertmanager, with its own group key.

    `alerts` have an end exactly when they are over. `truncated` alerts more are in the group and were not posted.
    `source` tells Alertmanagers apart that know nothing of one another; `external_url` is where it says it is reached.
    """

    group_key: str
    group_labels: Labels
    alerts: tuple[Alert, ...]
    receiver: str = ""
    truncated: int = 0
    external_url: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Received:
    """
    A group as Alertmanager last told of it, for one receiver of ours; something in it fires.

    `heard_at` is when the last message came, `told_at` when the last one came that was news. `left_out` more are in it,
    of which nobody has told us.
    """

    receiver: str
    group_key: str
    group_labels: Labels
    alerts: tuple[Alert, ...]
    heard_at: Instant
    told_at: Instant
    external_url: str = ""
    left_out: int = 0

    @property
    def key(self) -> tuple[str, str]:
        return (self.receiver, self.group_key)

    @property
    def is_over(self) -> bool:
        return all(alert.ends_at is not None for alert in self.alerts)

    @property
    def entry(self) -> Entry:
        """What its receiver has been told, as the notification log would say it."""
        firing = frozenset(alert.labels for alert in self.alerts if alert.ends_at is None)
        return Entry(self.told_at, firing, frozenset(alert.labels for alert in self.alerts) - firing)

    def after(self, old: "Received | None", told: Sequence[Delivery]) -> "Received":
        """Return the group that came after `old`, when this is what is told of it."""
        is_news = old is None or any(delivery.notification.reason is not Reason.REFRESH for delivery in told)
        return replace(self, told_at=self.heard_at) if is_news else self

    def without(self, gone: Collection[Labels], now: Instant) -> "Received":
        """Return the group as it is when these alerts are over by `now`."""
        alerts = tuple(replace(alert, ends_at=now) if alert.labels in gone else alert for alert in self.alerts)
        return replace(self, alerts=alerts, heard_at=now)

    def shifted(self, by: Duration) -> "Received":
        """Return the group with all its dates moved."""
        alerts = tuple(alert.shifted(by) for alert in self.alerts)
        return replace(self, alerts=alerts, heard_at=self.heard_at + by, told_at=self.told_at + by)


def is_received(group_key: str) -> bool:
    """Say whether the group is an Alertmanager's and not ours."""
    return group_key.startswith(f"{_PREFIX}:") or is_named(group_key)


def is_named(group_key: str) -> bool:
    """Say whether whoever posted the group said which Alertmanager it is (`source`)."""
    return group_key.startswith(f"{_PREFIX}/")


def heard(
    old: Received | None, message: Message, receiver: str, now: Instant, is_muted: Callable[[Labels], bool]
) -> Received:
    """
    Return the group as the message leaves it.

    What begins while a silence of ours matches it is left out, so that it is news once that has ended. Of what
    Alertmanager had no room for (max_alerts) the last word holds.
    """
    told = old.entry.firing if old is not None else frozenset()
    kept = _unsaid(old, message) if old is not None else ()
    alerts = kept + tuple(
        alert
        for alert in message.alerts
        if alert.ends_at is not None or alert.labels in told or not is_muted(alert.labels)
    )
    if old is not None and not alerts:
        # All that was told is gone without a word, and what is there instead is silenced.
        alerts = old.without(told, now).alerts
    return Received(
        receiver,
        group_key(message),
        message.group_labels,
        alerts,
        now,
        old.told_at if old is not None else 0,
        message.external_url,
        message.truncated - len(kept),
    )


def _unsaid(old: Received, message: Message) -> tuple[Alert, ...]:
    """Return what fired at the last word and may be among those that were not posted."""
    posted = {alert.labels for alert in message.alerts}
    unsaid = (alert for alert in old.alerts if alert.ends_at is None and alert.labels not in posted)
    return tuple(unsaid)[: message.truncated]


def group_key(message: Message) -> str:
    """Return what names the group here: Alertmanager's own key, which might be one of ours as well, and its source."""
    source = f"/{message.source}" if message.source else ""
    return f"{_PREFIX}{source}:{message.group_key}"


def news(old: Received | None, new: Received, integration: Integration, *, is_silenced: bool) -> Delivery | None:
    """
    Return what the integration is told, None when it is nothing.

    One that edits hears every time how things stand. `is_silenced`: a silence of ours matches all that fires.
    """
    entry, now = new.entry, new.heard_at
    reason = decide(
        old.entry if old is not None else None,
        entry.firing,
        entry.resolved,
        now=now,
        repeat_interval=RETRIES,
        send_resolved=integration.send_resolved,
    )
    if not reason.sends or (reason is Reason.REPEAT and is_silenced):
        if not integration.edits or not entry.firing:
            return None
        reason = Reason.REFRESH
    if reason is Reason.ALL_RESOLVED and not integration.send_resolved:
        return None
    told = Notification(new.receiver, new.group_key, new.group_labels, new.alerts, now, reason, left_out=new.left_out)
    name = sha256("\n".join((new.group_key, integration.name, str(now), reason)).encode()).hexdigest()[:32]
    return Delivery(
        integration.name, replace(told, id=name, alerts=told.alerts if integration.send_resolved else told.firing)
    )


def deliveries(
    old: Received | None, new: Received, integrations: Iterable[Integration], *, is_silenced: bool
) -> Iterator[Delivery]:
    """Yield what each integration of a receiver is told."""
    for integration in integrations:
        delivery = news(old, new, integration, is_silenced=is_silenced)
        if delivery is not None:
            yield delivery


def refresh(group: Received, integrations: Iterable[Integration], now: Instant) -> Iterator[Delivery]:
    """Yield word of how the numbers have moved, for those that edit what they have told."""
    editors = [one for one in integrations if one.edits]
    yield from deliveries(group, replace(group, heard_at=now), editors, is_silenced=True)
