"""Versions of vLLM, as far as metrics depend on them: three numbers."""

import re
from typing import NamedTuple

_NUMBERS = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")


class Version(NamedTuple):
    """What follows the three numbers (`.post1`, `rc2`, `+cu128`) has never changed a metric."""

    major: int
    minor: int
    patch: int = 0

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


class VersionError(ValueError):
    """The text is not a version."""


def parse_version(text: str) -> Version:
    """Return the version that `text` begins with. Raises VersionError."""
    found = _NUMBERS.match(text)
    if found is None:
        raise VersionError(f"{text!r} is not a version (write 0.11.2)")
    return Version(*(int(number or 0) for number in found.groups()))


class Span(NamedTuple):
    """Versions from `first` on, and before `gone`; None: it is still there."""

    first: Version
    gone: Version | None = None

    def __contains__(self, version: object) -> bool:
        return isinstance(version, Version) and self.first <= version and (self.gone is None or version < self.gone)


def parse_span(text: str) -> Span | None:
    """Return the span of `0.7.1..0.12.0` or `0.9.2..`; None of `-`. Raises VersionError."""
    if text == "-":
        return None
    first, _, gone = text.partition("..")
    return Span(parse_version(first), parse_version(gone) if gone else None)
