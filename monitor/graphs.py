"""The graph of a notification: what its worst alert's rule watches, from the window, with the threshold it crossed."""

from collections.abc import Callable, Iterator, Sequence
from math import isfinite, nan

from monitor.charts.chart import LONGEST_TEXT, MOST_LINES, Chart, Line
from monitor.charts.child import ChartError, Child
from monitor.charts.signal import Signal, came_of, sides, signal
from monitor.dispatch.notification import Notification
from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, SECOND, Duration, Instant
from monitor.notify.cleanse import one_line, shortened
from monitor.notify.generator import expr_of
from monitor.notify.severity import severity_of
from monitor.notify.slack.graph import PaintError
from monitor.notify.slack.upload import Picture
from monitor.notify.summary import what_of, where
from monitor.promql import Evaluator, Matrix, PromqlError, parse
from monitor.promql.result import Series

SPAN: Duration = 60 * MINUTE
STEP: Duration = 30 * SECOND
# Of a window that has just begun, not a corner of an empty picture.
_SHORTEST: Duration = 10 * MINUTE

# Returns the series of an expression between two instants, every step.
Range = Callable[[str, Instant, Instant, Duration], Sequence[Series]]


def range_of(engine: Evaluator) -> Range:
    """Return what asks an engine, whose limits are those of a glance; it raises PromqlError."""

    def series(expr: str, start: Instant, end: Instant, step: Duration) -> Sequence[Series]:
        value = engine.range(parse(expr), start, end, step).value
        return value.series if isinstance(value, Matrix) else ()

    return series


class GraphPainter:
    """Paints from the window, by `child`."""

    def __init__(self, series: Range, child: Child) -> None:
        self._series = series
        self._child = child

    def paint(self, told: Notification, at: Instant) -> Picture | None:
        """Return the graph of what fires, None where its rule compares nothing with a number; raises PaintError."""
        try:
            chart = chart_of(told, at, self._series)
            if chart is None:
                return None
            png = self._child.draw(chart)
        except PromqlError as err:
            raise PaintError("query_failed", f"the signal cannot be read: {err}") from err
        except ChartError as err:
            raise PaintError(err.why, str(err)) from err
        return picture_of(chart, png)

    def stop(self) -> None:
        self._child.stop()


def picture_of(chart: Chart, png: bytes) -> Picture:
    """Return what is shared of a chart that was drawn."""
    # No markup is known in titles; should there be some, here is none.
    title = chart.title.replace("<", "\u2039").replace(">", "\u203a").replace("&", "+")
    return Picture(png, title, f"{title}: a graph of the last minutes, and the threshold {chart.threshold:.6g}")


def chart_of(told: Notification, at: Instant, series: Range) -> Chart | None:
    """Return what is to be drawn of the worst that fires; raises PromqlError."""
    firing = sorted(told.firing, key=lambda alert: severity_of(alert).rank)
    expr = expr_of(firing[0].generator_url) if firing else ""
    watched = _watched(expr, firing[0], at, series) if expr else None
    if watched is None:
        return None
    same = [alert for alert in firing if alert.generator_url == firing[0].generator_url]
    same.sort(key=lambda alert: -_distance(alert, watched))
    found = series(watched.expr, at - SPAN, at, STEP)
    lines = tuple(_lines(same, found, at))
    begins = min((time for line in lines for time in _known(line)), default=None)
    if begins is None:
        return None
    title = shortened(what_of(firing[0]), LONGEST_TEXT)
    name = shortened(one_line(watched.expr), LONGEST_TEXT)
    return Chart(title, name, lines, watched.threshold, min(begins, at - _SHORTEST), at)


def _watched(expr: str, alert: Alert, at: Instant, series: Range) -> Signal | None:
    """Return the signal of the side of the expression that has found the alert."""
    found_by = sides(expr)
    if len(found_by) > 1:
        found_by = tuple(
            side for side in found_by if any(came_of(alert.labels, one.labels) for one in series(side, at, at, STEP))
        )
    return signal(found_by[0]) if found_by else None


def _lines(alerts: Sequence[Alert], found: Sequence[Series], at: Instant) -> Iterator[Line]:
    for alert in alerts[:MOST_LINES]:
        mine = next((one for one in found if came_of(alert.labels, one.labels)), None)
        if mine is not None:
            values = dict(zip(mine.times, mine.values, strict=True))
            times = tuple(range(at - SPAN, at + 1, STEP))
            name = where(alert.labels) or alert.name
            yield Line(shortened(name, LONGEST_TEXT), times, tuple(_finite(values.get(time, nan)) for time in times))


def _known(line: Line) -> Iterator[Instant]:
    return (time for time, value in zip(line.times, line.values, strict=True) if value is not None)


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _distance(alert: Alert, watched: Signal) -> float:
    distance = abs(alert.value - watched.threshold)
    return distance if isfinite(distance) else 0.0
