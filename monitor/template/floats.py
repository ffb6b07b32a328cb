"""Floats as Go writes them."""

from math import copysign, inf, isinf, isnan

# Where Go's shortest %g turns to the form with an exponent, however many digits there are.
# reference: golden values of Prometheus 2.42.
_SMALLEST_POWER, _LARGEST_POWER = -4, 5


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


def size_text(size: float, verb: str, precision: int | None) -> str:
    """Return a size (never negative) in the form of a verb: e, f, g or their capitals, x."""
    if isnan(size) or size == inf:
        return ""
    lower = verb.lower()
    if lower == "g" and precision is None:
        text = _shortest_general(size)
    elif lower == "x":
        text = _hexadecimal(size, precision)
    elif precision is None or precision < 0:
        text = f"{size:.6{lower}}"
    else:
        text = f"{size:.{precision}{lower}}"
    return text.upper() if verb in "EGX" else text


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


def _hexadecimal(size: float, precision: int | None) -> str:
    head, _, power = size.hex().partition("p")
    whole, _, fraction = head[2:].partition(".")
    if precision is not None and precision >= 0:
        wanted = max(precision, 0)
        scaled = int(whole + fraction, 16)
        shift = 4 * (len(fraction) - wanted)
        scaled = _round_half_even(scaled, shift) if shift > 0 else scaled << -shift
        text = f"{scaled:0{wanted + 1}x}"
        whole, fraction = text[: len(text) - wanted], text[len(text) - wanted :]
    else:
        fraction = fraction.rstrip("0")
    return f"0x{whole}{'.' + fraction if fraction else ''}p{int(power):+03d}"


def _round_half_even(number: int, bits: int) -> int:
    kept, rest = number >> bits, number & ((1 << bits) - 1)
    half = 1 << (bits - 1)
    return kept + (rest > half or (rest == half and kept & 1 == 1))
