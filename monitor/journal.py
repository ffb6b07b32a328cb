"""What a step of the pipeline has changed goes into the state file before anybody is told; at a start it comes back."""

import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from monitor.codec import (
    active_of,
    active_text,
    delivery_of,
    delivery_text,
    entry_of,
    entry_text,
    incident_of,
    incident_text,
    labels_of,
    labels_text,
    received_of,
    received_text,
    silence_of,
    silence_text,
)
from monitor.dispatch.dispatcher import LOG_RETENTION, Delivery, Flush
from monitor.dispatch.nflog import Entry, LogKey
from monitor.dispatch.received import Received
from monitor.dispatch.silence import Silence
from monitor.model.instant import DAY, Duration, Instant
from monitor.notify.letter import DeadLetter
from monitor.notify.slack.handled import Handled
from monitor.notify.slack.incident import Incident, Key
from monitor.rules.manager import AlertKey, Kept
from monitor.storage.db import Database, StateError
from monitor.storage.history.keep import RETENTION
from monitor.storage.rows import (
    AlertRow,
    AstrayRow,
    Changes,
    DeadRow,
    HandledRow,
    IncidentRow,
    LetterRow,
    LogRow,
    Over,
    ReceivedRow,
)
from monitor.storage.thinning import thinned

log = logging.getLogger(__name__)

# How long a letter that was given up can be looked at and tried again.
DEAD_RETENTION: Duration = 7 * DAY


@dataclass(frozen=True, slots=True)
class Waiting:
    """A delivery that was not made, with the attempts that were begun; `diverted`: others were given it as well."""

    delivery: Delivery
    attempts: int
    diverted: bool


