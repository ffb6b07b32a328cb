"""
Many incidents at once: one message instead of a flood.

A digest is an incident whose message is drawn from its members. Those of them that still fire a while later get a
message each, in its thread.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from monitor.dispatch.notification import Notification, Reason
from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import EMPTY
from monitor.notify.moment import lasted
from monitor.notify.severity import Severity, severity_of, worst
from monitor.notify.slack.incident import (
    Incident,
    Key,
    Policy,
    PostRoot,
    Reply,
    UpdateRoot,
    advance,
    goes_on,
    owing,
)
from monitor.notify.slack.incidents import Incidents
from monitor.notify.slack.overview import everything, hides_some
from monitor.notify.slack.replies import listed
from monitor.notify.slack.signs import RESOLVED_SIGN
from monitor.notify.summary import summarise

_PREFIX = "digest/"
# What is new so soon after a digest joins it.
_FRESH: Duration = MINUTE
# How long after the digest its members are told one by one, if they still fire.
LATER: Duration = MINUTE


def is_digest(incident: Incident) -> bool:
    return incident.group_key.startswith(_PREFIX)


def assembled(digest: Incident, members: Iterable[Incident]) -> Incident:
    """Return the digest as it is drawn: with the alerts of all its members."""
    alerts = tuple(alert for member in members for alert in member.told.alerts)
    return replace(digest, told=replace(digest.told, alerts=alerts))


class Digests:
    """The digests of one integration: what goes into one, and what that does to its members."""

    def __init__(self, integration: str, incidents: Incidents, policy: Policy) -> None:
        self._integration = integration
        self._incidents = incidents
        self._policy = policy
        self._newest: Key | None = None

    def of(self, incident: Incident) -> Incident | None:
        """Return the digest that the incident was told in first."""
        return self._incidents.get((self._integration, incident.digest)) if incident.digest else None

    def fresh(self, now: Instant) -> Incident | None:
        """Return the digest that takes what is new at `now`."""
        digest = self._incidents.get(self._newest) if self._newest is not None else None
        if digest is None or not digest.is_open:
            return None
        is_fresh = digest.rang_at is not None and now - digest.rang_at <= _FRESH
        return digest if is_fresh or not digest.stands else None

    def owing(self) -> list[Key]:
        """Return the digests that owe something."""
        every = self._incidents.all()
        return [one.key for one in every if one.owed and is_digest(one) and one.integration == self._integration]

    def told_alone_at(self, incident: Incident) -> Instant:
        """Return when a member that is known from its digest has a message of its own; 0 for all others."""
        digest = self.of(incident)
        return 0 if digest is None or incident.stands else (digest.rang_at or 0) + LATER

    def tells_enough(self, incident: Incident, now: Instant) -> bool:
        """Say whether the digest of an incident is all that is to be said of it at `now`."""
        return now < self.told_alone_at(incident)

    def needs_no_refresh(self, told: Notification) -> bool:
        """
        Say whether nothing but numbers has moved, of one among many: the edits are needed for news.

        One that has yet to get a message of its own is another matter: this letter may be all that will remember it.
        """
        incident = self._incident(told)
        if told.reason is not Reason.REFRESH or incident is None or incident.owed:
            return False
        return bool(incident.digest) and incident.is_open

    def is_new(self, told: Notification) -> bool:
        """Say whether it takes a message of its own to tell it."""
        incident = self._incident(told)
        if incident is None or not goes_on(incident, told, self._policy):
            return True
        return not (incident.stands or incident.doubtful or incident.digest)

    def is_news_of_member(self, told: Notification) -> bool:
        """Say whether it changes a digest."""
        incident = self._incident(told)
        if incident is None or not incident.digest or incident.told.id == told.id:
            return False
        return goes_on(incident, told, self._policy)

    def together(self, told: Notification, waiting: Sequence[Notification]) -> list[Notification]:
        """Return what is told in one message with `told`, itself among it; nothing when it is told alone."""
        every = [told, *waiting]
        members = [one for one in every if self.is_news_of_member(one)]
        if told in members:
            return [one for one in members if self._digest_of(one) == self._digest_of(told)]
        if not self.is_new(told):
            return []
        new = [one for one in every if self.is_new(one)]
        digest = self.fresh(told.now)
        if digest is None:
            return new if len(new) > self._policy.digest_above else []
        return new + [one for one in members if self._digest_of(one) == digest.group_key]

    def take(self, batch: Sequence[Notification]) -> Key:
        """Let every notification of `batch` be told by a digest, an old one or a new one; return its key."""
        first = batch[0]
        old = self.fresh(first.now) if self.is_new(first) else self.of_told(first)
        group_key = old.group_key if old is not None else f"{_PREFIX}{first.id}"
        new = [told for told in batch if self.is_new(told)]
        members = [self._member(told, group_key) for told in batch]
        changed = {member.key for member in members}
        rest = [one for one in self._incidents.members(self._integration, group_key) if one.key not in changed]
        told = Notification(first.receiver, group_key, EMPTY, (), max(one.now for one in batch), first.reason, first.id)
        everyone = [*rest, *members]
        digest = _begun(self._integration, told, everyone) if old is None else _gone_on(old, told, new, everyone)
        self._incidents.put(digest, *members)
        if new:
            self._newest = digest.key
        return digest.key

    def of_told(self, told: Notification) -> Incident | None:
        incident = self._incident(told)
        return None if incident is None else self.of(incident)

    def _incident(self, told: Notification) -> Incident | None:
        return self._incidents.get((self._integration, told.group_key))

    def _digest_of(self, told: Notification) -> str:
        incident = self._incident(told)
        return "" if incident is None else incident.digest

    def _member(self, told: Notification, digest: str) -> Incident:
        incident, actions = advance(self._integration, self._incident(told), told, self._policy)
        if not incident.stands:
            return replace(incident, digest=digest, owed=(PostRoot(), *incident.calls) if incident.is_open else ())
        # That it is over is said by the digest, and by its message.
        said = [action for action in actions if incident.is_open or not isinstance(action, Reply)]
        return owing(replace(incident, digest=digest), said)


def _begun(integration: str, told: Notification, members: Sequence[Incident]) -> Incident:
    since = min(member.opened_at for member in members)
    digest = Incident(integration, told.group_key, f"{told.id}-digest", since, told, alarmed_at=told.now)
    return _posting(replace(digest, resolved_at=_end(members)), members)


def _posting(digest: Incident, members: Sequence[Incident]) -> Incident:
    """Return the digest that owes its message, which shows the worst, and its thread a list of all."""
    summary = summarise(assembled(digest, members).told)
    rest = (Reply(f"{digest.id}/list", everything(summary)),) if hides_some(summary) else ()
    return owing(replace(digest, owed=()), (PostRoot(), *rest))


def _gone_on(
    digest: Incident, told: Notification, new: Sequence[Notification], members: Sequence[Incident]
) -> Incident:
    resolved_at = _end(members)
    was_open = digest.is_open
    digest = replace(digest, told=told, resolved_at=resolved_at)
    if new:
        # Whoever took care of it took care of what was; a silence matches exactly that.
        digest = replace(digest, acked_by="", acked_at=None, silenced_by="", silenced_until=None, silence_id="")
    if not digest.stands:
        return _posting(digest, members)
    replies = []
    if new:
        firing = [alert for one in new for alert in one.firing]
        severity = worst(severity_of(alert) for alert in firing)
        text = listed(f"*{len(new)} more*, {len(members)} in all", firing)
        replies.append(Reply(f"{told.id}/more", text, broadcast=severity is Severity.CRITICAL))
    if was_open and resolved_at is not None:
        text = f"{RESOLVED_SIGN} *All resolved* after {lasted(max(resolved_at - digest.opened_at, 0))}"
        replies.append(Reply(f"{told.id}/reply", text))
    return owing(digest, (UpdateRoot(), *replies))


def _end(members: Sequence[Incident]) -> Instant | None:
    """Return when the last of the members ended; None while one is open."""
    ends = [member.resolved_at for member in members]
    return max((end for end in ends if end is not None), default=None) if None not in ends else None
