"""From a notification and a window to a chart, and to a picture."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from math import inf, nan
from urllib.parse import quote_plus

import pytest

from monitor.charts.chart import LONGEST_TEXT, MOST_LINES, MOST_POINTS, Chart, encoded
from monitor.charts.child import Child
from monitor.dispatch.notification import Notification
from monitor.graphs import SPAN, STEP, GraphPainter, chart_of, range_of
from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, SECOND, Instant
from monitor.model.labels import Labels
from monitor.notify.slack.graph import PaintError
from monitor.promql import Engine, Limits
from monitor.storage.window import Window
from tests.notify.samples import NOW, ended, note, queue

EXPR = 'queue{job="vllm"} > 10 and on () vector(1)'


def alert(instance: str, value: float = 42.0, expr: str = EXPR, **labels: str) -> Alert:
    return replace(
        queue(instance, value, **labels), generator_url=f"http://m/graph?g0.expr={quote_plus(expr)}&g0.tab=1"
    )


def window(*series: tuple[str, Sequence[tuple[Instant, float]]]) -> Window:
    """Return a window in which these instances have a queue."""
    filled = Window()
    for instance, points in series:
        block = filled.block(instance)
        labels = {"__name__": "queue", "job": "vllm", "instance": instance, "model_name": "meta/llama-3-8b"}
        column = block.column(Labels.of(labels))
        for at, value in points:
            block.append(at, (column,), [value])
    return filled


def every(minutes: int, value: float = 20.0) -> list[tuple[Instant, float]]:
    """Return a sample each 15 seconds of the last minutes."""
    return [(at, value) for at in range(NOW - minutes * MINUTE, NOW + 1, 15 * SECOND)]


def drawn(told: Notification, filled: Window) -> Chart | None:
    return chart_of(told, NOW, range_of(Engine(filled)))


def test_the_chart_is_the_alert_s_own_series_of_an_hour_with_its_threshold() -> None:
    chart = drawn(note(alert("a:1")), window(("a:1", every(90)), ("b:1", every(90, 1.0))))
    assert chart is not None
    (line,) = chart.lines
    assert (chart.title, chart.signal, chart.threshold) == (
        "vLLM's queue has been long for minutes",
        'queue{job="vllm"}',
        10.0,
    )
    assert (chart.start, chart.end) == (NOW - SPAN, NOW)
    assert line.name == "llama-3-8b @ a:1"
    assert line.times == tuple(range(NOW - SPAN, NOW + 1, STEP))
    assert set(line.values) == {20.0}


@pytest.mark.parametrize(("value", "threshold"), [(20.0, 10.0), (3.0, 2.0), (1.0, None)])
def test_of_two_sides_the_one_that_found_the_alert_is_drawn(value: float, threshold: float | None) -> None:
    either = 'queue{job="vllm"} > 10 or on (instance) queue > 2 and on () vector(1)'
    chart = drawn(note(alert("a:1", value, either)), window(("a:1", every(90, value)), ("b:1", every(90))))
    assert (None if chart is None else chart.threshold) == threshold


def test_a_window_that_has_just_begun_is_shown_without_the_emptiness_before_it() -> None:
    half = drawn(note(alert("a:1")), window(("a:1", every(30))))
    new = drawn(note(alert("a:1")), window(("a:1", every(2))))
    assert half is not None
    assert new is not None
    assert (half.start, new.start) == (NOW - 30 * MINUTE, NOW - 10 * MINUTE)


def test_what_is_no_number_is_a_gap() -> None:
    points = [(at, nan if at == NOW - 10 * MINUTE else inf if at == NOW - 5 * MINUTE else 1.0) for at, _ in every(60)]
    chart = drawn(note(alert("a:1")), window(("a:1", points)))
    assert chart is not None
    assert chart.lines[0].values.count(None) == 2
    assert encoded(chart)


def test_of_many_the_five_that_are_farthest_from_the_threshold_are_drawn() -> None:
    many = [f"{number:02}:1" for number in range(40)]
    alerts = [alert(one, 11.0 + number) for number, one in enumerate(many)]
    chart = drawn(note(*alerts), window(*((one, every(90)) for one in many)))
    assert chart is not None
    assert len(chart.lines) == MOST_LINES
    assert len(chart.lines[0].times) <= MOST_POINTS
    assert [line.name[-4:] for line in chart.lines] == ["39:1", "38:1", "37:1", "36:1", "35:1"]
    assert encoded(chart)


def test_the_worst_that_fires_is_drawn() -> None:
    told = note(
        alert("a:1"),
        alert("b:1", expr="queue > 30", severity="critical"),
        ended(alert("c:1", expr="queue > 50", severity="critical")),
    )
    chart = drawn(told, window(("a:1", every(60)), ("b:1", every(60)), ("c:1", every(60))))
    assert chart is not None
    assert (chart.threshold, [line.name for line in chart.lines]) == (30.0, ["llama-3-8b @ b:1"])


@pytest.mark.parametrize(
    "told",
    [
        note(queue()),
        note(ended(alert("a:1"))),
        note(alert("elsewhere:1")),
        note(alert("a:1", expr="absent(queue)")),
        note(replace(alert("a:1"), generator_url="http://[broken/graph?g0.expr=queue+%3E+10")),
        note(replace(alert("a:1"), generator_url="http://m/graph?g0.expr=" + "9" * 20_000 + "+%3C+queue")),
    ],
)
def test_where_there_is_nothing_to_draw_there_is_no_chart(told: Notification) -> None:
    assert drawn(told, window(("a:1", every(60)))) is None


def test_texts_are_on_one_line_and_not_longer_than_a_picture() -> None:
    hostile = "evil\n" + "\u202e" + "<!channel> " * 60
    told = note(alert(hostile, expr="queue > 10\n"))
    chart = drawn(told, window((hostile, every(60))))
    assert chart is not None
    for text in (chart.title, chart.signal, chart.lines[0].name):
        assert len(text) <= LONGEST_TEXT
        assert text.isprintable()


def test_a_query_that_costs_too_much_is_an_error_and_no_picture() -> None:
    painter = GraphPainter(range_of(Engine(window(("a:1", every(90))), limits=Limits(samples=10))), Child())
    with pytest.raises(PaintError) as raised:
        painter.paint(note(alert("a:1")), NOW)
    assert raised.value.reason == "query_failed"


def test_a_child_that_dies_is_an_error() -> None:
    painter = GraphPainter(
        range_of(Engine(window(("a:1", every(90))))), Child((sys.executable, "-c", "raise SystemExit(1)"))
    )
    with pytest.raises(PaintError) as raised:
        painter.paint(note(alert("a:1")), NOW)
    assert raised.value.reason == "drawing_failed"


def test_a_picture_has_a_title_without_markup() -> None:
    told = note(replace(alert("a:1"), annotations=Labels.of(summary="<!channel> & <https://evil|here>")))
    picture = GraphPainter(range_of(Engine(window(("a:1", every(90))))), Child()).paint(told, NOW)
    assert picture is not None
    assert picture.png.startswith(b"\x89PNG")
    assert not set("<>&") & set(picture.title + picture.alt)
