"""Numbers as Prometheus reads and writes them in a page: stricter than Python's float."""

import re
from math import inf, isfinite, nan

from monitor.model.sample import MetricType

_DECIMAL = re.compile(r"[0-9.eE+-]+")
_DECIMALS = re.compile(r"[0-9.eE+ -]*")
# Go knows no sign before NaN.
_WORDS = {
    "nan": nan,
    **{sign + word: value for word in ("inf", "infinity") for sign, value in (("", inf), ("+", inf), ("-", -inf))},
}
# reference: Go, strconv.FormatFloat with format 'g' and the shortest precision: when it writes an exponent.
_LEAST_EXPONENT, _MOST_EXPONENT = -4, 6


def parse_value(text: str) -> float:
    """
    Return the float of a decimal, `NaN` or an infinity, as Prometheus reads it.

    No underscores, no hexadecimal, no blanks, no digits but ASCII; a decimal beyond the range is an error too.
    reference: Prometheus 3, model/textparse/promparse.go parseFloat. Raises ValueError, its text for the user.
    """
    if _DECIMAL.fullmatch(text) is None:
        word = _WORDS.get(text.lower())
        if word is None:
            raise ValueError("not a number")
        return word
    try:
        value = float(text)
    except ValueError as err:
        raise ValueError("not a number") from err
    if not isfinite(value):
        raise ValueError("number out of range")
    return value


def are_decimals(texts: list[str], values: list[float]) -> bool:
    """
    Say, in one look, whether `parse_value` surely accepts all `texts`; `values` are their floats.

    No text may hold a blank.
    """
    return isfinite(sum(values)) and _DECIMALS.fullmatch(" ".join(texts)) is not None


def normal_bound(kind: MetricType, label: str, value: str) -> str:
    """
    Return the value of a label; `le` of a histogram and `quantile` of a summary in the form of a float: `1` is `1.0`.

    reference: Prometheus 3, model/textparse normalizeFloatsInLabelValues.
    """
    is_bound = (label == "le" and kind is MetricType.HISTOGRAM) or (label == "quantile" and kind is MetricType.SUMMARY)
    if not is_bound:
        return value
    try:
        return format_bound(parse_value(value.replace("_", "")))
    except ValueError:
        return value


def format_bound(value: float) -> str:
    """Return the text of a bucket's bound or a quantile: `0.5`, `1.0`, `1e+06`, `+Inf`."""
    if value != value:  # noqa: PLR0124 - NaN
        return "NaN"
    if not isfinite(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "0.0"
    mantissa, _, exponent = f"{value:e}".partition("e")
    if _LEAST_EXPONENT <= int(exponent) < _MOST_EXPONENT:
        return repr(value)
    digits = repr(value).partition("e")[0].lstrip("-").replace(".", "").strip("0")
    sign = "-" if mantissa.startswith("-") else ""
    return f"{sign}{digits[0]}{'.' if digits[1:] else ''}{digits[1:]}e{int(exponent):+03d}"
