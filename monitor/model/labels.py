"""Label sets: what identifies a series, a target and an alert."""

from collections.abc import Iterable, Mapping
from typing import Self

METRIC_NAME = "__name__"
ALERT_NAME = "alertname"
# vLLM and Prometheus both name an address `instance` and the scrape configuration it came from `job`.
JOB = "job"
INSTANCE = "instance"
BUCKET = "le"


class Labels(tuple[tuple[str, str], ...]):
    """
    A sorted, immutable, hashable set of `(name, value)` pairs.

    An empty value is the same as a missing label in this data model, so no pair ever has one.
    Being a tuple, it is compared and hashed without running any Python code.
    Build it with `Labels.of`; the plain constructor trusts its argument to be sorted, unique and without empty values.
    """

    __slots__ = ()

    @classmethod
    def of(cls, pairs: Mapping[str, str] | Iterable[tuple[str, str]] = (), /, **more: str) -> Self:
        """Return the label set of `pairs`; a later pair replaces an earlier one of the same name."""
        merged = {**dict(pairs), **more}
        return cls(sorted((name, value) for name, value in merged.items() if value))

    def value(self, name: str) -> str:
        """Return the value of `name`, or "" when it is missing."""
        for key, value in self:
            if key == name:
                return value
        return ""

    @property
    def name(self) -> str:
        """The metric name, or ""."""
        return self.value(METRIC_NAME)

    def as_dict(self) -> dict[str, str]:
        return dict(self)

    def with_(self, pairs: Mapping[str, str] | Iterable[tuple[str, str]] = (), /, **more: str) -> Self:
        """Return a copy with `pairs` laid over it; an empty value removes the label."""
        return self.of({**dict(self), **dict(pairs), **more})

    def without(self, names: Iterable[str]) -> Self:
        """Return a copy that lacks `names`."""
        dropped = frozenset(names)
        return type(self)(pair for pair in self if pair[0] not in dropped)

    def only(self, names: Iterable[str]) -> Self:
        """Return a copy that has nothing but `names`."""
        kept = frozenset(names)
        return type(self)(pair for pair in self if pair[0] in kept)

    def __str__(self) -> str:
        """Return the series as Prometheus writes it: `name{a="b", c="d"}`."""
        pairs = ", ".join(f"{name}={quoted(value)}" for name, value in self if name != METRIC_NAME)
        if not self.name:
            return "{" + pairs + "}"
        return self.name + ("{" + pairs + "}" if pairs else "")


def quoted(value: str) -> str:
    """Return `value` in double quotes, escaped as the text format and PromQL escape it."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


EMPTY = Labels()
