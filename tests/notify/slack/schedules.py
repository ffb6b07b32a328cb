"""
`python -m tests.notify.slack.schedules [how many] [first seed]`: lives of a bot among faults, each by its own dice.

Alerts come and go, Slack fails before and after the deed, messages are deleted, and the process is killed between any
two things that it writes down. In the end every incident has one message, and that says how it stands.
"""

import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from monitor.codec import delivery_of, delivery_text, incident_of, incident_text
from monitor.dispatch.dispatcher import Delivery
from monitor.dispatch.notification import Notification, Reason
from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, SECOND
from monitor.model.labels import EMPTY
from monitor.notify.letter import DeadLetter
from monitor.notify.outbox import Outbox
from monitor.notify.slack.digest import is_digest
from monitor.notify.slack.incident import Incident, Key, Policy
from tests.notify.samples import queue
from tests.notify.slack.bots import NAME
from tests.notify.slack.channels import Line
from tests.slackstub.faults import Answer, Close, Cut, Fault, Late, Reset, SlackError, rate_limited
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import Posted

STEPS = 25
# An end that is told and a message that stands are this far apart at most, probes of a dead channel included.
REST = 25 * MINUTE
FAULTS: tuple[Fault, ...] = (
    Close(applied=True),
    Close(applied=False),
    Reset(applied=True),
    Reset(applied=False),
    Cut(),
    Answer(503, "upstream"),
    Answer(503, "upstream", applied=True),
    Late(2.0),
    Answer(500, "<html>"),
    Answer(200, ""),
    rate_limited("2"),
    rate_limited(None),
    SlackError("ratelimited"),
    SlackError("internal_error", applied=True),
    SlackError("fatal_error"),
    SlackError("something_new", applied=True),
    SlackError("is_archived"),
    SlackError("token_revoked"),
)
METHODS = (
    "chat.postMessage",
    "chat.postMessage",
    "chat.update",
    "conversations.history",
    "conversations.replies",
    None,
)
UNEDITABLE = ("cant_update_message", "edit_window_closed", "is_inactive")


class Killed(BaseException):
    """The process is no more."""


@dataclass
class Disk:
    """The state file: what was written when the process died. It dies when `until_death` has been written."""

    incidents: dict[Key, str] = field(default_factory=dict)
    letters: dict[str, str] = field(default_factory=dict)
    until_death: int | None = None

    def _write(self) -> None:
        if self.until_death is not None:
            self.until_death -= 1
            if self.until_death < 0:
                self.until_death = None
                raise Killed

    def keep_incidents(self, incidents: Sequence[Incident], forgotten: Sequence[Key]) -> None:
        self._write()
        self.incidents |= {one.key: incident_text(one) for one in incidents}
        for key in forgotten:
            self.incidents.pop(key, None)

    def attempt(self, letter: str) -> None:
        del letter
        self._write()

    def settle(self, letter: str) -> None:
        self._write()
        self.letters.pop(letter, None)

    def bury(self, dead: DeadLetter) -> None:
        self.settle(dead.delivery.notification.id)

    def divert(self, delivery: Delivery, copies: Sequence[Delivery], now: int) -> None:
        """There is nobody else to be told."""


