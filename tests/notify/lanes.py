"""An outbox of one lane for tests, and fakes for both of its ends."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from monitor.dispatch.dispatcher import Delivery
from monitor.dispatch.notification import Notification, Notifier, NotifyError, Reason
from monitor.model.alert import Alert
from monitor.model.instant import SECOND
from monitor.model.labels import EMPTY, Labels
from monitor.notify.letter import Attempt, DeadLetter
from monitor.notify.outbox import Outbox


@dataclass
class FakeNotifier:
    """Fails with each of `errors` in turn, then delivers."""

    errors: list[Exception] = field(default_factory=list)
    delivered: list[Notification] = field(default_factory=list)

    def notify(self, notification: Notification) -> None:
        if self.errors:
            raise self.errors.pop(0)
        self.delivered.append(notification)


@dataclass
class FakeLedger:
    """Notes what it hears, in order."""

    heard: list[str] = field(default_factory=list)

    def attempt(self, letter: str) -> None:
        self.heard.append(f"attempt {letter}")

    def settle(self, letter: str) -> None:
        self.heard.append(f"settle {letter}")

    def bury(self, dead: DeadLetter) -> None:
        self.heard.append(f"bury {dead.delivery.notification.id}: {dead.error}")

    def divert(self, delivery: Delivery, copies: Sequence[Delivery], now: int) -> None:
        to = " ".join(copy.integration for copy in copies)
        self.heard.append(f"divert {delivery.notification.id} to {to} at {now}")


def delivery(group: str = "g", *, at: int = 0, ended: bool = False, to: str = "slack") -> Delivery:
    alert = Alert(Labels.of(alertname="Down"), EMPTY, 0, at if ended else None)
    return Delivery(to, Notification("oncall", group, EMPTY, (alert,), at, Reason.FIRST, id=f"{group}{at}"))


def lane(notifier: Notifier, ledger: FakeLedger | None = None) -> tuple[Outbox, list[Attempt]]:
    attempts: list[Attempt] = []
    return Outbox({"slack": notifier}, attempts.append, ledger, chance=lambda: 1.0), attempts


UNREACHABLE = NotifyError("no route", reason="network", retryable=True)
LIMITED = NotifyError("slow down", reason="ratelimited", retryable=True, retry_after=30 * SECOND)
