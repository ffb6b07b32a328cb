"""Go's constants: what stands between quotes, and numbers."""

import re

_ESCAPE = re.compile(
    r"\\(?:x(?P<byte>[0-9a-fA-F]{2})|(?P<octal>[0-7]{3})"
    r"|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8})|(?P<simple>[abfnrtv\\'\"]))|(?P<bad>\\)"
)
_SIMPLE = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92, "'": 39, '"': 34}
_SURROGATES = range(0xD800, 0xE000)
_LAST_RUNE = 0x10FFFF
_LAST_BYTE = 0xFF
_INTEGER = re.compile(
    r"[+-]?(?:0[xX]_?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|0[bB]_?[01]+(?:_[01]+)*|0[oO]?_?[0-7]+(?:_[0-7]+)*"
    r"|0|[1-9][0-9]*(?:_[0-9]+)*)"
)
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:_[0-9]+)*\.?(?:[0-9]+(?:_[0-9]+)*)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+)?")
_HEXADECIMAL = re.compile(r"[+-]?0[xX][0-9a-fA-F_]*\.?[0-9a-fA-F_]*[pP][+-]?[0-9]+")
_LONGEST = 400
INT_MIN, INT_MAX = -(2**63), 2**63 - 1


def unquote(source: str) -> str:
    """Return the text of a quoted string (double quotes or back-quotes); raises ValueError."""
    quote, body = source[0], source[1:-1]
    if quote == "`":
        return body.replace("\r", "")
    parts, position = bytearray(), 0
    for found in _ESCAPE.finditer(body):
        parts += body[position : found.start()].encode("utf-8", "replace") + _escaped(found, quote)
        position = found.end()
    parts += body[position:].encode("utf-8", "replace")
    # `\xff` may build text that is not UTF-8: shown as the replacement character, as every reader would.
    return parts.decode("utf-8", "replace")


def _escaped(found: re.Match[str], quote: str) -> bytes:
    simple, byte, octal = found["simple"], found["byte"], found["octal"]
    if simple and not (simple in "'\"" and simple != quote):
        return bytes([_SIMPLE[simple]])
    if byte:
        return bytes([int(byte, 16)])
    if octal and int(octal, 8) <= _LAST_BYTE:
        return bytes([int(octal, 8)])
    rune = int(found["short"] or found["long"] or "110000", 16)
    if rune > _LAST_RUNE or rune in _SURROGATES:
        raise ValueError("invalid syntax")
    return chr(rune).encode()


def character(source: str) -> int:
    """Return the code point of a character constant, `'a'`; raises ValueError."""
    text = unquote(source)
    if len(text) != 1:
        raise ValueError("malformed character constant")
    return ord(text)


def number(source: str) -> float:
    """
    Return the number of a constant: an int, or a float when it is written as one; raises ValueError.

    Complex numbers are refused: no function of a template takes one.
    """
    if len(source) > _LONGEST or source.endswith("i"):
        raise ValueError("complex numbers are not supported" if source.endswith("i") else "number is too long")
    if _INTEGER.fullmatch(source):
        return _integer(source)
    value = floating(source) if any(mark in source for mark in ".eEpP") else None
    if value is None or abs(value) == float("inf"):
        raise ValueError(f'bad number syntax: "{source}"')
    return value


def floating(source: str) -> float | None:
    """Return the float that `source` is, decimal or hexadecimal, infinite when it is too large; None when it is not."""
    if len(source) > _LONGEST:
        return None
    if _DECIMAL.fullmatch(source):
        return float(source)
    if not _HEXADECIMAL.fullmatch(source):
        return None
    try:
        return float.fromhex(source.replace("_", ""))
    except OverflowError:
        return float("-inf" if source.startswith("-") else "inf")
    except ValueError:
        return None


def _integer(source: str) -> int:
    digits = source.lstrip("+-")
    octal = digits[0] == "0" and digits[1:2].isdigit()
    value = int("0o" + digits[1:] if octal else digits, 0) * (-1 if source.startswith("-") else 1)
    if not INT_MIN <= value <= INT_MAX:
        raise ValueError(f"integer overflow: {source}")
    return value
