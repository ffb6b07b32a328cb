"""Several pictures under each other that share their times, and their form on the way to the child that draws them."""

import json
from dataclasses import asdict, dataclass
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from monitor.charts.chart import LONGEST_TEXT, MOST_BYTES, MOST_LINES, MOST_POINTS
from monitor.model.instant import Instant

MOST_PANELS = 4
# What the child knows a sheet by.
KEY = "sheet"


@dataclass(frozen=True, slots=True)
class Curve:
    """A value at each time of the sheet, None where there is none."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """Curves of one quantity, named with its unit; `mark` is a level worth a line."""

    name: str
    curves: tuple[Curve, ...]
    mark: float | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """Panels with the times that all of them have in common, shown in `zone`."""

    title: str
    times: tuple[Instant, ...]
    panels: tuple[Panel, ...]
    zone: str = "UTC"


def encoded_sheet(sheet: Sheet) -> bytes:
    """Return the sheet as JSON; raises ValueError for what is too large, or not finite."""
    body = json.dumps({KEY: asdict(sheet)}, allow_nan=False).encode()
    if len(body) > MOST_BYTES:
        raise ValueError("the sheet is too large")
    return body


def decoded_sheet(body: bytes) -> Sheet | None:
    """Return the sheet of a JSON text, None where it is something else; raises ValueError."""
    whole = json.loads(body[: MOST_BYTES + 1])
    if not isinstance(whole, dict) or KEY not in whole:
        return None
    try:
        given = whole[KEY]
        times = tuple(int(at) for at in given["times"])
        panels = tuple(_panel(panel, len(times)) for panel in given["panels"])
        sheet = Sheet(str(given["title"]), times, panels, str(given["zone"]))
        ZoneInfo(sheet.zone)
    except (KeyError, TypeError, AttributeError, OverflowError, ZoneInfoNotFoundError) as err:
        raise ValueError("not a sheet") from err
    if not 0 < len(panels) <= MOST_PANELS or not 1 < len(times) <= MOST_POINTS or len(sheet.title) > LONGEST_TEXT:
        raise ValueError("a sheet without panels or times, or with too many")
    return sheet


def _panel(given: dict[str, object], points: int) -> Panel:
    curves, mark = given["curves"], given["mark"]
    if not isinstance(curves, list) or not 0 < len(curves) <= MOST_LINES:
        raise ValueError("a panel without curves, or with too many")
    made = tuple(
        Curve(str(one["name"]), tuple(None if value is None else float(value) for value in one["values"]))
        for one in curves
    )
    if any(len(one.values) != points or len(one.name) > LONGEST_TEXT for one in made):
        raise ValueError("a curve without a value at each time, or with a name that is too long")
    return Panel(str(given["name"])[:LONGEST_TEXT], made, mark if isinstance(mark, int | float) else None)
