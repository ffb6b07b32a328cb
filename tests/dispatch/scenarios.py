"""Short stories of alerts, silences and times, told to an Alertmanager and to the dispatcher alike."""

from dataclasses import dataclass
from typing import TypeAlias

# Groups flush one second after their first alert and then every two: at 1, 3, 5, 7. What happens is in between.
LENGTH_SECONDS = 8


@dataclass(frozen=True, slots=True)
class Post:
    """
    Alerts by their names; a small letter is a warning, a large one is critical. A story's alerts are one group.

    `ends` is the instant at which they end, None when nobody says. `labels` is `a="b",…` that all of them get.
    """

    at: float
    names: str
    ends: float | None = None
    labels: str = ""


@dataclass(frozen=True, slots=True)
class Silence:
    """A silence on the story's alerts that `matcher` accepts, until `until`."""

    at: float
    matcher: str
    until: float = 3600


Step: TypeAlias = Post | Silence


@dataclass(frozen=True, slots=True)
class Story:
    """`told` is (second, firing, resolved) of each notification; `alertmanager` is what it tells where it differs."""

    name: str
    steps: tuple[Step, ...]
    told: tuple[tuple[int, str, str], ...] = ()
    route: str = ""
    send_resolved: bool = True
    alertmanager: tuple[tuple[int, str, str], ...] | None = None


FIRED = Post(0, "a")

