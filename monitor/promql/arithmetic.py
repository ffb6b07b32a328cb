"""The operators on two floats. None of them raises: what has no value is NaN or infinite, as in Go."""

import math
import operator
from collections.abc import Callable

Operation = Callable[[float, float], float]


def divide(left: float, right: float) -> float:
    """Return the quotient; a division by zero is infinite, 0/0 is NaN."""
    if right:
        return left / right
    if left != left or left == 0:  # noqa: PLR0124 - NaN
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


def modulo(left: float, right: float) -> float:
    """Return the remainder, with the sign of the dividend."""
    if math.isinf(left) or right == 0:
        return math.nan
    return math.fmod(left, right)


def power(base: float, exponent: float) -> float:
    """Return the power; without a real result it is NaN."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf
    except ValueError:
        # Either zero to a negative power, which is infinite, or a negative base to a fraction.
        if base == 0:
            return math.copysign(math.inf, base) if exponent % 2 == 1 else math.inf
        return math.nan


# The name of the result is dropped by these, and kept by a comparison that filters.
ARITHMETIC: dict[str, Operation] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": divide,
    "%": modulo,
    "^": power,
    "atan2": math.atan2,
}
COMPARISON: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
SETS = frozenset({"and", "or", "unless"})
