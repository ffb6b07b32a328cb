"""What is drawn of a period: how full, how long the queue, how slow and how busy each model was."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from monitor.charts.chart import LONGEST_TEXT, MOST_LINES, MOST_POINTS
from monitor.charts.sheet import Curve, Panel, Sheet
from monitor.model.instant import MINUTE, Instant
from monitor.report.gather import Gathered, Model, Track
from monitor.report.period import Period
from monitor.report.questions import Question

_MARK = 95.0
_POINTS = MOST_POINTS - 1


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


# The name with its unit, what is drawn, what makes one value of several, a factor, and a level worth a line.
_PANELS: tuple[tuple[str, Question, Callable[[Sequence[float]], float], float, float | None], ...] = (
    ("KV cache, highest of the fullest engine (%)", Question.KV_PEAK, max, 100, _MARK),
    ("requests waiting, highest", Question.WAITING_PEAK, max, 1, None),
    ("time to first token, p95, highest (s)", Question.TTFT_P95, max, 1, None),
    ("requests a minute, mean", Question.ENDED, _mean, 60, None),
)


def sheet_of(found: Gathered, title: str, zone: str) -> Sheet | None:
    """Return the picture, the first few models where there are many; None where nothing of it is known."""
    edges = _edges(found.period)
    models = sorted({model for _, question, *_ in _PANELS for model in found.tracks.get(question, ())})[:MOST_LINES]
    panels = []
    for name, question, of_several, factor, mark in _PANELS:
        tracks = [(model, found.track(question, model)) for model in models]
        curves = tuple(
            Curve(_name(model), tuple(_values(track, edges, of_several, factor))) for model, track in tracks if track
        )
        if curves:
            panels.append(Panel(name, curves, mark))
    return Sheet(title[:LONGEST_TEXT], tuple(edges[:-1]), tuple(panels), zone) if panels else None


def _edges(period: Period) -> Sequence[Instant]:
    """Return the beginnings of at most so many pieces of the same length, and the end."""
    minutes = max(period.length // MINUTE, 1)
    step = -(-minutes // _POINTS) * MINUTE
    return range(period.start, period.start + (-(-period.length // step) + 1) * step, step)


def _values(
    track: Track, edges: Sequence[Instant], of_several: Callable[[Sequence[float]], float], factor: float
) -> Iterable[float | None]:
    pieces: dict[Instant, list[float]] = {start: [] for start in edges[:-1]}
    step = edges[1] - edges[0]
    for at, value in track.items():
        pieces[edges[0] + (at - 1 - edges[0]) // step * step].append(value)
    return [of_several(pieces[start]) * factor if pieces[start] else None for start, _ in pairwise(edges)]


def _name(model: Model) -> str:
    return f"{model.name or 'no model name'} ({model.job})"[:LONGEST_TEXT]
