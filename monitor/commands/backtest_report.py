"""What a backtest found, as tables and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console

from monitor.backtest.compare import Both, Comparison, One
from monitor.backtest.outcome import Episode, Fired, Outcome
from monitor.commands.alertmanager import table
from monitor.commands.backtesting import Played
from monitor.commands.table import visible
from monitor.model.instant import Duration, Instant, to_seconds
from monitor.model.labels import ALERT_NAME, INSTANCE, JOB, Labels
from monitor.notify.moment import lasted, rfc3339, utc
from monitor.notify.severity import SEVERITY, Severity

_FIRED = ("alert", "severity", "of", "times", "first", "last", "firing", "messages", "flaps")
_TOTALS = ("severity", "alerts", "times", "firing", "messages")
_SIDES = ("alert", "of", "from", "to", "")
# That column is never broken into lines.
_OF = 2
_FAR_TOO_MANY = 60
# So many columns the table of alerts takes at least.
_WIDE = 120


def print_outcome(played: Played, console: Console, title: str = "") -> None:
    """Print which alerts fired, what they come to, which were quiet, and which rules could not speak."""
    outcome = played.outcome
    period = f"{utc(outcome.start)} to {utc(outcome.end)}, every {lasted(outcome.interval)}"
    console.print(f"{title}{period}")
    if played.slow:
        why = f"evaluated instant by instant, which is slow: {visible(played.slow)}"
        console.print(why, style="dim", markup=False)
    if outcome.fired:
        _print_fired(outcome, console)
        console.print(table(_TOTALS, list(_totals(outcome)), len(_TOTALS)))
    else:
        console.print("no alert would have fired")
    for line in _remarks(outcome):
        console.print(line, markup=False, highlight=False)


def print_comparison(comparison: Comparison, end: Instant, console: Console) -> None:
    """Print what the two sets of rules do not have in common, and by how much the second is sooner or later."""
    for title, some in (
        ("only with the first rules", comparison.only_first),
        ("only with the others", comparison.only_second),
    ):
        if some:
            console.print(f"{title}:")
            console.print(table(_SIDES, [_alone(one, end) for one in some[:_FAR_TOO_MANY]], 1))
            _print_rest(len(some), console)
    if comparison.both:
        console.print("with both:")
        console.print(table(_SIDES, [_both(one, end) for one in comparison.both[:_FAR_TOO_MANY]], 1))
        _print_rest(len(comparison.both), console)
    if not (comparison.only_first or comparison.only_second or comparison.both):
        console.print("neither of the two tells of anything")


def as_json(played: Sequence[Played], comparison: Comparison | None) -> dict[str, Any]:
    """Return everything; times as RFC 3339, lengths in seconds."""
    found: dict[str, Any] = {"outcomes": [_outcome(one) for one in played]}
    if comparison is not None:
        found["comparison"] = {
            "onlyFirst": [{"labels": dict(one.labels), **_episode(one.episode)} for one in comparison.only_first],
            "onlySecond": [{"labels": dict(one.labels), **_episode(one.episode)} for one in comparison.only_second],
            "both": [
                {
                    "labels": dict(one.labels),
                    "first": _episode(one.first),
                    "second": _episode(one.second),
                    "laterSeconds": to_seconds(one.later),
                }
                for one in comparison.both
            ],
        }
    return found


def _print_fired(outcome: Outcome, console: Console) -> None:
    """Print a table, or where there is no room for it a few words on each alert."""
    rows = [_row(one, outcome.end) for one in outcome.fired]
    if console.width >= _WIDE:
        console.print(table(_FIRED, rows, _OF))
        return
    for name, severity, of, times, first, last, firing, messages, flaps in rows:
        console.print(f"{severity or 'none'}: {name} {of}", markup=False, highlight=False)
        seen = f"  {times}x, first {first}, last {last}; {firing} in all, {messages} messages"
        console.print(seen + (f", {flaps} flaps" if flaps else ""), style="dim", markup=False, highlight=False)


def _row(one: Fired, end: Instant) -> tuple[str, ...]:
    return (
        one.name,
        one.severity,
        _of(one.labels),
        str(len(one.episodes)),
        _short(one.first),
        "still firing" if one.last is None else _short(one.last),
        _length(one.firing(end)),
        str(one.messages),
        str(one.flaps or ""),
    )


def _totals(outcome: Outcome) -> Iterator[tuple[str, ...]]:
    words = [severity.word for severity in Severity]
    by_word: dict[str, list[Fired]] = {}
    for one in outcome.fired:
        by_word.setdefault(one.severity, []).append(one)
    known = [word for word in words if word in by_word or word in outcome.messages]
    for word in [*known, *sorted(by_word.keys() - set(words))]:
        some = by_word.get(word, [])
        times = sum(len(one.episodes) for one in some)
        firing = _length(sum(one.firing(outcome.end) for one in some))
        yield word or "none", str(len(some)), str(times), firing, str(outcome.messages.get(word, 0))


def _remarks(outcome: Outcome) -> Iterator[str]:
    if outcome.quiet:
        nearly = [
            f"{name} (pending {count} time{'s' if count > 1 else ''})"
            for name, count in sorted(outcome.quiet.items())
            if count
        ]
        quiet = [name for name, count in sorted(outcome.quiet.items()) if not count]
        if nearly:
            yield f"nearly fired: {', '.join(nearly)}"
        if quiet:
            yield f"quiet: {', '.join(quiet)}"
    # Of alerts that stand in several forms one may have data.
    speaking = {one.name for one in outcome.fired} | outcome.quiet.keys()
    alerts = sorted({rule.name for rule in outcome.blind if rule.alert} - speaking)
    records = sorted({rule.name for rule in outcome.blind if not rule.alert})
    if alerts:
        yield f"without any data, so they could not fire: {', '.join(alerts)}"
    if records:
        yield f"recording rules without any data: {', '.join(records)}"
    for rule, (count, why) in outcome.failed.items():
        yield f"failed {count} time{'s' if count > 1 else ''}: {rule.name} ({visible(why)})"


def _alone(one: One, end: Instant) -> tuple[str, ...]:
    return (*_side(one.labels, one.episode), _length((one.episode.resolved_at or end) - one.episode.fired_at))


def _both(one: Both, end: Instant) -> tuple[str, ...]:
    if not one.later:
        difference = "at the same time"
    else:
        difference = f"{lasted(abs(one.later))} {'later' if one.later > 0 else 'sooner'}"
    first, second = ((episode.resolved_at or end) - episode.fired_at for episode in (one.first, one.second))
    lengths = "" if first == second else f", {_length(second)} in place of {_length(first)}"
    return (*_side(one.labels, one.first), f"the others: {difference}{lengths}")


def _side(labels: Labels, episode: Episode) -> tuple[str, ...]:
    over = "still firing" if episode.resolved_at is None else _short(episode.resolved_at)
    return labels.value(ALERT_NAME), _of(labels), _short(episode.fired_at), over


def _print_rest(count: int, console: Console) -> None:
    if count > _FAR_TOO_MANY:
        console.print(f"  and {count - _FAR_TOO_MANY} more: see --json", style="dim")


def _of(labels: Labels) -> str:
    """Return what tells an alert from others of its name."""
    rest = labels.without((ALERT_NAME, SEVERITY, JOB))
    pairs = sorted(rest, key=lambda pair: pair[0] != INSTANCE)
    return visible(" ".join(value if name == INSTANCE else f"{name}={value}" for name, value in pairs))


def _short(at: Instant) -> str:
    return utc(at, seconds=True).removesuffix(" UTC")


def _length(duration: Duration) -> str:
    return lasted(duration) if duration else ""


def _outcome(played: Played) -> dict[str, Any]:
    outcome = played.outcome
    return {
        "from": rfc3339(outcome.start),
        "to": rfc3339(outcome.end),
        "intervalSeconds": to_seconds(outcome.interval),
        "instantByInstant": played.slow,
        "fired": [_fired(one, outcome.end) for one in outcome.fired],
        "quiet": dict(outcome.quiet),
        "withoutData": [{"group": one.group, "rule": one.name, "alert": one.alert} for one in outcome.blind],
        "failed": [
            {"group": rule.group, "rule": rule.name, "times": count, "error": why}
            for rule, (count, why) in outcome.failed.items()
        ],
        "messages": _counted(outcome.messages),
    }


def _fired(one: Fired, end: Instant) -> dict[str, Any]:
    return {
        "labels": dict(one.labels),
        "episodes": [_episode(episode) for episode in one.episodes],
        "firingSeconds": to_seconds(one.firing(end)),
        "messages": one.messages,
        "flaps": one.flaps,
    }


def _episode(one: Episode) -> dict[str, str | None]:
    resolved = None if one.resolved_at is None else rfc3339(one.resolved_at)
    return {"activeAt": rfc3339(one.active_at), "firedAt": rfc3339(one.fired_at), "resolvedAt": resolved}


def _counted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))
