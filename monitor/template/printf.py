"""
Printf, as Go's package fmt has it: verbs, flags, width, precision, and its way of reporting mistakes in the text.

reference: Go, fmt (package documentation); behaviour checked against promtool.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from monitor.template.render import Spec, render
from monitor.template.values import QuerySample, Value, type_name

_DIRECTIVE = re.compile(
    r"%(?P<flags>[-+# 0]*)(?P<width>(?:\[[^\]]*\])?\*|[0-9]+)?"
    r"(?:\.(?P<precision>(?:\[[^\]]*\])?\*|[0-9]*))?(?P<index>\[[^\]]*\])?(?P<verb>.)?",
    re.DOTALL,
)
_LARGEST = 1_000_000
# A template's output is bounded; a width beyond that bound can only be an attack or a typing error.
_LARGEST_PRECISION = 1_000
_INDEX = re.compile(r"\[([0-9]{1,9})\]")


def sprintf(template: str, arguments: Sequence[Value]) -> str:
    """Return `template` with its verbs replaced by `arguments`. Never raises: mistakes show in the text."""
    return _Printf(arguments).format(template)


def sprint(arguments: Sequence[Value]) -> str:
    """Return the arguments as `print` shows them: a space between two that are both not strings."""
    parts: list[str] = []
    for number, argument in enumerate(arguments):
        if number and not isinstance(argument, str) and not isinstance(arguments[number - 1], str):
            parts.append(" ")
        parts.append(render(argument, Spec("v")))
    return "".join(parts)


def sprintln(arguments: Sequence[Value]) -> str:
    return " ".join(render(argument, Spec("v")) for argument in arguments) + "\n"


@dataclass(slots=True)
class _Printf:
    """The state of one call: which argument is next."""

    arguments: Sequence[Value]
    at: int = 0
    reordered: bool = False
    bad_index: bool = False

    def format(self, template: str) -> str:
        parts: list[str] = []
        position = 0
        for found in _DIRECTIVE.finditer(template):
            parts.append(template[position : found.start()])
            parts.append(self._directive(found))
            position = found.end()
        parts.append(template[position:])
        if not self.reordered and self.at < len(self.arguments):
            extra = ", ".join(_typed(argument) for argument in self.arguments[self.at :])
            parts.append(f"%!(EXTRA {extra})")
        return "".join(parts)

    def _directive(self, found: re.Match[str]) -> str:
        self.bad_index = False
        # With %v a plus and a # ask for names and types instead of signs and prefixes.
        flags, value = found["flags"], found["verb"] == "v"
        spec = Spec(
            found["verb"] or "",
            syntax=value and "#" in flags,
            plus="+" in flags and not value,
            minus="-" in flags,
            sharp="#" in flags and not value,
            space=" " in flags,
            zero="0" in flags and "-" not in flags,
        )
        spec, complaint = self._sizes(spec, found["width"], found["precision"])
        if found["index"]:
            self._jump(found["index"])
        return complaint + self._verb(spec)

    def _sizes(self, spec: Spec, width: str | None, precision: str | None) -> tuple[Spec, str]:
        complaint = ""
        if width:
            wide = self._size(width)
            if wide is None:
                complaint = "%!(BADWIDTH)"
            elif wide < 0:
                spec = replace(spec, width=-wide, minus=True, zero=False)
            else:
                spec = replace(spec, width=wide)
        if precision is not None:
            precise = self._size(precision or "0")
            if precise is None or precise < 0:
                complaint += "%!(BADPREC)" if precise is None else ""
            else:
                spec = replace(spec, precision=min(precise, _LARGEST_PRECISION))
        return spec, complaint

    def _size(self, text: str) -> int | None:
        """Return a width or a precision, taken from the arguments when it is `*`; None when it is not one."""
        if not text.endswith("*"):
            size = int(text[:10])
            return size if size <= _LARGEST else None
        if len(text) > 1:
            self._jump(text)
        if self.bad_index or self.at >= len(self.arguments):
            return None
        argument = self.arguments[self.at]
        self.at += 1
        fits = isinstance(argument, int) and not isinstance(argument, bool) and abs(argument) <= _LARGEST
        return argument if fits else None

    def _jump(self, text: str) -> None:
        found = _INDEX.search(text)
        index = int(found[1]) if found else 0
        self.reordered = True
        if 1 <= index <= len(self.arguments):
            self.at = index - 1
        else:
            self.bad_index = True

    def _verb(self, spec: Spec) -> str:
        if not spec.verb:
            return "%!(NOVERB)"
        if spec.verb == "%":
            return "%"
        if self.bad_index or self.at >= len(self.arguments):
            return f"%!{spec.verb}({'BADINDEX' if self.bad_index else 'MISSING'})"
        argument = self.arguments[self.at]
        self.at += 1
        if spec.verb == "T":
            return render(type_name(argument) if argument is not None else "<nil>", replace(spec, verb="s"))
        return ("&" if isinstance(argument, QuerySample) else "") + render(argument, spec)


def _typed(argument: Value) -> str:
    if argument is None:
        return "<nil>"
    return f"{type_name(argument)}={render(argument, Spec('v'))}"
