"""What changed at a server shortly before an alert: its version, its models, its configuration, its process."""

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

from monitor.model.instant import MINUTE, SECOND, Duration, Instant
from monitor.model.labels import INSTANCE, JOB, METRIC_NAME, Labels
from monitor.notify.readings import Change, Changes, NoChanges
from monitor.probe.pools import CONFIG_NAMES
from monitor.promql import Evaluator, PromqlError, parse
from monitor.promql.result import Matrix, Series

log = logging.getLogger(__name__)

# So long before an incident a change is worth a line, and seen to so much.
REACH: Duration = 15 * MINUTE
_STEP: Duration = 30 * SECOND
_MOST = 3
# What is seen so near to a start that is told is part of it.
_ONE_START: Duration = 5 * MINUTE
_VERSION = "vllm_monitor_target_version_info"
_RUNNING = "vllm_engine:requests_running"
_STARTED = "process_start_time_seconds"
_MODEL = "model_name"
_PLACES = frozenset((METRIC_NAME, JOB, INSTANCE, "engine", _MODEL))


class EngineChanges:
    """
    Looks into the past by an engine: see `Changes` in notify.

    `starts` knows what the last starts came to: it reaches back further, and has the whole of a start in one line.
    """

    def __init__(self, engine: Evaluator, starts: Changes | None = None) -> None:
        self._engine = engine
        self._starts = starts or NoChanges()

    def before(self, labels: Labels, at: Instant) -> Sequence[Change]:
        """Return what changed at the server of an alert in the quarter of an hour before `at`, the newest first."""
        told = self._starts.before(labels, at)
        seen = (
            one for one in self._seen(labels, at) if not any(abs(one.at - start.at) <= _ONE_START for start in told)
        )
        return sorted((*told, *seen), key=lambda change: -change.at)[:_MOST]

    def _seen(self, labels: Labels, at: Instant) -> Sequence[Change]:
        places = {name: labels.value(name) for name in (JOB, INSTANCE)}
        if not places[INSTANCE]:
            return ()
        matchers = ",".join(
            f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in places.items() if value
        )

        def read(name: str) -> Matrix:
            return self._range(f"{name}{{{matchers}}}", at)

        def sampled(name: str) -> Matrix:
            return self._range(f"timestamp({name}{{{matchers}}})", at)

        try:
            return list(_changes(read, sampled))
        except PromqlError as err:
            # A message without them is better than none.
            log.warning("changes not read", extra={"reason": str(err)})
            return ()

    def _range(self, expr: str, at: Instant) -> Matrix:
        value = self._engine.range(parse(expr), at - REACH, at, _STEP).value
        return value if isinstance(value, Matrix) else Matrix(())


def _changes(read: Callable[[str], Matrix], sampled: Callable[[str], Matrix]) -> Iterator[Change]:
    """Yield what changed; `read` returns the values of a name, `sampled` when they were taken."""
    yield from _replaced(sampled(_VERSION), partial(_words, "version", "version"))
    yield from _replaced(sampled(_RUNNING), partial(_words, "model", _MODEL))
    for name in CONFIG_NAMES:
        yield from _replaced(sampled(name), _configured)
    for series in read(_STARTED):
        points = pairwise(zip(series.times, series.values, strict=True))
        moved = [at for (_, before), (at, after) in points if before != after]
        if moved:
            yield Change(moved[-1], "restarted")


def _replaced(found: Matrix, words: Callable[[Labels, Labels], str]) -> Iterator[Change]:
    """
    Yield the series that took the place of another one of the same quantity, as what they have in another way.

    `found` holds when each of them was sampled: one that goes on beside a newer one was not replaced.
    """
    ordered: Sequence[Series] = sorted(found, key=lambda series: series.times[0])
    for old, new in pairwise(ordered):
        text = words(old.labels, new.labels) if old.values[-1] < new.values[0] else ""
        if text:
            yield Change(new.times[0], text)


def _words(what: str, label: str, old: Labels, new: Labels) -> str:
    before, after = old.value(label), new.value(label)
    return f"{what} {before} → {after}" if before and before != after else ""


def _configured(old: Labels, new: Labels) -> str:
    before, after = _settings(old), _settings(new)
    names = [name for name in after if before.get(name) != after[name]]
    shown = ", ".join(f"{name} {before.get(name, 'unset')} → {after[name]}" for name in names[:_MOST])
    return shown + (f", +{len(names) - _MOST} more" if len(names) > _MOST else "")


def _settings(labels: Labels) -> Mapping[str, str]:
    return {name: value for name, value in labels if name not in _PLACES}
