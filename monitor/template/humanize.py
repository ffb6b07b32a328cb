"""
Numbers for people: `humanize` and its kin.

reference: Prometheus 2.42 golden values, and docs/configuration/template_reference.md.
"""

from math import inf, isinf, isnan, nan

from monitor.template.errors import FunctionError
from monitor.template.floats import shortest, with_sign
from monitor.template.literals import INT_MAX, INT_MIN, floating
from monitor.template.times import Duration, Time
from monitor.template.values import Value, type_name

_ABOVE = ("k", "M", "G", "T", "P", "E", "Z", "Y")
_BINARY = ("ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi")
_BELOW = ("m", "u", "n", "p", "f", "a", "z", "y")
_DECIMAL_STEP, _BINARY_STEP = 1000, 1024
_SPECIAL = {"inf": inf, "infinity": inf, "nan": nan}


def to_float(value: Value) -> float:
    """Return a number, a string that holds one, or a duration (in seconds) as a float; raises FunctionError."""
    if isinstance(value, str):
        return _parse(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, Duration):
        return value.nanoseconds / 1e9
    raise FunctionError(f"can't convert {type_name(value) if value is not None else '<nil>'} to float")


def _parse(text: str) -> float:
    value = floating(text)
    if value is None:
        special = _SPECIAL.get(text.lower().removeprefix("+").removeprefix("-"))
        if special is None:
            raise FunctionError(f'strconv.ParseFloat: parsing "{text}": invalid syntax')
        return -special if text.startswith("-") else special
    if isinf(value):
        raise FunctionError(f'strconv.ParseFloat: parsing "{text}": value out of range')
    return value


def humanize(value: float) -> str:
    if value == 0 or isnan(value) or isinf(value):
        return _four(value)
    if abs(value) >= 1:
        return _scaled_down(value, _DECIMAL_STEP, _ABOVE)
    return _scaled_up(value)


def humanize1024(value: float) -> str:
    if abs(value) <= 1 or isnan(value) or isinf(value):
        return _four(value)
    return _scaled_down(value, _BINARY_STEP, _BINARY)


def humanize_duration(value: float) -> str:
    if isnan(value) or isinf(value):
        return _four(value)
    if value == 0:
        return _four(value) + "s"
    if abs(value) < 1:
        return _scaled_up(value) + "s"
    return ("-" if value < 0 else "") + _clock(abs(value))


def _clock(value: float) -> str:
    # A float too large for an int64 becomes the smallest one, as on the machines Prometheus is built for.
    whole = int(value) if value < INT_MAX else INT_MIN
    sign = -1 if whole < 0 else 1
    minutes, seconds = divmod(abs(whole), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{sign * days}d {sign * hours}h {sign * minutes}m {sign * seconds}s"
    if hours:
        return f"{hours}h {minutes}m {seconds}s"
    if minutes:
        return f"{minutes}m {seconds}s"
    return _four(value) + "s"


def humanize_percentage(value: float) -> str:
    return _four(value * 100) + "%"


def humanize_timestamp(value: float) -> str:
    """Raises FunctionError when the instant does not fit 64 bits of nanoseconds."""
    if isnan(value) or isinf(value):
        return _four(value)
    return str(_at(value))


def to_time(value: float) -> Time:
    """Raises FunctionError."""
    if isnan(value) or isinf(value):
        raise FunctionError("value is NaN or Inf")
    return _at(value)


def to_duration(value: float) -> Duration:
    """Raises FunctionError."""
    if isnan(value) or isinf(value):
        raise FunctionError("value is NaN or Inf")
    nanoseconds = value * 1e9
    if not INT_MIN <= nanoseconds <= INT_MAX:
        raise FunctionError(
            f"{shortest(value)} cannot be represented as a nanoseconds duration since it overflows int64"
        )
    return Duration(int(nanoseconds))


def _at(value: float) -> Time:
    nanoseconds = value * 1e9
    if not INT_MIN <= nanoseconds <= INT_MAX:
        raise FunctionError(
            f"{shortest(value)} cannot be represented as a nanoseconds timestamp since it overflows int64"
        )
    # Prometheus keeps milliseconds, cut towards zero.
    milliseconds = abs(int(nanoseconds)) // 1_000_000
    return Time((-milliseconds if nanoseconds < 0 else milliseconds) * 1_000_000)


def _scaled_down(value: float, step: int, prefixes: tuple[str, ...]) -> str:
    prefix = ""
    for larger in prefixes:
        if abs(value) < step:
            break
        prefix = larger
        value /= step
    return _four(value) + prefix


def _scaled_up(value: float) -> str:
    prefix = ""
    for smaller in _BELOW:
        if abs(value) >= 1:
            break
        prefix = smaller
        value *= _DECIMAL_STEP
    return _four(value) + prefix


def _four(value: float) -> str:
    """Return %.4g."""
    return with_sign(value, f"{abs(value):.4g}")
