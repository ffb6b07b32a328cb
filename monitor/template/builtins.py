"""
The functions every Go template has. `and` and `or` stop at the first argument that decides: see execute.py.

reference: Go, text/template (package documentation).
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote_plus

from monitor.model.labels import Labels
from monitor.template.errors import FunctionError
from monitor.template.printf import sprint
from monitor.template.values import QueryResult, Value, field_of, is_true, type_name


def negate(value: Value) -> bool:
    return not is_true(value)


def length(value: Value) -> int:
    """Return the length of a string (in bytes), map or list; raises FunctionError."""
    if isinstance(value, str):
        return len(value.encode("utf-8", "replace"))
    if isinstance(value, Labels | dict | QueryResult):
        return len(value)
    raise FunctionError("len of untyped nil" if value is None else f"len of type {type_name(value)}")


def index(value: Value, *indices: Value) -> Value:
    """Return `value[i][j]…`; raises FunctionError."""
    if value is None:
        raise FunctionError("index of untyped nil")
    for key in indices:
        value = _item(value, key)
    return value


def _item(value: Value, key: Value) -> Value:
    if isinstance(value, Labels | dict):
        if not isinstance(key, str):
            raise FunctionError(f"value has type {type_name(key)}; should be string")
        return field_of(value, key)
    if not isinstance(value, QueryResult | str):
        raise FunctionError(f"can't index item of type {type_name(value)}")
    items: Sequence[Any] = value.encode("utf-8", "replace") if isinstance(value, str) else value
    return items[_position(key, len(items), past_end=False)]


def _position(key: Value, size: int, *, past_end: bool) -> int:
    if isinstance(key, bool) or not isinstance(key, int):
        raise FunctionError(f"cannot index slice/array with type {type_name(key)}")
    if not 0 <= key < size + past_end:
        raise FunctionError(f"index out of range: {key}")
    return key


_MOST_BOUNDS = 2


def cut(value: Value, *bounds: Value) -> Value:
    """Return `value[i:j]` of a string (in bytes) or a list; raises FunctionError."""
    if not isinstance(value, str | QueryResult):
        raise FunctionError("slice of untyped nil" if value is None else f"can't slice item of type {type_name(value)}")
    if len(bounds) > _MOST_BOUNDS:
        raise FunctionError("cannot 3-index slice a string" if isinstance(value, str) else "too many slice indexes")
    items = value.encode("utf-8", "replace") if isinstance(value, str) else value
    start, end = [*(_position(bound, len(items), past_end=True) for bound in bounds), *(0, len(items))[len(bounds) :]]
    if start > end:
        raise FunctionError(f"invalid slice index: {start} > {end}")
    part = items[start:end]
    return part.decode("utf-8", "replace") if isinstance(part, bytes) else QueryResult(part)


def _text(arguments: Sequence[Value]) -> str:
    return arguments[0] if len(arguments) == 1 and isinstance(arguments[0], str) else sprint(arguments)


_HTML = str.maketrans({'"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;", "\0": "\ufffd"})
_JS = {"\\": "\\\\", "'": "\\'", '"': '\\"'}
_JS_CODES = "<>&="


def html(*arguments: Value) -> str:
    return _text(arguments).translate(_HTML)


def js(*arguments: Value) -> str:
    return "".join(_js(character) for character in _text(arguments))


def _js(character: str) -> str:
    if character in _JS:
        return _JS[character]
    if character in _JS_CODES or character < " " or not character.isprintable():
        return f"\\u{ord(character):04X}"
    return character


def urlquery(*arguments: Value) -> str:
    return quote_plus(_text(arguments), errors="replace")


def equal(first: Value, *others: Value) -> bool:
    """Say whether `first` equals any of `others`; raises FunctionError when they are not of one kind."""
    if not others:
        raise FunctionError("missing argument for comparison")
    return any(_equals(first, other) for other in others)


def unequal(first: Value, second: Value) -> bool:
    return not equal(first, second)


def less(first: Value, second: Value) -> bool:
    """Raises FunctionError: an int is not comparable with a float, nor anything with a map."""
    kind = _kind(first)
    if kind != _kind(second):
        raise _incompatible(first, second)
    if kind == "bool":
        raise FunctionError("invalid type for comparison")
    return bool(first < second)


def less_or_equal(first: Value, second: Value) -> bool:
    return less(first, second) or equal(first, second)


def greater(first: Value, second: Value) -> bool:
    # As in Go: NaN is greater than everything, because it is not less or equal.
    return not less_or_equal(first, second)


def greater_or_equal(first: Value, second: Value) -> bool:
    return not less(first, second)


def _equals(first: Value, other: Value) -> bool:
    if first is None or other is None:
        return first is other
    if _kind(first) != _kind(other):
        raise _incompatible(first, other)
    return bool(first == other)


def _kind(value: Value) -> str:
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind.__name__
    if isinstance(value, Labels | dict | QueryResult):
        raise FunctionError(f"non-comparable type {sprint([value])}: {type_name(value)}")
    raise FunctionError("invalid type for comparison")


def _incompatible(first: Value, second: Value) -> FunctionError:
    return FunctionError(f"incompatible types for comparison: {type_name(first)} and {type_name(second)}")


def call(*_: Value) -> Value:
    """Raises FunctionError: no value of a template is a function."""
    raise FunctionError("call of a value that is not a function")
