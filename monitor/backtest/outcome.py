"""What a backtest found: which alerts fired when, who would have been told, and which rules had nothing to go by."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from monitor.dispatch.dispatcher import Delivery
from monitor.dispatch.notification import Reason
from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import ALERT_NAME, EMPTY, Labels
from monitor.notify.severity import SEVERITY, severity_of, worst
from monitor.rules.alerting import ActiveAlert, AlertState

# What fires again within so long of its end flaps.
FLAP: Duration = 10 * MINUTE


@dataclass(frozen=True, slots=True)
class Episode:
    """One time that an alert fired; `resolved_at` is None when it still fired at the end."""

    active_at: Instant
    fired_at: Instant
    resolved_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class Fired:
    """One alert, by its labels, and all its episodes; `messages` are the notifications that held it."""

    labels: Labels
    episodes: tuple[Episode, ...]
    messages: int = 0

    @property
    def name(self) -> str:
        return self.labels.value(ALERT_NAME)

    @property
    def severity(self) -> str:
        return self.labels.value(SEVERITY)

    @property
    def first(self) -> Instant:
        return self.episodes[0].fired_at

    @property
    def last(self) -> Instant | None:
        """When it was last over; None: it still fired at the end."""
        return self.episodes[-1].resolved_at

    @property
    def flaps(self) -> int:
        """How often it fired again shortly after its end."""
        ends = [one.resolved_at for one in self.episodes]
        return sum(
            end is not None and after.fired_at - end <= FLAP
            for end, after in zip(ends, self.episodes[1:], strict=False)
        )

    def firing(self, end: Instant) -> Duration:
        """Return for how long it fired in all, up to the `end` of the backtest."""
        return sum((end if one.resolved_at is None else one.resolved_at) - one.fired_at for one in self.episodes)


@dataclass(frozen=True, slots=True)
class RuleName:
    """A rule by its group and name; `alert` says of which kind it is."""

    group: str
    name: str
    alert: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    What came of a backtest from `start` to `end`, evaluated every `interval`.

    `quiet` are the alerts that never fired although there was something to look at, each with how often it was pending;
    `blind` the rules whose selectors found nothing at all, `failed` those that failed, with how often and why first.
    `messages` counts notifications by the severity of their worst alert.
    """

    start: Instant
    end: Instant
    interval: Duration
    fired: tuple[Fired, ...] = ()
    quiet: Mapping[str, int] = field(default_factory=dict)
    blind: tuple[RuleName, ...] = ()
    failed: Mapping[RuleName, tuple[int, str]] = field(default_factory=dict)
    messages: Mapping[str, int] = field(default_factory=dict)


class Observer:
    """Looks at the alerts of each rule after its evaluations, and hears of every notification."""

    def __init__(self, external: Labels = EMPTY) -> None:
        self._external = external
        self._episodes: defaultdict[tuple[int, Labels], list[Episode]] = defaultdict(list)
        self._pending: Counter[str] = Counter()
        self._seen: dict[int, dict[Labels, ActiveAlert]] = {}
        self._messages: Counter[str] = Counter()
        self._told: Counter[Labels] = Counter()
        self._failures: dict[int, tuple[int, str]] = {}

    def look(self, rule: int, active: Mapping[Labels, ActiveAlert]) -> None:
        """Take note of how the alerts of the rule of this number stand."""
        before = self._seen.get(rule, {})
        if not before and not active:
            return
        for labels, alert in active.items():
            if alert.fired_at is not None:
                self._note(rule, labels, alert)
        for labels, old in before.items():
            now = active.get(labels)
            is_over = now is None or (now.state is AlertState.PENDING and now.active_at != old.active_at)
            if old.state is AlertState.PENDING and is_over:
                self._pending[labels.value(ALERT_NAME)] += 1
        self._seen[rule] = dict(active)

    def fail(self, rule: int, why: str) -> None:
        """The rule of this number could not be evaluated."""
        count, first = self._failures.get(rule, (0, why))
        self._failures[rule] = (count + 1, first)

    def hear(self, delivery: Delivery) -> None:
        """A receiver is told."""
        notification = delivery.notification
        if notification.reason is Reason.REFRESH:
            return
        about = notification.firing or notification.alerts
        self._messages[worst(severity_of(alert) for alert in about).word] += 1
        for alert in notification.alerts:
            self._told[alert.labels] += 1

    def outcome(self, period: Outcome, rules: Iterable[RuleName], blind: Iterable[int]) -> Outcome:
        """Return what was seen; `rules` in the order of their numbers, `blind` the numbers of those without data."""
        names = list(rules)
        unseen = set(blind)
        fired = [
            Fired(labels, tuple(episodes), self._told[self._external.with_(labels)])
            for (_, labels), episodes in self._episodes.items()
        ]
        loud = {one.name for one in fired}
        quiet = {
            name.name: self._pending[name.name]
            for number, name in enumerate(names)
            if name.alert and name.name not in loud and number not in unseen
        }
        return replace(
            period,
            fired=tuple(sorted(fired, key=lambda one: (one.first, one.name, one.labels))),
            quiet=quiet,
            blind=tuple(names[number] for number in sorted(unseen)),
            failed={names[number]: failure for number, failure in sorted(self._failures.items())},
            messages=dict(self._messages),
        )

    def _note(self, rule: int, labels: Labels, alert: ActiveAlert) -> None:
        episodes = self._episodes[rule, labels]
        assert alert.fired_at is not None  # noqa: S101 - as the caller checked
        now = Episode(alert.active_at, alert.fired_at, alert.resolved_at)
        if not episodes or episodes[-1].fired_at != now.fired_at:
            episodes.append(now)
        elif episodes[-1].resolved_at is None and now.resolved_at is not None:
            episodes[-1] = now
