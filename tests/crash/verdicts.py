"""
What must be true at the end of a crash run. Each function yields what is wrong, in words.

`posts` are the deliveries whose messages stand in a channel, in the order in which they came to stand there.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from monitor.dispatch.dispatcher import Delivery
from monitor.dispatch.group import group_key
from monitor.dispatch.nflog import LogKey
from monitor.dispatch.notification import Reason
from monitor.dispatch.route import Route
from monitor.model.alert import Alert
from monitor.model.instant import Duration, Instant
from monitor.model.labels import Labels
from tests.crash.history import Evaluation, History

Complaints = Iterator[str]

# SQLite's time of day comes from a floating-point number of days.
_PRECISION: Duration = 2


def stands_twice(posts: Sequence[Delivery]) -> Complaints:
    counts = Counter(post.notification.id for post in posts)
    for identity, times in counts.items():
        if times > 1:
            yield f"posted {times} times: {_words(next(post for post in posts if post.notification.id == identity))}"


def lost(history: History, posts: Sequence[Delivery]) -> Complaints:
    """A letter that was kept must be posted, unless a later word to the same receiver and group was."""
    posted = {post.notification.id for post in posts}
    last = {letter.key: letter for letter in history.letters}
    for letter in history.letters:
        if letter.notification.id not in history.settled:
            yield f"still waits: {_words(letter)}"
        elif letter.notification.id not in posted and letter is last[letter.key]:
            yield f"never posted: {_words(letter)}"
    known = {letter.notification.id for letter in history.letters}
    for post in posts:
        if post.notification.id not in known:
            yield f"posted, but never kept: {_words(post)}"


def out_of_order(posts: Sequence[Delivery]) -> Complaints:
    for group in by_key(posts):
        for earlier, later in pairwise(group):
            if later.notification.now < earlier.notification.now:
                yield f"{_words(later)} came behind {_words(earlier)}"


def resolved_without_having_fired(history: History, posts: Sequence[Delivery]) -> Complaints:
    """Who is told that an alert is over was told that it fires, if anything was written while it did."""
    written = _by_key(history.letters)
    for group in by_key(posts):
        firing: set[Labels] = set()
        for post in group:
            for alert in post.notification.resolved:
                if (alert.labels, alert.starts_at) not in history.fired:
                    yield f"never fired: {alert.labels} in {_words(post)}"
                if alert.labels not in firing and any(_says_firing(one, alert) for one in written[post.key]):
                    yield f"resolved before it was told: {alert.labels} in {_words(post)}"
            firing = {alert.labels for alert in post.notification.firing}


def silently_dropped(posts: Sequence[Delivery], firing: Collection[Labels]) -> Complaints:
    """
    An alert that a receiver was told of fires on in the next message, or is resolved there.

    In the end all are resolved but for what was `firing` lately: on a busy machine a scrape may fail at any time.
    """
    for group in by_key(posts):
        for earlier, later in pairwise(group):
            gone = _labels(earlier.notification.firing) - _labels(later.notification.alerts)
            if gone:
                yield f"not heard of again: {sorted(gone)} behind {_words(earlier)}"
        if _labels(group[-1].notification.firing) - frozenset(firing):
            yield f"still stands as firing: {_words(group[-1])}"


def said_again(posts: Sequence[Delivery], repeat_interval: Callable[[str], Duration]) -> Complaints:
    """A message says something new, or the repeat_interval of its group has elapsed."""
    for group in by_key(posts):
        for earlier, later in pairwise(group):
            before, after = earlier.notification, later.notification
            if _labels(before.firing) != _labels(after.firing):
                continue
            known = {(alert.labels, alert.ends_at) for alert in before.resolved}
            news = {(alert.labels, alert.ends_at) for alert in after.resolved} - known
            repeated = after.reason is Reason.REPEAT and after.now - before.now > repeat_interval(after.group_key)
            if not news and not repeated:
                yield f"nothing new: {_words(later)} behind {_words(earlier)}"


def untold(history: History, births: Sequence[Instant], route: Route, integrations: Sequence[str]) -> Complaints:
    """
    Name the alerts that fire in the first evaluation of a life, or fired in one for a group_interval, and are not told.

    The group of such an alert was flushed since it began to fire. `births` are when the lives began.
    """
    for life in _lives(history.evaluations, births):
        for number, evaluation in enumerate(life):
            for labels in evaluation.firing:
                (node,) = route.match(labels)
                due = number == 0 or _flushed_since(life[:number], labels, evaluation.slot - node.group_interval)
                key = group_key(node, node.group_labels(labels))
                for integration in integrations if due else ():
                    told = _last(history.letters[: evaluation.letters], (key, integration))
                    if told is None or labels not in _labels(told.notification.firing):
                        yield f"{integration} was not told by {evaluation.slot} of {labels}"


@dataclass(frozen=True, slots=True)
class Told:
    """A message of the bot as it stands: `stamp` names the letter that it began with; of a root `thread` is empty."""

    stamp: str
    ts: str
    thread: str
    text: str
    edits: int = 0


def edited_wrongly(
    letters: Sequence[Delivery], settled: Collection[str], posted: Sequence[Told], firing: Collection[Labels]
) -> Complaints:
    """
    Each group has one message, which says how the group stands; its thread has each reply once.

    In the end all is over but for what is `firing`.
    """
    yield from (f"still waits: {_words(letter)}" for letter in letters if letter.notification.id not in settled)
    yield from (f"stands {n} times: {stamp}" for stamp, n in Counter(one.stamp for one in posted).items() if n > 1)
    keys = {letter.notification.id: letter.key for letter in letters}
    roots: dict[LogKey, list[Told]] = {letter.key: [] for letter in letters}
    for one in posted:
        key = keys.get(one.stamp.partition("/")[0])
        if key is None:
            yield f"posted, but never kept: {one.stamp}"
        elif not one.thread:
            roots[key].append(one)
        elif one.thread not in {root.ts for root in roots[key]}:
            yield f"replied in a foreign thread: {one.stamp}"
    last = {letter.key: letter for letter in letters}
    for key, found in roots.items():
        lately = any(alert.labels in firing for alert in last[key].notification.alerts)
        if len(found) != 1:
            yield f"{len(found)} messages for {key}"
        elif found[0].text.startswith("✅") is bool(last[key].notification.firing) and not lately:
            yield f"says what is not so: {found[0].text[:80]} of {key}"


def tried_without_need(history: History, posts: Sequence[Delivery], births: Sequence[Instant]) -> Complaints:
    """
    Name what was tried twice in a life, or posted more often than it was tried.

    Slack takes everything here: only a death between a message and its being noted down may lead to another attempt.
    """
    lives = Counter((letter, bisect_right(births, at)) for letter, at in history.attempts)
    yield from (f"tried {times} times in life {life}: {letter}" for (letter, life), times in lives.items() if times > 1)
    tried = Counter(letter for letter, _ in history.attempts)
    for letter, times in Counter(post.notification.id for post in posts).items():
        if times > tried[letter]:
            yield f"posted {times} times in {tried[letter]} attempts: {letter}"


def by_key(posts: Sequence[Delivery]) -> list[list[Delivery]]:
    return list(_by_key(posts).values())


def _by_key(posts: Sequence[Delivery]) -> dict[LogKey, list[Delivery]]:
    groups: dict[LogKey, list[Delivery]] = defaultdict(list)
    for post in posts:
        groups[post.key].append(post)
    return groups


def _lives(evaluations: Sequence[Evaluation], births: Sequence[Instant]) -> Iterator[list[Evaluation]]:
    for birth, next_birth in zip(births, [*births[1:], 1 << 62], strict=True):
        life = [one for one in evaluations if birth <= one.at < next_birth]
        if life:
            yield life


def _flushed_since(life: Sequence[Evaluation], labels: Labels, by: Instant) -> bool:
    """Say whether the alert has been firing at every evaluation since one that was committed at `by` or before."""
    for evaluation in reversed(life):
        if labels not in evaluation.firing:
            return False
        if evaluation.at + _PRECISION <= by:
            return True
    return False


def _last(letters: Sequence[Delivery], key: LogKey) -> Delivery | None:
    return next((one for one in reversed(letters) if one.key == key), None)


def _says_firing(letter: Delivery, over: Alert) -> bool:
    return any((alert.labels, alert.starts_at) == (over.labels, over.starts_at) for alert in letter.notification.firing)


def _labels(alerts: Iterable[Alert]) -> set[Labels]:
    return {alert.labels for alert in alerts}


def _words(delivery: Delivery) -> str:
    told = delivery.notification
    return f"{delivery.integration} {told.group_key} at {told.now} ({told.reason.value})"
