"""One value in the form of one verb of printf."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import isinf, isnan

from monitor.model.labels import Labels
from monitor.template import floats
from monitor.template.times import Duration, Named, Time
from monitor.template.values import QueryResult, QuerySample, Record, Value, type_name


@dataclass(frozen=True, slots=True)
class Spec:
    """
    A verb with its flags, width and precision.

    `syntax`: the value as it would be written in Go, which is what the flag # means with %v.
    """

    verb: str
    syntax: bool = False
    plus: bool = False
    minus: bool = False
    sharp: bool = False
    space: bool = False
    zero: bool = False
    width: int = 0
    precision: int | None = None


def render(value: Value, spec: Spec) -> str:
    """Return `value` in the form of `spec`; a verb that does not fit is reported in the text, as Go does."""
    if value is None:
        return padded("<nil>", spec) if spec.verb == "v" else f"%!{spec.verb}(<nil>)"
    if isinstance(value, Time | Duration) or (isinstance(value, Named) and spec.verb in "vs"):
        value = str(value)
    form = next(form for kind, form in _FORMS if isinstance(value, kind))
    text = form(value, spec)
    if text is not None:
        return text
    return f"%!{spec.verb}({type_name(value)}={form(value, replace(spec, verb='v'))})"


def padded(text: str, spec: Spec) -> str:
    """Fill `text` up to the width."""
    if spec.minus:
        return text.ljust(spec.width)
    return text.rjust(spec.width, "0" if spec.zero else " ")


def quote(text: str, *, ascii_only: bool = False) -> str:
    """Return a double-quoted Go string."""
    return '"' + "".join(_quoted(character, '"', ascii_only=ascii_only) for character in text) + '"'


_NAMED = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\"}
_LAST_SHORT = 0xFFFF
_DELETE = 0x7F


def _quoted(character: str, mark: str, *, ascii_only: bool) -> str:
    code = ord(character)
    if character == mark:
        return "\\" + mark
    if character in _NAMED:
        return _NAMED[character]
    if character.isprintable() and (character.isascii() or not ascii_only):
        return character
    if code < ord(" ") or code == _DELETE:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= _LAST_SHORT else f"\\U{code:08x}"


def _string(value: str, spec: Spec) -> str | None:
    text = value if spec.precision is None else value[: spec.precision]
    if spec.syntax:
        return padded(quote(text), spec)
    if spec.verb in "vs":
        return padded(text, spec)
    if spec.verb == "q":
        if spec.sharp and "`" not in text and all(c.isprintable() or c == "\t" for c in text):
            return padded(f"`{text}`", spec)
        return padded(quote(text, ascii_only=spec.plus), spec)
    if spec.verb in "xX":
        data = value.encode("utf-8", "replace")
        data = data if spec.precision is None else data[: spec.precision]
        prefix = "0x" if spec.sharp else ""
        digits = f" {prefix}".join(f"{byte:02x}" for byte in data) if spec.space else data.hex()
        text = prefix + digits if data else ""
        return padded(text.upper() if spec.verb == "X" else text, spec)
    return None


def _bool(value: bool, spec: Spec) -> str | None:  # noqa: FBT001 - the value itself
    if spec.verb not in "tv":
        return None
    return padded("true" if value else "false", spec)


_BASES = {"d": "d", "v": "d", "b": "b", "o": "o", "O": "o", "x": "x", "X": "X"}
_PREFIXES = {"b": "0b", "o": "0", "x": "0x", "X": "0X"}
_LAST_RUNE = 0x10FFFF


def _int(value: int, spec: Spec) -> str | None:
    if spec.verb in "cqU":
        return _rune(value, spec)
    if spec.verb not in _BASES:
        return None
    digits = f"{abs(value):{_BASES[spec.verb]}}"
    sign = "-" if value < 0 else "+" if spec.plus else " " if spec.space else ""
    prefix = "0o" if spec.verb == "O" else _PREFIXES.get(spec.verb, "") if spec.sharp else ""
    if spec.precision is not None:
        digits = "" if spec.precision == 0 and value == 0 else digits.rjust(spec.precision, "0")
        spec = replace(spec, zero=False)
    if spec.zero:
        digits = digits.rjust(spec.width - len(sign), "0")
    return padded(sign + prefix + digits, replace(spec, zero=False))


def _rune(value: int, spec: Spec) -> str:
    character = chr(value) if 0 <= value <= _LAST_RUNE and not 0xD800 <= value < 0xE000 else "\ufffd"  # noqa: PLR2004 - surrogates
    if spec.verb == "c":
        return padded(character, spec)
    if spec.verb == "q":
        return padded("'" + _quoted(character, "'", ascii_only=spec.plus) + "'", spec)
    shown = f" '{character}'" if spec.sharp and character.isprintable() else ""
    return padded(f"U+{value:0{max(spec.precision or 0, 4)}X}{shown}", replace(spec, zero=False))


_FLOAT_VERBS = {"v": "g", "F": "f"}


def _float(value: float, spec: Spec) -> str | None:
    verb = _FLOAT_VERBS.get(spec.verb, spec.verb)
    if verb not in "beEfgGxX":
        return None
    text = floats.with_sign(value, floats.size_text(abs(value), verb, spec.precision, sharp=spec.sharp))
    if isnan(value) or isinf(value):
        spec = replace(spec, zero=False)
    if text[0] not in "+-":
        text = ("+" if spec.plus else " " if spec.space else "") + text
    if spec.zero and text[:1] in ("+", "-", " "):
        return text[0] + text[1:].rjust(spec.width - 1, "0")
    return padded(text, spec)


def _map(value: Labels | dict[str, Value], spec: Spec) -> str:
    pairs = value if isinstance(value, Labels) else sorted(value.items())
    if spec.syntax:
        return (
            type_name(value) + "{" + ", ".join(f"{render(key, spec)}:{render(item, spec)}" for key, item in pairs) + "}"
        )
    return "map[" + " ".join(f"{render(key, spec)}:{render(item, spec)}" for key, item in pairs) + "]"


def _struct(fields: Iterable[Value], spec: Spec) -> str:
    return "{" + " ".join(render(item, spec) for item in fields) + "}"


_FORMS: tuple[tuple[type, Callable[[Value, Spec], str | None]], ...] = (
    (str, _string),
    (bool, _bool),
    (int, _int),
    (float, _float),
    (Labels, _map),
    (dict, _map),
    (QuerySample, lambda value, spec: _struct((value.labels, value.value), spec)),
    (QueryResult, lambda value, spec: "[" + " ".join(render(item, spec) for item in value) + "]"),
    (Record, lambda value, spec: _struct(value.fields.values(), spec)),
)
