"""An incident as a channel sees it: what the bot decides and draws, by the same functions, and nothing is sent."""

from collections.abc import Sequence
from dataclasses import asdict, replace

from docs.pictures.page import Post
from monitor.capacity.advice import Engine, advice
from monitor.dispatch.notification import Notification, Reason
from monitor.model.alert import Alert
from monitor.model.instant import Instant
from monitor.model.labels import ALERT_NAME, EMPTY, Labels
from monitor.notify.interactive.buttons import buttons_of, with_buttons
from monitor.notify.interactive.click import Button, Click
from monitor.notify.interactive.decide import decide
from monitor.notify.readings import Readings
from monitor.notify.slack.digest import Digests, assembled
from monitor.notify.slack.drawing import drawn
from monitor.notify.slack.incident import Incident, Policy, Reply, advance
from monitor.notify.slack.incidents import Incidents
from monitor.notify.slack.payload import Message, message

_BOT = "slack"
_POLICY = Policy(has_buttons=True)
# The model of the pictures on an L4 whose cache is full.
_SETTINGS = {"cache_dtype": "auto", "gpu_memory_utilization": "0.9", "kv_cache_size_tokens": "28464"}
_L4 = Engine(28_464, 16_384, 1.74, 9.4, 16, 0.97, 1.0, _SETTINGS)


class Known:
    """Knows the engine's numbers, those of an overload with the longest queue of `alerts`; see `Facts` in notify."""

    def __init__(self, alerts: Sequence[Alert]) -> None:
        self._waiting = max(alert.value for alert in alerts)

    def at(self, labels: Labels, at: Instant) -> Readings:
        del at
        told = advice(labels.value(ALERT_NAME), _L4)
        return Readings(9, self._waiting, kv_cache=0.99, preemptions=0.9, tokens=312, ttft=14.2, advice=told)

    def worst(self, labels: Labels, since: Instant, until: Instant) -> Readings:
        del since
        return replace(self.at(labels, until), advice=())


class Story:
    """One incident: its message as it is now, and what was said in its thread."""

    def __init__(self) -> None:
        self._incident: Incident | None = None
        self._at: Instant = 0
        self.replies: list[Post] = []

    @property
    def root(self) -> Post:
        """The message as it stands after the last thing that happened."""
        incident = self._known
        shown = with_buttons(message(*drawn(incident, Known(incident.told.alerts))), buttons_of(incident))
        edited_at = None if self._at == self._posted_at else self._at
        return Post(asdict(shown), self._posted_at, edited_at)

    def hear(self, at: Instant, *alerts: Alert, reason: Reason = Reason.FIRST) -> None:
        """Let the channel be told of `alerts` at `at`."""
        told = Notification("oncall", "group", EMPTY, alerts, at, reason, id=f"n{at}")
        if self._incident is None:
            self._posted_at = at
        self._incident, actions = advance(_BOT, self._incident, told, _POLICY)
        self._said(at, actions)

    def click(self, at: Instant, button: Button, who: str) -> None:
        """Let somebody click on a button at `at`."""
        click = Click(button, self._known.id, "U0ONCALL1", who, "C0ONCALL1", "1.0", str(at))
        verdict = decide(click, self._known, None, at, ())
        if verdict.incident is None:
            raise ValueError(f"the click changes nothing: {verdict.outcome}")
        self._incident = replace(verdict.incident, silence_id="silence" if verdict.silence else "")
        self._said(at, self._incident.owed)

    @property
    def _known(self) -> Incident:
        if self._incident is None:
            raise ValueError("nothing was heard yet")
        return self._incident

    def _said(self, at: Instant, actions: Sequence[object]) -> None:
        self._at = at
        self._incident = replace(self._known, ts="1.0", channel="C0ONCALL1", owed=())
        said = [action.text for action in actions if isinstance(action, Reply)]
        self.replies += [Post(asdict(Message(text, [], [])), at) for text in said]


def digest(alerts: Sequence[Alert], at: Instant) -> tuple[Post, list[Post]]:
    """Return the message that tells of one new incident for each of `alerts`, and what is in its thread at once."""
    told = [
        Notification("oncall", f"group {number}", EMPTY, (alert,), at, Reason.FIRST, id=f"n{number}")
        for number, alert in enumerate(alerts)
    ]
    incidents = Incidents()
    key = Digests(_BOT, incidents, _POLICY).take(told)
    whole = incidents.get(key)
    if whole is None:
        raise ValueError("no digest")
    shown = message(*drawn(assembled(whole, incidents.members(_BOT, whole.group_key)), Known(alerts)))
    replies = [Post(asdict(Message(owed.text, [], [])), at) for owed in whole.owed if isinstance(owed, Reply)]
    return Post(asdict(with_buttons(shown, buttons_of(whole))), at), replies
