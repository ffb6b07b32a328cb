"""Numbers of a report as texts, each with its unit."""

from datetime import tzinfo

from monitor.model.instant import Instant, to_seconds
from monitor.report.period import shown

_HOUR = 60
_LEAST_RATIO, _TENTH, _LARGE = 0.0001, 0.1, 100


def ratio(value: float) -> str:
    if 0 < value < _LEAST_RATIO:
        return f"below {_LEAST_RATIO:.2%}"
    return f"{value:.0%}" if value >= _TENTH or not value else f"{value:.2%}"


def seconds(value: float) -> str:
    return f"{value * 1000:.3g} ms" if value < 1 else f"{value:,.3g} s"


def number(value: float) -> str:
    """Return a number with as many decimals as its size has use for."""
    decimals = 0 if value >= _LARGE else 1 if value >= 1 / _TENTH else 2
    text = f"{value:,.{decimals}f}"
    return text.removesuffix("." + "0" * decimals)


def minutes(value: int) -> str:
    hours, rest = divmod(value, _HOUR)
    return f"{hours:,} h {rest:02} min" if hours else f"{rest} min"


def length(milliseconds: int) -> str:
    return minutes(int(to_seconds(milliseconds)) // _HOUR)


def when(at: Instant, zone: tzinfo) -> str:
    return shown(at, zone, "%a %d %b %H:%M")
