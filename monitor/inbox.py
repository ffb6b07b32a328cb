"""What Alertmanagers tell us, from their message to the lanes of our receivers, over reloads and restarts."""

import logging
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from monitor.clock import Clock
from monitor.config.alerting import ReceivedConfig
from monitor.config.config import Config
from monitor.dispatch.dispatcher import MOST_ALERTS, Delivery, Integration
from monitor.dispatch.received import Message, Received, deliveries, group_key, heard, refresh
from monitor.dispatch.silence import Silences
from monitor.model.instant import HOUR, SECOND, Duration, Instant
from monitor.model.labels import Labels
from monitor.notify.http import Authorization
from monitor.notify.outbox import Outbox

log = logging.getLogger(__name__)


class Keeper(Protocol):
    """Keeps what was heard beyond the life of the process."""

    def receive(self, group: Received, deliveries: Sequence[Delivery]) -> bool:
        """Keep a group and what is told of it, in one piece; returns whether that is on the disk."""
        ...


class Inbox:
    """
    The groups of Alertmanagers of which something fires. Safe to call from any thread.

    What cannot be written is told all the same, and kept when it can be; whoever posted it hears that it is not yet.
    """

    def __init__(self, groups: Iterable[Received], keeper: Keeper, silences: Silences, clock: Clock) -> None:
        self._groups = {group.key: group for group in groups}
        self._keeper = keeper
        self._silences = silences
        self._clock = clock
        self._config = ReceivedConfig()
        self._root = ""
        self._refresh_every: Duration = HOUR
        self._refreshed: dict[tuple[str, str], Instant] = {}
        self._outbox: Outbox | None = None
        self._integrations: Mapping[str, Sequence[Integration]] = {}
        # Also held while a step is written: an older one must not come after a newer one.
        self._lock = threading.Lock()

    @property
    def interval(self) -> Duration:
        """How often `tick` is to be called."""
        return 5 * SECOND

    def begin(self, config: Config, outbox: Outbox, integrations: Mapping[str, Sequence[Integration]]) -> None:
        """Go over to a configuration whose lanes are at work."""
        with self._lock:
            self._config, self._root = config.alerting.webhook, config.route.receiver
            self._refresh_every = config.route.group_interval
            self._outbox, self._integrations = outbox, integrations

    @property
    def is_open(self) -> bool:
        """Whether there are lanes to put something in."""
        return self._outbox is not None

    def has_room(self, message: Message, receiver: str) -> bool:
        """Say whether what the group has more than before can be held; that it is over always can."""
        if all(alert.ends_at is not None for alert in message.alerts):
            return True
        with self._lock:
            old = self._groups.get((receiver, group_key(message)))
            more = len(message.alerts) - (len(old.alerts) if old is not None else 0)
            held = sum(len(group.alerts) for group in self._groups.values())
            return more <= 0 or held + more <= MOST_ALERTS

    def authorization(self) -> Authorization | None:
        return self._config.shown

    def receiver(self, wanted: str, said: str) -> str | None:
        """Return the receiver that is told; of the ones that are not named, one that is defined."""
        if wanted:
            return wanted if wanted in self._integrations else None
        return said if said in self._integrations else self._config.receiver or self._root

    def take(self, message: Message, receiver: str) -> bool:
        """Tell the receiver what is news to it; returns whether it is on the disk that it is to be told."""
        with self._lock:
            if self._config.shown is None:
                # Nor is it believed later, when those that post have to show who they are.
                message = replace(message, external_url="")
            now = self._clock.now()
            old = self._groups.get((receiver, group_key(message)))
            return self._step(old, heard(old, message, receiver, now, lambda labels: self._mutes(labels, now)))

    def tick(self, now: Instant) -> None:
        """Bring numbers up to date, and end what nobody has spoken of for too long."""
        with self._lock:
            for group in list(self._groups.values()):
                if now - group.heard_at >= self._config.resolve_after:
                    log.warning("an Alertmanager no longer speaks of it", extra={"group": group.group_key})
                    self._step(group, group.without(group.entry.firing, now))
                elif now - max(group.heard_at, self._refreshed.get(group.key, 0)) >= self._refresh_every:
                    self._refreshed[group.key] = now
                    self._put(refresh(group, self._integrations.get(group.receiver, ()), now))

    def groups(self) -> list[Received]:
        """Return the groups of which something fires."""
        with self._lock:
            return list(self._groups.values())

    def seen(self, group: Received) -> None:
        """Of a group as it was something is still there, although nobody speaks of it."""
        with self._lock:
            now = self._clock.now()
            # Written down now and then: a restart must not take it for forgotten.
            if self._groups.get(group.key) is group and now - group.heard_at >= self._config.resolve_after // 2:
                self._groups[group.key] = replace(group, heard_at=now)
                self._keeper.receive(self._groups[group.key], ())

    def end(self, group: Received, gone: Collection[Labels]) -> None:
        """Of a group as it was, these alerts are over; where something newer was heard of it, that counts."""
        with self._lock:
            if self._groups.get(group.key) is group:
                self._step(group, group.without(gone, self._clock.now()))

    def shift(self, by: Duration) -> None:
        """The clock was set by so much: everything moves along."""
        with self._lock:
            for group in list(self._groups.values()):
                self._groups[group.key] = group.shifted(by)
                self._refreshed.pop(group.key, None)
                self._keeper.receive(self._groups[group.key], ())

    def _step(self, old: Received | None, new: Received) -> bool:
        firing = [alert for alert in new.alerts if alert.ends_at is None]
        silenced = bool(firing) and all(self._mutes(alert.labels, new.heard_at) for alert in firing)
        told = tuple(deliveries(old, new, self._integrations.get(new.receiver, ()), is_silenced=silenced))
        new = new.after(old, told)
        if new.is_over:
            self._groups.pop(new.key, None)
            self._refreshed.pop(new.key, None)
        else:
            self._groups[new.key] = new
        written = self._keeper.receive(new, told)
        self._put(told)
        return written

    def _put(self, told: Iterable[Delivery]) -> None:
        if self._outbox is not None:
            for delivery in told:
                self._outbox.put(delivery, self._clock.now())

    def _mutes(self, labels: Labels, now: Instant) -> bool:
        return bool(self._silences.silencing(labels, now))
