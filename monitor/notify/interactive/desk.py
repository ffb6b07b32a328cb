"""Where clicks arrive, one after the other, whichever way they came; and where what follows from them is done."""

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from monitor.dispatch.silence import Silence, SilenceError, SilenceNotFoundError, SilenceState
from monitor.model.instant import Instant
from monitor.notify.interactive.click import Click, read
from monitor.notify.interactive.decide import Outcome, Verdict, decide, followed
from monitor.notify.slack.digest import is_digest
from monitor.notify.slack.incident import Incident, Key

log = logging.getLogger(__name__)

_MOST_WAITING = 1_000
_MOST_REMEMBERED = 10_000


class Known(Protocol):
    """The silences, whoever set them."""

    def get(self, silence_id: str) -> Silence | None: ...


class Silencer(Known, Protocol):
    """The same, to change. Both write before they return, and raise SilenceError."""

    def set(self, silence: Silence, now: Instant) -> Silence: ...

    def expire(self, silence_id: str, now: Instant) -> None: ...


class Shelf(Protocol):
    """The incidents; a change is written before it is seen, and nobody else changes the incident meanwhile."""

    def find(self, incident_id: str) -> Incident | None: ...

    def members(self, integration: str, digest: str) -> list[Incident]: ...

    def change(self, key: Key, how: Callable[[Incident | None], Incident]) -> Incident: ...


@dataclass(frozen=True, slots=True)
class Hooks:
    """
    What the desk calls: `touched` when an incident owes its channel something, `tell` with a text for whoever clicked.

    `counted` hears of every outcome, `now` is the clock, `decided` hears of what changed something.
    """

    touched: Callable[[Incident], None]
    tell: Callable[[Click, Incident | None, str], None]
    counted: Callable[[Outcome], None]
    now: Callable[[], Instant]
    decided: Callable[[Verdict], None] = lambda _: None


class Desk:
    """
    Decides clicks in a thread of its own, in the order of their arrival.

    `allowed_users` (empty: everybody) may be replaced at any time.
    """

    def __init__(self, incidents: Shelf, silences: Silencer, hooks: Hooks) -> None:
        self._incidents = incidents
        self._silences = silences
        self._hooks = hooks
        self._seen: dict[tuple[str, ...], None] = {}
        self._waiting: queue.Queue[tuple[Click, Callable[[], None]] | None] = queue.Queue(_MOST_WAITING)
        self._thread = threading.Thread(target=self._work, name="clicks", daemon=True)
        self.allowed_users: frozenset[str] = frozenset()

    def start(self) -> None:
        self._thread.start()

    def stop(self, seconds: float = 0.5) -> None:
        """Decide what has arrived, for at most so long."""
        try:
            self._waiting.put(None, timeout=seconds)
        except queue.Full:
            return
        if self._thread.is_alive():
            self._thread.join(seconds)

    def take_in(self, payload: Any, envelope_id: str, written: Callable[[], None]) -> None:
        """
        Take what came from Slack; `written` is called when it is decided and written down, or when it is nothing.

        Never waits and never raises.
        """
        click = read(payload, envelope_id)
        if click is None:
            self._hooks.counted(Outcome.FOREIGN)
            written()
            return
        try:
            self._waiting.put_nowait((click, written))
        except queue.Full:
            self._hooks.counted(Outcome.REFUSED)
            written()

    def decide(self, click: Click) -> Verdict:
        """Decide a click and write down what it changes. May be called from the desk's thread alone."""
        if click.identity in self._seen:
            return Verdict(Outcome.REPEATED)
        while len(self._seen) >= _MOST_REMEMBERED:
            del self._seen[next(iter(self._seen))]
        self._seen[click.identity] = None
        found = self._incidents.find(click.incident)
        now = self._hooks.now()
        if found is None:
            return decide(click, None, None, now, self.allowed_users)
        verdicts: list[Verdict] = []

        def change(incident: Incident | None) -> Incident:
            current = incident or found
            members = self._incidents.members(current.integration, current.group_key) if is_digest(current) else []
            silence = self._in_force(current)
            verdict = self._carried_out(decide(click, current, silence, now, self.allowed_users, members))
            # The members first: a kill before the digest is written lets the click come again.
            verdicts.append(replace(verdict, members=self._followed(members, verdict)))
            return verdict.incident or current

        after = self._incidents.change(found.key, change)
        return replace(verdicts[-1], incident=after)

    def _followed(self, members: Sequence[Incident], verdict: Verdict) -> tuple[Incident, ...]:
        digest = verdict.incident
        if digest is None or not verdict.outcome.changes:
            return ()

        def follow(found: Incident) -> Incident:
            return self._incidents.change(found.key, lambda one: followed(one or found, digest, verdict))

        return tuple(follow(member) for member in members)

    def _carried_out(self, verdict: Verdict) -> Verdict:
        """Set and end the silences of a verdict, and return what became of it."""
        now = self._hooks.now()
        try:
            if verdict.silence is not None and verdict.incident is not None:
                silence = self._silences.set(verdict.silence, now)
                verdict = replace(verdict, incident=replace(verdict.incident, silence_id=silence.id))
            if verdict.expires:
                self._silences.expire(verdict.expires, now)
        except SilenceNotFoundError:
            # Expired and forgotten: what was wanted is so.
            return verdict
        except SilenceError as err:
            return Verdict(Outcome.REFUSED, str(err))
        return verdict

    def _in_force(self, incident: Incident) -> Silence | None:
        return in_force(self._silences, incident, self._hooks.now())

    def _work(self) -> None:
        while (taken := self._waiting.get()) is not None:
            click, written = taken
            try:
                verdict = self.decide(click)
            except Exception:  # nothing escapes a tick; it is counted
                log.exception("a click failed unexpectedly")
                verdict = Verdict(Outcome.REFUSED, "That did not work; the log has the reason.")
            written()
            try:
                self._follow(click, verdict)
            except Exception:  # the same: the next click is decided all the same
                log.exception("what follows from a click failed unexpectedly")

    def _follow(self, click: Click, verdict: Verdict) -> None:
        hooks, outcome = self._hooks, verdict.outcome
        hooks.counted(outcome)
        log.info("clicked", extra={"button": click.button, "user": click.user_id, "outcome": outcome.value})
        if outcome.changes and verdict.incident is not None:
            for incident in (verdict.incident, *(member for member in verdict.members if member.owed)):
                hooks.touched(incident)
            hooks.decided(verdict)
        if verdict.tell:
            hooks.tell(click, verdict.incident, verdict.tell)


def in_force(silences: Known, incident: Incident, now: Instant) -> Silence | None:
    """Return the silence that was set by a button of the incident, if it silences now."""
    silence = silences.get(incident.silence_id) if incident.silence_id else None
    return silence if silence is not None and silence.state(now) is SilenceState.ACTIVE else None
