"""Floats as Go writes them."""

from math import copysign, frexp, inf, isinf, isnan, ldexp

# Where Go's shortest %g turns to the form with an exponent, however many digits there are.
# reference: golden values of Prometheus 2.42.
_SMALLEST_POWER, _LARGEST_POWER = -4, 5
_MANTISSA, _LEAST_POWER = 53, -1074


def shortest(value: float) -> str:
    """Return `value` as `{{ $value }}` and %v show it: 0.5, 1e+09, NaN, +Inf."""
    return with_sign(value, _shortest_general(abs(value)))


def with_sign(value: float, size: str) -> str:
    """Put the sign of `value` before the text of its size; infinity always has one."""
    if isnan(value):
        return "NaN"
    if isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return "-" + size if copysign(1.0, value) < 0 else size


def size_text(size: float, verb: str, precision: int | None, *, sharp: bool = False) -> str:
    """
    Return a size (never negative) in the form of a verb: e, f, g or their capitals, x, b.

    `sharp` keeps the point and, with g, the zeros at the end.
    """
    if isnan(size) or size == inf:
        return ""
    lower = verb.lower()
    if lower == "b":
        return _binary(size)
    if lower == "x":
        text = _hexadecimal(size, precision, sharp=sharp)
    elif lower == "g" and precision is None:
        short = sharp and len(_digits(size)[0]) <= _LARGEST_POWER + 1
        text = f"{size:#.{_LARGEST_POWER + 1}g}" if short else _shortest_general(size)
    else:
        text = f"{size:{'#' if sharp else ''}.{6 if precision is None else precision}{lower}}"
    return text.upper() if verb in "EGX" else text


def _binary(size: float) -> str:
    mantissa, exponent = frexp(size)
    # The smallest floats have fewer digits than the others, not a smaller exponent.
    shift = max(exponent - _MANTISSA, _LEAST_POWER)
    return f"{int(ldexp(mantissa, exponent - shift))}p{shift:+d}"


def _shortest_general(size: float) -> str:
    if isnan(size) or isinf(size):
        return ""
    digits, point = _digits(size)
    power = point - 1
    if size and not _SMALLEST_POWER <= power <= _LARGEST_POWER:
        rest = digits[1:]
        return f"{digits[0]}{'.' + rest if rest else ''}e{power:+03d}"
    if point <= 0:
        return "0." + "0" * -point + digits if size else "0"
    return digits.ljust(point, "0")[:point] + ("." + digits[point:] if len(digits) > point else "")


def _digits(size: float) -> tuple[str, int]:
    """Return the shortest digits that read back as `size`, and where the point stands among them."""
    mantissa, _, exponent = repr(size).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = fraction.rstrip("0")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0)
    leading = len(whole + fraction) - len(digits)
    return digits.rstrip("0") or "0", point - leading


def _hexadecimal(size: float, precision: int | None, *, sharp: bool) -> str:
    head, _, exponent = size.hex().partition("p")
    whole, _, fraction = head[2:].partition(".")
    power = int(exponent)
    if precision is None:
        fraction = fraction.rstrip("0")
    else:
        scaled = int(whole + fraction, 16)
        shift = 4 * (len(fraction) - precision)
        scaled = _round_half_even(scaled, shift) if shift > 0 else scaled << -shift
        text = f"{scaled:0{precision + 1}x}"
        whole, fraction = text[: len(text) - precision], text[len(text) - precision :]
        if whole == "2":
            whole, power = "1", power + 1
    return f"0x{whole}{'.' if fraction or sharp else ''}{fraction}p{power:+03d}"


def _round_half_even(number: int, bits: int) -> int:
    kept, rest = number >> bits, number & ((1 << bits) - 1)
    half = 1 << (bits - 1)
    return kept + (rest > half or (rest == half and kept & 1 == 1))
