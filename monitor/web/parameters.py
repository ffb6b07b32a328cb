"""What a request asks for: times, durations and numbers, as the Prometheus HTTP API writes them."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from monitor.model.instant import Duration, DurationError, Instant, parse_duration
from monitor.web.error import ApiError, invalid

# reference: Prometheus 3, web/api/v1/api.go: for safety, a week at 60 s resolution or a year at 1 h.
MOST_POINTS = 11_000
NANOSECOND = 1
_MILLISECOND = 1_000_000 * NANOSECOND
_SECOND = 1_000 * _MILLISECOND
_LARGEST = 2**63
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_RFC3339 = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Values = Mapping[str, str]


def parse_time(text: str) -> Instant:
    """Return an instant given in Unix seconds or as RFC 3339. Raises ValueError."""
    if _NUMBER.fullmatch(text):
        part, seconds = math.modf(float(text))
        if abs(seconds) * 1000 < _LARGEST:
            # Half a millisecond is rounded away from zero.
            return int(seconds) * 1000 + int(math.copysign(math.floor(abs(part) * 1000 + 0.5), part))
    found = _RFC3339.fullmatch(text)
    if found is not None:
        whole, fraction, zone = found.groups()
        try:
            at = datetime.fromisoformat(whole + zone.replace("Z", "+00:00"))
        except ValueError:
            pass
        else:
            return (at - _EPOCH) // timedelta(milliseconds=1) + int(((fraction or "") + "000")[:3])
    raise ValueError(f'cannot parse "{text}" to a valid timestamp')


def parse_nanoseconds(text: str) -> int:
    """Return a duration given in seconds or as `1m30s`, in nanoseconds. Raises ValueError."""
    if _NUMBER.fullmatch(text):
        nanoseconds = float(text) * _SECOND
        if not abs(nanoseconds) < _LARGEST:
            raise ValueError(f'cannot parse "{text}" to a valid duration. It overflows int64')
        return int(nanoseconds)
    try:
        return parse_duration(text) * _MILLISECOND
    except DurationError as err:
        raise ValueError(f'cannot parse "{text}" to a valid duration') from err


def time_of(values: Values, name: str, default: Instant) -> Instant:
    """Return a time that may be left out."""
    text = values.get(name, "")
    if not text:
        return default
    try:
        return parse_time(text)
    except ValueError as err:
        raise invalid(name, f"invalid time value for '{name}': {err}") from err


def seconds_of(values: Values, name: str, default: float) -> float:
    """Return a duration that may be left out, in seconds."""
    text = values.get(name, "")
    return _duration(values, name) / _SECOND if text else default


def limit_of(values: Values) -> int:
    """Return how many results are wanted, 0 for all."""
    text = values.get("limit", "")
    if not text:
        return 0
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        raise invalid("limit", f'strconv.Atoi: parsing "{text}": invalid syntax')
    if int(text) < 0:
        raise invalid("limit", "limit must be non-negative")
    return int(text)


def number_of(values: Values, name: str) -> int:
    """Return a number that may be left out: -1 then. Raises ApiError as /metadata words it."""
    text = values.get(name, "")
    if text and not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        raise ApiError(f"{name} must be a number")
    return int(text) if text else -1


def lookback_of(values: Values, default: Duration) -> Duration:
    text = values.get("lookback_delta", "")
    if not text:
        return default
    try:
        # As in Prometheus: what is not above zero is the default.
        return max(parse_nanoseconds(text) // _MILLISECOND, 0) or default
    except ValueError as err:
        raise ApiError(f"error parsing lookback delta duration: {err}") from err


def steps_of(values: Values) -> tuple[Instant, Instant, Duration]:
    """Return start, end and step of a range query. Raises ApiError."""
    start, end = _time(values, "start"), _time(values, "end")
    if end < start:
        raise invalid("end", "end timestamp must not be before start time")
    step = _duration(values, "step")
    if step <= 0:
        raise invalid("step", "zero or negative query resolution step widths are not accepted. Try a positive integer")
    if (end - start) * _MILLISECOND // step > MOST_POINTS:
        raise ApiError(
            "exceeded maximum resolution of 11,000 points per timeseries. "
            "Try decreasing the query resolution (?step=XX)"
        )
    if step < _MILLISECOND:
        raise invalid("step", "a step is at least a millisecond")
    return start, end, step // _MILLISECOND


def _time(values: Values, name: str) -> Instant:
    try:
        return parse_time(values.get(name, ""))
    except ValueError as err:
        raise invalid(name, err) from err


def _duration(values: Values, name: str) -> int:
    try:
        return parse_nanoseconds(values.get(name, ""))
    except ValueError as err:
        raise invalid(name, err) from err