STORIES = (
    Story("fires-and-resolves", (FIRED, Post(3.5, "a", ends=3.5)), ((1, "a", ""), (5, "", "a"))),
    Story("resolves-before-the-first-flush", (FIRED, Post(0.5, "a", ends=0.5))),
    Story("joins-late", (FIRED, Post(1.5, "b")), ((1, "a", ""), (3, "ab", ""))),
    Story("flaps-between-two-flushes", (FIRED, Post(1.3, "a", ends=1.3), Post(1.8, "a")), ((1, "a", ""),)),
    Story("runs-out-of-time", (Post(0, "a", ends=3.5),), ((1, "a", ""), (5, "", "a"))),
    Story("is-heard-of-again-in-time", (Post(0, "a", ends=2.5), Post(2, "a", ends=60)), ((1, "a", ""),)),
    Story("a-shorter-end-does-not-count", (Post(0, "a", ends=60), Post(1.5, "a", ends=2.5)), ((1, "a", ""),)),
    Story(
        "nobody-wants-resolved",
        (Post(0, "ab"), Post(1.5, "a", ends=1.5), Post(3.5, "b", ends=3.5), Post(5.5, "b")),
        # With all of them over the group is gone: the next one waits for a second, as the first did.
        ((1, "ab", ""), (6, "b", "")),
        send_resolved=False,
    ),
    Story("repeats-after-the-interval", (FIRED,), ((1, "a", ""), (5, "a", "")), route="repeat_interval: 2500ms"),
    # Inhibition: large letters mute small ones of the same instance.
    Story("critical-inhibits-warning", (Post(0, "Ab", labels='instance="1"'),), ((1, "A", ""),)),
    Story("another-instance-is-free", (Post(0, "A"), Post(0, "b", labels='instance="2"')), ((1, "Ab", ""),)),
    Story("missing-on-both-sides-is-equal", (Post(0, "Ab"),), ((1, "A", ""),)),
    Story(
        "the-inhibited-is-told-when-the-source-resolves",
        (Post(0, "Ab"), Post(3.5, "A", ends=3.5)),
        ((1, "A", ""), (5, "b", "A")),
    ),
    Story(
        "a-source-whose-time-ran-out-inhibits-no-more",
        (Post(0, "A", ends=2.5), Post(0, "b")),
        ((1, "A", ""), (3, "b", "A")),
    ),
    Story("a-source-that-comes-later", (Post(0, "b"), Post(1.5, "Ac")), ((1, "b", ""), (3, "A", ""))),
    Story("alerts-on-both-sides-are-told", (Post(0, "ab", labels='both="x"'),), ((1, "ab", ""),)),
    Story("a-silenced-source-inhibits", (Silence(0, 'alertname="A"'), Post(0.1, "Ab"))),
    # Silences.
    Story("a-silence-mutes-what-it-matches", (Silence(0, 'alertname=~"a|b"'), Post(0.1, "abc")), ((1, "c", ""),)),
    Story("a-negative-silence", (Silence(0, "alertname!=a"), Post(0.1, "ab")), ((1, "a", ""),)),
    Story(
        "a-silence-that-ends",
        (Silence(0, "alertname=a", until=3.5), Post(0.1, "ab")),
        ((1, "b", ""), (5, "ab", "")),
    ),
    Story(
        "what-is-known-is-not-news-after-a-silence",
        (FIRED, Silence(1.5, "alertname=a", until=3.5)),
        ((1, "a", ""),),
    ),
    Story("a-silence-that-begins-too-late", (FIRED, Silence(1.5, "alertname=a")), ((1, "a", ""),)),
    Story("resolves-while-silenced", (FIRED, Silence(1.5, "alertname=a"), Post(2, "a", ends=2)), ((1, "a", ""),)),
    Story(
        "resolves-while-silenced-and-the-silence-ends",
        (FIRED, Silence(1.5, "alertname=a", until=4.5), Post(2, "a", ends=2)),
        ((1, "a", ""), (5, "", "a")),
        alertmanager=((1, "a", ""),),
    ),
    Story(
        "fires-anew-after-a-silence-that-hid-its-end",
        (FIRED, Silence(1.5, "alertname=a", until=4.5), Post(2, "a", ends=2), Post(5.5, "a")),
        # It is told at 5 that the first one is over; the group is gone, and the new one waits for a second.
        ((1, "a", ""), (5, "", "a"), (6, "a", "")),
        alertmanager=((1, "a", ""),),
    ),
    Story(
        "one-of-two-resolves-while-silenced",
        (Post(0, "ab"), Silence(1.5, "alertname=a", until=4.5), Post(2, "a", ends=2)),
        ((1, "ab", ""), (5, "b", "a")),
        alertmanager=((1, "ab", ""),),
    ),
    Story(
        "resolves-while-inhibited",
        (Post(0, "b"), Post(1.5, "A"), Post(2, "b", ends=2), Post(3.5, "A", ends=3.5)),
        ((1, "b", ""), (3, "A", ""), (5, "", "Ab")),
        alertmanager=((1, "b", ""), (3, "A", ""), (5, "", "A")),
    ),
    Story(
        "resolves-while-inhibited-for-two-flushes",
        (Post(0, "b"), Post(1.5, "A"), Post(2, "b", ends=2), Post(5.5, "A", ends=5.5)),
        ((1, "b", ""), (3, "A", ""), (7, "", "Ab")),
        alertmanager=((1, "b", ""), (3, "A", ""), (7, "", "A")),
    ),
    # Times.
    Story("muted-times", (FIRED,), route="mute_time_intervals: [always]"),
    Story("muted-at-other-times", (FIRED,), ((1, "a", ""),), route="mute_time_intervals: [never]"),
    Story("one-muted-time-of-two", (FIRED,), route="mute_time_intervals: [never, always]"),
    Story("active-times", (FIRED,), ((1, "a", ""),), route="active_time_intervals: [always]"),
    Story("not-active", (FIRED,), route="active_time_intervals: [never]"),
    Story("one-active-time-of-two", (FIRED,), ((1, "a", ""),), route="active_time_intervals: [never, always]"),
    Story("active-and-muted", (FIRED,), route="active_time_intervals: [always], mute_time_intervals: [always]"),
    Story("an-empty-list-of-intervals-is-never", (FIRED,), ((1, "a", ""),), route="mute_time_intervals: [empty]"),
)
