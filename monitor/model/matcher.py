"""Label matchers, as in PromQL selectors, Alertmanager routes and silences."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

import re2

from monitor.model.labels import Labels, quoted

# One byte: of the engines that call themselves RE2 only that in C++ knows it.
_ONE_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")


class MatchError(ValueError):
    """The regular expression of a matcher is not RE2."""


class MatchType(StrEnum):
    EQUAL = "="
    NOT_EQUAL = "!="
    REGEX = "=~"
    NOT_REGEX = "!~"

    @classmethod
    def of(cls, *, is_regex: bool, is_equal: bool) -> "MatchType":
        """Return the type that Alertmanager's API says in two words."""
        if is_regex:
            return cls.REGEX if is_equal else cls.NOT_REGEX
        return cls.EQUAL if is_equal else cls.NOT_EQUAL

    @property
    def is_regex(self) -> bool:
        return self in (MatchType.REGEX, MatchType.NOT_REGEX)

    @property
    def is_negative(self) -> bool:
        return self in (MatchType.NOT_EQUAL, MatchType.NOT_REGEX)


@lru_cache(maxsize=1024)
def compile_anchored(pattern: str) -> Any:
    """
    Compile `pattern` as Prometheus 3 does: RE2, anchored at both ends, the dot matches a newline.

    reference: Prometheus 3, model/labels/regexp.go. Raises MatchError.
    """
    if _ONE_BYTE.search(pattern):
        raise MatchError(f"bad regular expression {pattern!r}: invalid escape sequence: \\C")
    options = re2.Options()
    # Bad patterns are the user's; RE2 would also write them to the daemon's standard error.
    options.log_errors = False
    try:
        # By itself first: `a)|(b` is none, though it becomes one inside parentheses.
        re2.compile(pattern, options)
        return re2.compile(f"^(?s:{pattern})$", options)
    except re2.error as err:
        message = err.args[0] if err.args else ""
        raise MatchError(
            f"bad regular expression {pattern!r}: {message.decode() if isinstance(message, bytes) else message}"
        ) from err


@dataclass(frozen=True, slots=True)
class Matcher:
    """
    One condition on one label; a missing label counts as "".

    Raises MatchError when a regular expression does not compile.
    """

    name: str
    type: MatchType
    value: str
    _regex: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.type.is_regex:
            object.__setattr__(self, "_regex", compile_anchored(self.value))

    def matches(self, value: str) -> bool:
        """Say whether the label value satisfies the condition."""
        found = self._regex.fullmatch(value) is not None if self._regex is not None else value == self.value
        return found is not self.type.is_negative

    def accepts(self, labels: Labels) -> bool:
        """Say whether the label of this name in `labels` satisfies the condition."""
        return self.matches(labels.value(self.name))

    def __str__(self) -> str:
        return f"{self.name}{self.type}{quoted(self.value)}"


def equal(name: str, value: str) -> Matcher:
    return Matcher(name, MatchType.EQUAL, value)
