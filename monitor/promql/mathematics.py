"""Functions of one float. None of them raises: what has no value is NaN or infinite, as in Go."""

import math
from collections.abc import Callable

from monitor.promql.logarithms import ln, log2, log10

Function = Callable[[float], float]


def _guarded(function: Function, at_overflow: float = math.inf) -> Function:
    def guarded(value: float) -> float:
        try:
            return function(value)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.copysign(at_overflow, value)

    return guarded


def _whole(function: Callable[[float], int]) -> Function:
    def whole(value: float) -> float:
        # From 2**52 on every float is whole; a zero keeps the sign of what it was made of.
        return math.copysign(float(function(value)), value) if abs(value) < 2.0**52 else value

    return whole


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _atanh(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) == 1 else _guarded(math.atanh)(value)


def _cosh(value: float) -> float:
    try:
        return math.cosh(value)
    except OverflowError:
        return math.inf


def _sgn(value: float) -> float:
    if value > 0:
        return 1.0
    return -1.0 if value < 0 else value


def to_nearest(value: float, nearest: float) -> float:
    """
    Round to a multiple of `nearest`, ties up.

    reference: Prometheus 3.5, promql/functions.go funcRound.
    """
    inverse = 1 / nearest if nearest else math.copysign(math.inf, nearest)
    scaled = value * inverse + 0.5
    floored = FLOAT_FUNCTIONS["floor"](scaled)
    if inverse:
        return floored / inverse
    return math.nan if floored == 0 or floored != floored else math.copysign(math.inf, floored)  # noqa: PLR0124 - NaN


FLOAT_FUNCTIONS: dict[str, Function] = {
    "abs": abs,
    "ceil": _whole(math.ceil),
    "floor": _whole(math.floor),
    "exp": _exp,
    "sqrt": _guarded(math.sqrt),
    "ln": ln,
    "log2": log2,
    "log10": log10,
    "sgn": _sgn,
    "sin": _guarded(math.sin),
    "cos": _guarded(math.cos),
    "tan": _guarded(math.tan),
    "asin": _guarded(math.asin),
    "acos": _guarded(math.acos),
    "atan": math.atan,
    "sinh": _guarded(math.sinh),
    "cosh": _cosh,
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": _guarded(math.acosh),
    "atanh": _atanh,
    "rad": lambda value: value * math.pi / 180,
    "deg": lambda value: value * 180 / math.pi,
}
