"""The fallback over restarts, with the real state file: a kill anywhere loses nothing and tells nothing twice."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from monitor.dispatch.dispatcher import Delivery, Flush, Integration
from monitor.dispatch.notification import Notification, NotifyError, Reason
from monitor.journal import Journal
from monitor.model.alert import Alert
from monitor.model.instant import MINUTE
from monitor.model.labels import EMPTY, Labels
from monitor.notify.outbox import Outbox
from monitor.storage.db import Database

SLACK, PAGER = "oncall/slack[0]", "pager/webhook[0]"
DEAD_TOKEN = NotifyError("Slack refused: token_revoked", reason="credential", retryable=False)
REFUSED = NotifyError("Slack refused: invalid_blocks", reason="message", retryable=False, hopeless=True)


class KilledError(BaseException):
    """The process is gone."""


@dataclass
class Place:
    error: NotifyError | None = None
    arrived: list[str] = field(default_factory=list)

    def notify(self, notification: Notification) -> None:
        if self.error is not None:
            raise self.error
        self.arrived.append(f"{notification.group_key}{'-' if notification.is_resolved else '+'}")


class Mortal(Database):
    """Dies before, or after, the n-th time that something is committed."""

    left = 1_000
    after = False

    def commit(self, steps: Any) -> None:
        Mortal.left -= 1
        if Mortal.left < 0 and not Mortal.after:
            raise KilledError
        super().commit(steps)
        if Mortal.left < 0:
            raise KilledError


@dataclass
class World:
    """Slack, a pager, and lives of a daemon between them on one folder."""

    folder: Path
    slack: Place
    pager: Place = field(default_factory=Place)

    def live(self, now: int, *news: Delivery) -> None:
        """Begin a life, take news, deliver all that is due; perhaps it ends in the middle."""
        database = Mortal(self.folder)
        journal = Journal(database, lambda: None)
        outbox = Outbox(
            {SLACK: self.slack, PAGER: self.pager},
            lambda _: None,
            journal,
            fallbacks={SLACK: [Integration(PAGER, send_resolved=True)]},
        )
        try:
            outbox.recall(journal.astray())
            for waiting in journal.letters():
                outbox.put(waiting.delivery, now, waiting.attempts, diverted=waiting.diverted)
            for delivery in news:
                journal.commit((), (), Flush((delivery,)))
                outbox.put(delivery, now)
            outbox.deliver_due(now)
        except KilledError:
            pass
        finally:
            Mortal.left, Mortal.after = 1_000, False
            database.close()


def news(group: str, now: int, *, over: bool = False) -> Delivery:
    alert = Alert(Labels.of(alertname="Down"), EMPTY, 0, now if over else None)
    return Delivery(SLACK, Notification("oncall", group, EMPTY, (alert,), now, Reason.FIRST, id=f"{group}{now}"))


@pytest.fixture(autouse=True)
def immortal() -> Iterator[None]:
    yield
    Mortal.left, Mortal.after = 1_000, False


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("commits", range(1, 6))
@pytest.mark.parametrize("error", [DEAD_TOKEN, REFUSED], ids=["dead token", "refused"])
def test_a_kill_at_any_commit_loses_nothing_and_tells_the_fallback_once(
    tmp_path: Path, error: NotifyError, commits: int, after: object
) -> None:
    world = World(tmp_path, Place(error))
    # The first commit is the news itself: before it, it would be told by the rules again.
    Mortal.left, Mortal.after = commits, bool(after)
    world.live(0, news("a", 0))
    world.live(MINUTE)
    world.live(2 * MINUTE)
    # Between an answer and its being noted, a webhook that cannot be asked is told again.
    assert set(world.pager.arrived) == {"a+"}
    assert len(world.pager.arrived) <= 2
    world.slack.error = None
    world.live(10 * MINUTE, news("a", 10 * MINUTE, over=True))
    assert world.pager.arrived[-1] == "a-"
    assert world.slack.arrived == (["a+", "a-"] if error is DEAD_TOKEN else ["a-"])
    world.live(11 * MINUTE)
    assert world.pager.arrived.count("a-") == 1


def test_a_group_that_never_ends_is_forgotten_with_the_notification_log(tmp_path: Path) -> None:
    world = World(tmp_path, Place(DEAD_TOKEN))
    world.live(0, news("a", 0))
    database = Database(tmp_path)
    assert database.astray() == [(SLACK, "a")]
    database.expire_nflog(1)
    assert database.astray() == []
    database.close()
