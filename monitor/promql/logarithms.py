"""
Logarithms, to the last bit as Prometheus computes them.

`floor(log10(x))` and the like make a whole step of a last bit, so the C library's logarithm, though no worse, will not
do. reference: Go, math/log.go (there from FreeBSD's msun, e_log.c); asked of Prometheus 3.5.3.
"""

import math

_LN_2_HIGH = 6.93147180369123816490e-01
_LN_2_LOW = 1.90821492927058770002e-10
_ODD = (6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01, 1.479819860511658591e-01)
_EVEN = (3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01)
_HALF_SQRT_2 = math.sqrt(2) / 2
# Rounded once, as Go's constants are: a quotient of rounded logarithms would miss the powers of ten.
_LOG2_E = 1.44269504088896340735992468100189214
_LOG10_E = 0.43429448190325182765112891891660508229


def ln(value: float) -> float:
    """Return the natural logarithm; minus infinity of zero, NaN of what is below it."""
    if value <= 0:
        return -math.inf if value == 0 else math.nan
    if not math.isfinite(value):
        return value
    fraction, exponent = math.frexp(value)
    if fraction < _HALF_SQRT_2:
        fraction *= 2
        exponent -= 1
    f, k = fraction - 1, float(exponent)
    s = f / (2 + f)
    s2 = s * s
    s4 = s2 * s2
    odd = s2 * (_ODD[0] + s4 * (_ODD[1] + s4 * (_ODD[2] + s4 * _ODD[3])))
    even = s4 * (_EVEN[0] + s4 * (_EVEN[1] + s4 * _EVEN[2]))
    half_square = 0.5 * f * f
    return k * _LN_2_HIGH - ((half_square - (s * (half_square + (odd + even)) + k * _LN_2_LOW)) - f)


def log2(value: float) -> float:
    """Return the binary logarithm, exact for powers of two."""
    if not value > 0 or math.isinf(value):
        return ln(value)
    fraction, exponent = math.frexp(value)
    if fraction == 0.5:  # noqa: PLR2004 - a power of two
        return float(exponent - 1)
    return ln(fraction) * _LOG2_E + exponent


def log10(value: float) -> float:
    """Return the decimal logarithm."""
    return ln(value) * _LOG10_E