class Life:
    """One schedule."""

    def __init__(self, stub: SlackStub, seed: int) -> None:
        self._dice = Random(seed)  # noqa: S311 - a seeded schedule
        self._stub = stub
        self._policy = Policy(digest_above=self._dice.choice((2, 4, 100)))
        self._disk = Disk()
        self._line = Line(stub, policy=self._policy)
        self._groups: dict[str, Alert] = {}
        self._firing: set[str] = set()
        self._lost_messages = False
        self.tallies: Counter[str] = Counter()
        self._be_born()

    def live(self) -> list[str]:
        """Live it; returns what is wrong in the end."""
        names = [f"g{number}" for number in range(self._dice.choice((1, 3, 12)))]
        for _ in range(STEPS):
            self._step(names)
        # From here on everything works, and some of it ends.
        self._stub.forget_faults()
        for name in sorted(self._groups):
            if self._dice.random() < 0.7:
                self._change(name, fires=False)
        self._pass_time(REST)
        return list(self._complaints())

    def _step(self, names: Sequence[str]) -> None:
        for _ in range(self._dice.choice((1, 1, 2, len(names)))):
            name = self._dice.choice(names)
            self._change(name, fires=name not in self._firing)
        if self._firing and self._dice.random() < 0.3:
            self._put(self._dice.choice(sorted(self._firing)), Reason.REFRESH)
        if self._dice.random() < 0.4:
            fault, method = self._dice.choice(FAULTS), self._dice.choice(METHODS)
            self._stub.fail_next(*[fault] * self._dice.choice((1, 1, 3)), method=method)
            self.tallies["faults"] += 1
        if self._dice.random() < 0.05:
            self._stub.fail_next(SlackError(self._dice.choice(UNEDITABLE)), method="chat.update")
            self._lost_messages = True
        if self._dice.random() < 0.03 and self._stub.workspace.messages:
            self._stub.workspace.messages.pop(self._dice.randrange(len(self._stub.workspace.messages)))
            self._lost_messages = True
        if self._dice.random() < 0.3:
            self._disk.until_death = self._dice.randrange(12)
        self._pass_time(self._dice.choice((0, SECOND, 10 * SECOND, 40 * SECOND)))

    def _change(self, name: str, *, fires: bool) -> None:
        now = self._line.clock.at
        if fires:
            severity = self._dice.choice(("critical", "warning"))
            self._groups[name] = replace(queue(f"{name}:1", severity=severity), starts_at=now, active_at=now)
            self._firing.add(name)
        elif name in self._firing:
            self._groups[name] = replace(self._groups[name], ends_at=now)
            self._firing.discard(name)
        else:
            return
        self._put(name, Reason.NEW_ALERTS)

    def _put(self, name: str, reason: Reason) -> None:
        # No two pieces of news of a group have one instant.
        self._line.clock.at += 1
        at = self._line.clock.at
        note = Notification("oncall", name, EMPTY, (self._groups[name],), at, reason, id=f"{name}-{at}")
        self._disk.letters[note.id] = delivery_text(Delivery(NAME, note))
        self.tallies["letters"] += 1
        self._survive(lambda: self._line.outbox.put(Delivery(NAME, note), at))

    def _pass_time(self, by: int) -> None:
        end = self._line.clock.at + by
        while not self._survive(lambda: self._line.pass_time(max(end - self._line.clock.at, 0))):
            pass

    def _survive(self, act: Callable[[], None]) -> bool:
        """Do it; when the process dies of it, begin another one, and return False."""
        try:
            act()
        except Killed:
            self.tallies["deaths"] += 1
            self._be_born()
            return False
        return True

    def _be_born(self) -> None:
        """Begin a life with what the disk holds."""
        clock, line = self._line.clock, Line(self._stub, policy=self._policy)
        line.clock.at = clock.at
        kept = [incident_of(key[0], text) for key, text in self._disk.incidents.items()]
        line.workspace.begin(kept, self._disk)
        line.outbox = Outbox({NAME: line.bot}, line.attempts.append, self._disk, chance=self._dice.random)
        for text in list(self._disk.letters.values()):
            line.outbox.put(delivery_of(NAME, text), clock.at, attempts=1)
        self._line = line

    def _complaints(self) -> Iterator[str]:
        incidents = self._line.workspace.incidents
        messages = {one.ts: one for one in self._stub.messages}
        # Under a message that took the place of another one, a reply may stand that the other one has as well.
        stamps = Counter((_stamp(one), one.thread_ts) for one in messages.values())
        yield from (f"stands {times} times: {stamp}" for (stamp, _), times in stamps.items() if times > 1)
        yield from (f"still waits: {letter}" for letter in self._disk.letters)
        known = set()
        for incident in incidents.all():
            known.add(incident.stamp)
            self.tallies["digests" if is_digest(incident) else "incidents"] += 1
            yield from self._complaints_of(incident, messages.get(incident.ts))
        for name in self._groups:
            if incidents.get((NAME, name)) is None:
                yield f"nobody heard of {name}"
        if not self._lost_messages:
            stray = [one for one in messages.values() if "/" not in _stamp(one) and _stamp(one) not in known]
            # A member of a digest that is over has begun anew: its first message is over, and so it stays.
            yield from (f"stray: {one.text[:60]}" for one in stray if not one.text.startswith("✅"))

    def _complaints_of(self, incident: Incident, message: Posted | None) -> Iterator[str]:
        if incident.owed:
            yield f"owes {incident.owed}: {incident.id}"
        if not is_digest(incident) and incident.is_open is not (incident.group_key in self._firing):
            yield f"wrongly {'open' if incident.is_open else 'over'}: {incident.id}"
        if message is None:
            if not self._lost_messages and (incident.is_open or not incident.digest):
                yield f"no message: {incident.id}"
        elif message.text.startswith("✅") is incident.is_open:
            yield f"says what is not so: {message.text[:60]}"


def _stamp(message: Posted) -> str:
    return str(message.payload["metadata"]["event_payload"]["id"])


def run(seeds: Sequence[int]) -> tuple[list[str], Counter[str]]:
    """Live the schedules of these seeds; return all complaints, and what there was of everything."""
    complaints: list[str] = []
    tallies: Counter[str] = Counter()
    for seed in seeds:
        with SlackStub() as stub:
            life = Life(stub, seed)
            complaints += [f"seed {seed}: {words}" for words in life.live()]
            tallies += life.tallies + Counter({"messages": len(stub.messages), "requests": len(stub.requests)})
    return complaints, tallies


def main() -> int:
    count, first = (int(word) for word in (*sys.argv[1:], *("1000", "0")[len(sys.argv) - 1 :])[:2])
    logging.disable()
    complaints, tallies = run(range(first, first + count))
    sys.stdout.write("\n".join([*complaints, str(dict(tallies)), ""]))
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
