"""A bot's lane before a stub of Slack, on a clock that is moved by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from monitor.clock import VirtualClock
from monitor.dispatch.dispatcher import Delivery
from monitor.dispatch.notification import Notification, Reason
from monitor.model.alert import Alert
from monitor.model.instant import Duration, to_seconds
from monitor.model.labels import EMPTY
from monitor.notify.letter import Attempt
from monitor.notify.outbox import Outbox
from monitor.notify.slack.incident import Incident, Policy
from monitor.notify.slack.incidents import Incidents
from monitor.notify.slack.workspace import Workspace
from tests.notify.samples import NOW
from tests.notify.slack.bots import NAME, PATIENCE, bot_of
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import Posted


@dataclass
class Line:
    """What is told goes into the lane of a bot; `pass_time` lets it work."""

    stub: SlackStub
    policy: Policy = field(default_factory=Policy)
    timeout: Duration = PATIENCE
    clock: VirtualClock = field(default_factory=lambda: VirtualClock(NOW))
    attempts: list[Attempt] = field(default_factory=list)
    incidents: Incidents = field(default_factory=Incidents)

    def __post_init__(self) -> None:
        self.workspace = Workspace(self.clock.now, self.incidents)
        self.stub.workspace.seconds = lambda: to_seconds(self.clock.at)
        # What comes too often is refused, and the judge hears of it.
        self.stub.workspace.rates.enforced = True
        self.bot = bot_of(self.stub, workspace=self.workspace, timeout=self.timeout, policy=self.policy)
        self.outbox = Outbox({NAME: self.bot}, self.attempts.append, chance=lambda: 1.0)

    def tell(self, *alerts: Alert, group: str = "g", reason: Reason = Reason.NEW_ALERTS) -> Notification:
        """Put a notification of now into the lane."""
        now = self.clock.at
        note = Notification("oncall", group, EMPTY, alerts, now, reason, id=f"{group}-{now}")
        self.outbox.put(Delivery(NAME, note), now)
        return note

    def pass_time(self, by: Duration = 0) -> None:
        """Let the lane do what is due until `by` from now, each thing when it is."""
        end = self.clock.at + by
        while (due := self.outbox.next_due()) is not None and due <= end:
            self.clock.at = max(self.clock.at, due)
            self.outbox.deliver_due(self.clock.at)
        self.clock.at = end

    @property
    def calls(self) -> list[str]:
        """The methods called, in order, without the part before the dot."""
        return [request.name.rpartition(".")[2] for request in self.stub.requests]

    def times(self, method: str) -> list[float]:
        """When a method was called, in seconds since the clock began."""
        return [one.at - to_seconds(NOW) for one in self.stub.requests if one.name == method]

    @property
    def roots(self) -> list[Posted]:
        """What stands in the channel as a message of its own."""
        return [message for message in self.stub.messages if not message.thread_ts]

    @property
    def replies(self) -> list[Posted]:
        return [message for message in self.stub.messages if message.thread_ts]

    def incident(self, group: str = "g") -> Incident:
        incident = self.workspace.incidents.get((NAME, group))
        assert incident is not None
        return incident


def headers(messages: Sequence[Posted]) -> list[str]:
    """Return the first line of each message."""
    return [message.text.splitlines()[0] for message in messages]
