"""
One trouble from its beginning to its end: one message in a channel, edited in place; its thread is the history.

Pure: what is to be said is decided here, and done by the bot.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import isnan, nan

from monitor.dispatch.notification import Notification, Reason
from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, Duration, Instant
from monitor.notify.severity import Severity, severity_of, worst
from monitor.notify.slack.replies import News, words
from monitor.notify.slack.signs import MOVED_SIGN
from monitor.notify.summary import is_worse, since_of, value_of

Key = tuple[str, str]  # (integration, group key)

# Of `escalated`: another receiver has been told, and has yet to hear that it is over.
PASSED_ON = 2
FLAP_WINDOW: Duration = 30 * MINUTE
# What has begun to fire so often counts as over only when nothing has fired for so long.
FLAPS = 3
FLAP_HOLD: Duration = 2 * MINUTE
DIGEST_ABOVE = 10
# Of an alert that comes and goes, the channel hears at most so often.
_RINGS_APART: Duration = 5 * MINUTE


@dataclass(frozen=True, slots=True)
class PostRoot:
    """Post the message of the incident: it says everything that is owed."""


@dataclass(frozen=True, slots=True)
class UpdateRoot:
    """Bring the message up to date, which notifies nobody."""


@dataclass(frozen=True, slots=True)
class Reply:
    """
    Say something in the thread, and with `broadcast` in the channel too; `id` is stamped on it.

    `calls`: it rings for somebody, which no message that says how things stand takes off it.
    """

    id: str
    text: str
    broadcast: bool = False
    calls: bool = False


Action = PostRoot | UpdateRoot | Reply


@dataclass(frozen=True, slots=True)
class Incident:
    """
    What became of one group of alerts in one channel, and everything that its message is drawn from.

    `id` names it for ever. `channel` and `ts` are Slack's, and empty until the message stands; `roots` counts the
    messages before this one, which could not be edited any more, `earlier` is a link to the last of them.
    `told` is the newest notification. `episodes` counts how often it began to fire. `peak` is the worst value that
    anybody was told of, as text and as a number. `resolved_at` is None while something fires.
    `owed` is what has yet to be done, in order; `doubtful`: the first post among it may have been made already.
    `alarmed_at` is since when it waits for somebody's answer, `escalated` how far it went without one,
    `passed_to` the receiver that was told then, who must hear of the end whatever is configured by then.
    `digest` is the group key of the digest in which it was told first, or "". `moved`: it is closed, because the routes
    lead its alerts to another group.
    """

    integration: str
    group_key: str
    id: str
    opened_at: Instant
    told: Notification
    channel: str = ""
    ts: str = ""
    roots: int = 0
    earlier: str = ""
    episodes: int = 1
    peak: str = ""
    peak_value: float = nan
    acked_by: str = ""
    acked_at: Instant | None = None
    silenced_by: str = ""
    silenced_until: Instant | None = None
    silence_id: str = ""
    alarmed_at: Instant = 0
    escalated: int = 0
    passed_to: str = ""
    resolved_at: Instant | None = None
    edited_at: Instant | None = None
    rang_at: Instant | None = None
    owed: tuple[Action, ...] = ()
    doubtful: bool = False
    digest: str = ""
    moved: bool = False

    @property
    def key(self) -> Key:
        return (self.integration, self.group_key)

    @property
    def stamp(self) -> str:
        """What its message is stamped with, so that it can be found again."""
        return f"{self.id}/{self.roots}" if self.roots else self.id

    @property
    def stands(self) -> bool:
        """Whether a message of it stands in Slack, as far as is known."""
        return bool(self.ts)

    @property
    def is_open(self) -> bool:
        return self.resolved_at is None

    @property
    def calls(self) -> tuple[Action, ...]:
        """What is owed to whoever has yet to answer."""
        waits = self.is_open and self.acked_at is None
        return tuple(action for action in self.owed if waits and isinstance(action, Reply) and action.calls)

    def shifted(self, by: Duration) -> "Incident":
        """Return the incident with all its dates moved."""

        def moved(at: Instant | None) -> Instant | None:
            return None if at is None else at + by

        return replace(
            self,
            opened_at=self.opened_at + by,
            told=self.told.shifted(by),
            acked_at=moved(self.acked_at),
            silenced_until=moved(self.silenced_until),
            alarmed_at=self.alarmed_at + by,
            resolved_at=moved(self.resolved_at),
            edited_at=moved(self.edited_at),
            rang_at=moved(self.rang_at),
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """
    How a channel wants it.

    What fires again within `flap_window` of its end is the same incident; from the third time on it is over when
    nothing has fired for `flap_hold`. More than `digest_above` new incidents at
    once become one digest. Without `sends_resolved` nobody says that an incident is over. With
    `has_buttons` somebody hears of clicks; else commands reach the daemon at `external_url` ("": nobody said where).
    `mention`, written as Slack wants it, rings for somebody when something critical begins.
    """

    flap_window: Duration = FLAP_WINDOW
    flap_hold: Duration = FLAP_HOLD
    digest_above: int = DIGEST_ABOVE
    sends_resolved: bool = True
    has_buttons: bool = False
    external_url: str = ""
    mention: str = ""


def goes_on(incident: Incident, told: Notification, policy: Policy) -> bool:
    """Say whether `told` is news of this incident, and not the beginning of another one."""
    if incident.moved:
        # Words that were on their way when it was closed are about it, and change nothing any more.
        return incident.resolved_at is None or told.now <= incident.resolved_at
    if incident.resolved_at is not None:
        # A digest has been read and is over; who fires again has a message of its own. But what has yet to be said of
        # the end would never be said.
        within = told.now - incident.resolved_at <= policy.flap_window
        return told.is_resolved or bool(incident.owed) or (within and not incident.digest)
    if policy.sends_resolved or told.now - incident.told.now <= policy.flap_window:
        return True
    return not _starts(incident.told.firing).isdisjoint(_starts(told.firing))


def advance(
    integration: str, incident: Incident | None, told: Notification, policy: Policy
) -> tuple[Incident, tuple[Action, ...]]:
    """Return the incident as `told` leaves it, and what is to be done."""
    if incident is None or not goes_on(incident, told, policy):
        return _opened(integration, told), (PostRoot(),)
    if incident.moved:
        return incident, ()
    news = _news(incident, told)
    refired = news.kind is Reason.FIRST
    moved = _with_peak(
        replace(
            incident,
            told=told,
            episodes=incident.episodes + refired,
            resolved_at=(incident.resolved_at or _end(told)) if told.is_resolved else None,
            # Whoever took care of it took care of what was.
            acked_by="" if refired else incident.acked_by,
            acked_at=None if refired else incident.acked_at,
            alarmed_at=told.now if refired else incident.alarmed_at,
            escalated=incident.escalated if not refired or incident.escalated == PASSED_ON else 0,
        )
    )
    if not incident.stands:
        return moved, (PostRoot(), *_reply(moved, news))
    return moved, (UpdateRoot(), *_reply(moved, news))


def moved_on(incident: Incident, now: Instant) -> Incident:
    """Return the incident closed: from `now` on its alerts are told under the keys of other groups."""
    alerts = tuple(alert if alert.resolved(now) else replace(alert, ends_at=now) for alert in incident.told.alerts)
    told = replace(incident.told, alerts=alerts, now=max(now, incident.told.now), reason=Reason.ALL_RESOLVED)
    closed = replace(incident, told=told, resolved_at=now, moved=True)
    if not incident.stands and not incident.doubtful:
        return replace(closed, owed=())
    text = f"{MOVED_SIGN} *Moved:* the routes have changed, and what still fires is told in another message"
    return owing(closed, (UpdateRoot() if incident.stands else PostRoot(), Reply(f"{incident.id}/moved", text)))


def owing(incident: Incident, actions: Iterable[Action]) -> Incident:
    """Return the incident that owes `actions` besides what it owes already: one word for the message, all replies."""
    both = (*incident.owed, *actions)
    replies = tuple(action for action in both if isinstance(action, Reply))
    root: tuple[Action, ...] = tuple(action for action in both if not isinstance(action, Reply))[-1:]
    rang = any(reply.broadcast for reply in replies) or PostRoot() in root
    return replace(incident, owed=root + replies, rang_at=incident.told.now if rang else incident.rang_at)


def _opened(integration: str, told: Notification) -> Incident:
    since = min((since_of(alert) for alert in told.alerts), default=told.now)
    resolved_at = _end(told) if told.is_resolved else None
    opened = Incident(integration, told.group_key, told.id, since, told, resolved_at=resolved_at, alarmed_at=told.now)
    return _with_peak(opened)


def _news(incident: Incident, told: Notification) -> News:
    """Return what is new: of this kind are the reasons of a notification, and FIRST is that it fires again."""
    before = {alert.labels: alert.starts_at for alert in incident.told.firing}
    still = {alert.labels for alert in told.firing}
    new = tuple(alert for alert in told.firing if alert.labels not in before)
    # An end that was not told, because the next beginning was quicker.
    again = tuple(alert for alert in told.firing if before.get(alert.labels, alert.starts_at) < alert.starts_at)
    over = tuple(alert for alert in told.resolved if alert.labels in before)
    dropped = not over and any(labels not in still for labels in before)
    if told.is_resolved:
        kind = Reason.ALL_RESOLVED if incident.is_open else Reason.NOTHING_NEW
    elif not incident.is_open or (again and not new and len(again) == len(still)):
        kind = Reason.FIRST
    elif new or again:
        kind = Reason.NEW_ALERTS
    elif over or dropped:
        kind = Reason.NEW_RESOLVED
    else:
        kind = Reason.REPEAT if told.reason is Reason.REPEAT else Reason.NOTHING_NEW
    return News(kind, new + again, over)


def _reply(incident: Incident, news: News) -> tuple[Reply, ...]:
    text = words(news, incident.told, incident.episodes, incident.opened_at, incident.peak)
    if not text:
        return ()
    return (Reply(f"{incident.told.id}/reply", text, broadcast=_rings(incident, news)),)


def _rings(incident: Incident, news: News) -> bool:
    """Say whether the channel must hear of it: of what is critical, and of what flaps not each time."""
    concerned = news.firing if news.kind is Reason.NEW_ALERTS else incident.told.firing
    if worst(severity_of(alert) for alert in concerned) is not Severity.CRITICAL:
        return False
    if news.kind is Reason.FIRST:
        return incident.rang_at is None or incident.told.now - incident.rang_at >= _RINGS_APART
    return news.kind in (Reason.NEW_ALERTS, Reason.REPEAT)


def _with_peak(incident: Incident) -> Incident:
    for alert in incident.told.alerts:
        if not isnan(alert.value) and is_worse(alert, incident.peak_value):
            incident = replace(incident, peak=value_of(alert), peak_value=alert.value)
    return incident


def _end(told: Notification) -> Instant:
    return max((alert.ends_at for alert in told.resolved if alert.ends_at is not None), default=told.now)


def _starts(alerts: Iterable[Alert]) -> frozenset[object]:
    return frozenset((alert.labels, alert.starts_at) for alert in alerts)