class Journal:
    """
    The state file as the pipeline and the outbox see it.

    A full disk must not keep anybody from being told: what cannot be written is counted (`failed` hears of it), kept
    in memory and written as soon as it can be.
    """

    def __init__(self, database: Database, failed: Callable[[], None]) -> None:
        self._database = database
        self._failed = failed
        self._unwritten: list[Changes] = []
        self._lock = threading.Lock()
        self._silent = False
        # What was last said of each incident's alerts. Whoever keeps incidents does so one at a time.
        self._handled: dict[Key, frozenset[HandledRow]] = {}
        # How long it is known who acknowledged what: as long as the history.
        self.retention: Duration = RETENTION

    def commit(self, changed: Sequence[Kept], gone: Sequence[AlertKey], flush: Flush, evaluated: Instant = 0) -> None:
        """Keep what a step came to, all of it or nothing."""
        changes = Changes(
            alerts=tuple(_alert_row(kept) for kept in changed),
            gone=tuple((group, rule, labels_text(labels)) for group, rule, labels in gone),
            log=tuple(LogRow(*key, entry.at, entry_text(entry)) for key, entry in flush.entries),
            letters=tuple(_letter_row(delivery) for delivery in flush.deliveries),
            evaluated=evaluated,
        )
        if changes.matter or evaluated:
            self._write(changes)

    def may_write(self) -> bool:
        """Say whether nobody else has begun to write to the file."""
        try:
            self._database.check_fence()
        except StateError as err:
            self._complain(err)
            return False
        return True

    def attempt(self, letter: str) -> None:
        try:
            self._database.attempt(letter)
        except StateError as err:
            self._complain(err)

    def settle(self, letter: str) -> None:
        self._write(Changes(settled=(letter,)))

    def bury(self, dead: DeadLetter) -> None:
        told = dead.delivery
        body = delivery_text(told)
        row = DeadRow(told.notification.id, told.integration, body, dead.attempts, dead.error, dead.at)
        self._write(Changes(dead=(row,)))
        self._forget_dead(dead.at)

    def divert(self, delivery: Delivery, copies: Sequence[Delivery], now: Instant) -> None:
        told = delivery.notification
        row = AstrayRow(told.id, delivery.integration, told.group_key, now, over=told.is_resolved)
        self._write(Changes(letters=tuple(_letter_row(copy) for copy in copies), astray=(row,)))

    def raise_dead(self, dead: DeadLetter) -> None:
        """A letter that was given up waits once more; others have had it, if there are any."""
        row = LetterRow(dead.delivery.notification.id, dead.delivery.integration, delivery_text(dead.delivery), 0, True)
        self._write(Changes(letters=(row,), raised=(row.id,)))

    def keep(self, silence: Silence) -> None:
        """Keep a silence as it is now."""
        self._write(Changes(silences=((silence.id, silence_text(silence)),)))

    def drop(self, silence_id: str) -> None:
        self._write(Changes(forgotten=(silence_id,)))

    def keep_incidents(self, incidents: Sequence[Incident], forgotten: Sequence[Key]) -> None:
        """Keep incidents as they are now, and forget others."""
        rows = tuple(IncidentRow(*incident.key, incident_text(incident)) for incident in incidents)
        handled: list[HandledRow] = []
        over: list[Over] = []
        for incident in incidents:
            # A message is edited again and again; what it tells of is another thing seldom.
            before, now = self._handled.get(incident.key, frozenset()), frozenset(_handled_rows(incident))
            handled += now - before
            if now != before and incident.resolved_at is not None:
                over.append(Over(incident.integration, incident.id, incident.resolved_at))
            self._handled[incident.key] = now
        for key in forgotten:
            self._handled.pop(key, None)
        since = max((one.alarmed_at - self.retention for one in incidents), default=0) if handled else 0
        changes = Changes(incidents=rows, closed=tuple(forgotten), handled=tuple(handled), over=tuple(over))
        self._write(replace(changes, handled_since=since))

    def receive(self, group: Received, deliveries: Sequence[Delivery]) -> bool:
        """Keep a group of an Alertmanager and what is told of it; returns whether the file holds it by now."""
        row = ReceivedRow(*group.key, received_text(group), over=group.is_over)
        self._write(Changes(letters=tuple(_letter_row(delivery) for delivery in deliveries), received=(row,)))
        return self.is_written

    @property
    def is_written(self) -> bool:
        """Whether the file holds everything that it should."""
        with self._lock:
            return not self._unwritten

    def alerts(self) -> Iterator[Kept]:
        """Yield the alerts of an earlier life. Raises StateError, as all that read."""
        for row in self._database.alerts():
            yield Kept(row.group, row.rule, active_of(row.body))

    def notification_log(self, now: Instant) -> Mapping[LogKey, Entry]:
        self._database.expire_nflog(now - LOG_RETENTION)
        return {(row.group_key, row.integration): entry_of(row.at, row.body) for row in self._database.nflog()}

    def letters(self) -> Iterator[Waiting]:
        """Yield the deliveries that were not made, the oldest first."""
        for row in self._database.letters():
            yield Waiting(delivery_of(row.integration, row.body), row.attempts, row.diverted)

    def astray(self) -> Sequence[tuple[str, str]]:
        """Return the integrations and group keys of which others have heard the beginning."""
        return self._database.astray()

    def dead_letters(self, now: Instant) -> list[DeadLetter]:
        """Return what was given up within the last days, the newest first."""
        self._forget_dead(now)
        return [
            DeadLetter(delivery_of(row.integration, row.body), row.attempts, row.error, row.at)
            for row in self._database.dead_letters()
        ]

    def silences(self) -> Iterator[Silence]:
        for body in self._database.silences():
            yield silence_of(body)

    def incidents(self) -> Iterator[Incident]:
        for row in self._database.incidents():
            yield incident_of(row.integration, row.body)

    def handled(self, after: Instant, until: Instant) -> list[Handled]:
        """Return what incidents told of and fired some time in between, the oldest first. Raises StateError."""
        return [_handled_of(row) for row in self._database.handled(after, until)]

    def received(self) -> Iterator[Received]:
        for row in self._database.received():
            yield received_of(row.receiver, row.group_key, row.body)

    def evaluated(self) -> Instant | None:
        return self._database.evaluated()

    def close(self) -> None:
        try:
            self._database.close()
        except StateError as err:
            self._complain(err)

    def _write(self, changes: Changes) -> None:
        """Write the changes, and before them what could not be written earlier."""
        with self._lock:
            steps = [*self._unwritten, changes]
            try:
                self._database.commit(steps)
            except StateError as err:
                self._unwritten = thinned(steps)
                self._complain(err)
            else:
                self._unwritten, self._silent = [], False

    def _forget_dead(self, now: Instant) -> None:
        try:
            self._database.expire_dead(now - DEAD_RETENTION)
        except StateError as err:
            self._complain(err)

    def _complain(self, err: StateError) -> None:
        self._failed()
        # Once until it is written again: the counter has the rest.
        log.log(logging.DEBUG if self._silent else logging.ERROR, "state not written", extra={"reason": str(err)})
        self._silent = True


def _alert_row(kept: Kept) -> AlertRow:
    return AlertRow(kept.group, kept.rule, labels_text(kept.alert.labels), active_text(kept.alert))


def _letter_row(delivery: Delivery) -> LetterRow:
    return LetterRow(delivery.notification.id, delivery.integration, delivery_text(delivery))


def _handled_rows(incident: Incident) -> Iterator[HandledRow]:
    """Yield the alerts that an incident tells of, as they stand."""
    for alert in incident.told.alerts:
        yield HandledRow(
            incident.integration,
            incident.id,
            incident.episodes,
            labels_text(alert.labels),
            alert.starts_at,
            alert.ends_at,
            incident.alarmed_at,
            incident.acked_at,
            incident.acked_by,
        )


def _handled_of(row: HandledRow) -> Handled:
    return Handled(**(asdict(row) | {"labels": labels_of(json.loads(row.labels))}))
