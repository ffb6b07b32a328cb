"""Draws a chart, or a sheet of several. Only the child process loads this file, and matplotlib with it."""

from datetime import UTC, datetime
from io import BytesIO
from math import nan
from zoneinfo import ZoneInfo

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, DateFormatter
from matplotlib.figure import Figure

from monitor.charts.chart import Chart
from monitor.charts.sheet import Panel, Sheet
from monitor.model.instant import DAY, Instant, to_seconds

# Pixels are these times the dots an inch. Slack shows it as wide as a phone: few, large letters.
_INCHES, _DOTS = (8.0, 4.5), 120
_PANEL_INCHES = 2.0
# Of ticks that are years, months, days, hours, minutes and seconds apart.
_FORMATS = ["%Y", "%b", "%a %d", "%H:%M", "%H:%M", "%H:%M:%S"]
_COLOURS = ("#1264a3", "#b58105", "#007a5a", "#8d3d9e", "#616061")
_RED, _INK, _FAINT = "#c01343", "#1d1c1d", "#dddddd"
_LONGEST_TITLE, _LONGEST_SIGNAL, _LONGEST_NAME = 58, 90, 42


def png(chart: Chart) -> bytes:
    """Return the picture, dark on light. No text of the chart is taken for a formula."""
    # Whatever a matplotlibrc of the machine says.
    mpl.rcdefaults()
    mpl.rcParams.update({"font.size": 14, "text.color": _INK, "axes.edgecolor": _INK, "text.usetex": False})
    figure = Figure(figsize=_INCHES, dpi=_DOTS, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    _draw_lines(figure, axes, chart)
    _draw_threshold(axes, chart)
    _draw_times(axes, chart)
    axes.set_title(_cut(chart.signal, _LONGEST_SIGNAL), loc="left", fontsize=12, parse_math=False)
    figure.suptitle(
        _cut(chart.title, _LONGEST_TITLE), x=0.01, ha="left", fontsize=16, fontweight="bold", parse_math=False
    )
    out = BytesIO()
    figure.savefig(out, format="png")
    return out.getvalue()


def png_of_sheet(sheet: Sheet) -> bytes:
    """Return the picture of a sheet: its panels under each other, one legend for all."""
    mpl.rcdefaults()
    mpl.rcParams.update({"font.size": 12, "text.color": _INK, "axes.edgecolor": _INK, "text.usetex": False})
    height = _PANEL_INCHES * len(sheet.panels) + 1
    figure = Figure(figsize=(_INCHES[0], height), dpi=_DOTS, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    drawn: dict[str, Artist] = {}
    rows = figure.subplots(len(sheet.panels), sharex=True, squeeze=False)[:, 0]
    for axes, panel in zip(rows, sheet.panels, strict=True):
        _draw_panel(axes, panel, sheet, drawn)
    zone = ZoneInfo(sheet.zone)
    locator = AutoDateLocator(tz=zone, minticks=3, maxticks=8)
    rows[-1].xaxis.set_major_locator(locator)
    rows[-1].xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=zone, formats=_FORMATS, show_offset=False))
    rows[-1].set_xlabel(sheet.zone, fontsize=11)
    figure.suptitle(_cut(sheet.title, _LONGEST_SIGNAL), x=0.01, ha="left", fontweight="bold", parse_math=False)
    names = [f" {_cut(name, _LONGEST_NAME)}" for name in drawn]
    legend = figure.legend(list(drawn.values()), names, loc="outside lower left", ncols=2, frameon=False)
    for text in legend.get_texts():
        text.set_parse_math(False)
    out = BytesIO()
    figure.savefig(out, format="png")
    return out.getvalue()


def _draw_panel(axes: Axes, panel: Panel, sheet: Sheet, drawn: dict[str, Artist]) -> None:
    times = [_days(at) for at in sheet.times]
    for curve in panel.curves:
        # A model has its colour in all panels.
        colour = _COLOURS[(list(drawn).index(curve.name) if curve.name in drawn else len(drawn)) % len(_COLOURS)]
        values = [nan if value is None else value for value in curve.values]
        (line,) = axes.plot(times, values, color=colour, linewidth=1.8)
        drawn.setdefault(curve.name, line)
    if panel.mark is not None:
        axes.axhline(panel.mark, color=_RED, linewidth=1.5, linestyle="--")
    axes.set_ylim(bottom=0)
    axes.set_xlim(times[0], times[-1])
    axes.set_title(_cut(panel.name, _LONGEST_SIGNAL), loc="left", fontsize=12, parse_math=False)
    axes.grid(color=_FAINT)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _draw_lines(figure: Figure, axes: Axes, chart: Chart) -> None:
    drawn = []
    for line, colour in zip(chart.lines, _COLOURS, strict=False):
        values = [nan if value is None else value for value in line.values]
        # A point between two gaps has no line to it.
        marker = "o" if len(values) == 1 else ""
        drawn += axes.plot([_days(at) for at in line.times], values, color=colour, linewidth=2.4, marker=marker)
    values = [value for line in chart.lines for value in line.values if value is not None]
    lowest, highest = min([*values, chart.threshold]), max([*values, chart.threshold])
    room = (highest - lowest or abs(highest) or 1.0) * 0.12
    axes.set_ylim(0 if 0 <= lowest < highest / 2 else lowest - room, highest + room)
    # A label that begins with an underscore would be left out.
    names = [f" {_cut(line.name, _LONGEST_NAME)}" for line in chart.lines]
    legend = figure.legend(drawn, names, loc="outside lower left", ncols=2, fontsize=12, frameon=False)
    for text in legend.get_texts():
        text.set_parse_math(False)


def _draw_threshold(axes: Axes, chart: Chart) -> None:
    axes.axhline(chart.threshold, color=_RED, linewidth=2, linestyle="--")
    axes.annotate(
        f"threshold {chart.threshold:.6g}",
        (1, chart.threshold),
        xycoords=("axes fraction", "data"),
        xytext=(-4, 4),
        textcoords="offset points",
        horizontalalignment="right",
        color=_RED,
        fontweight="bold",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )


def _draw_times(axes: Axes, chart: Chart) -> None:
    axes.set_xlim(_days(chart.start), _days(chart.end))
    axes.xaxis.set_major_locator(AutoDateLocator(tz=UTC, minticks=3, maxticks=6))
    axes.xaxis.set_major_formatter(DateFormatter("%H:%M", tz=UTC))
    axes.set_xlabel(f"UTC, {datetime.fromtimestamp(to_seconds(chart.end), UTC):%Y-%m-%d}", fontsize=12)
    axes.grid(color=_FAINT)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _days(at: Instant) -> float:
    """Return the days since 1970, matplotlib's own measure."""
    return at / DAY
