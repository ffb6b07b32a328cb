"""What the HELP, TYPE and UNIT lines of a page say, as far as it has been read."""

from collections.abc import Mapping
from dataclasses import replace

from monitor.model.sample import Metadata, MetricType
from monitor.scrape.errors import readable
from monitor.scrape.line import Description, Line

_SUFFIXES = {
    MetricType.HISTOGRAM: ("_bucket", "_count", "_sum"),
    MetricType.SUMMARY: ("_count", "_sum"),
}
_TOTAL = "_total"

Family = tuple[str, MetricType]
NO_FAMILY: Family = ("", MetricType.UNKNOWN)


class Families:
    """
    The families described so far; `current` is that of the last TYPE line.

    A later description of the same family replaces an earlier one; the samples of a family may stand anywhere.
    """

    __slots__ = ("_types", "current", "metadata")

    def __init__(self, types: Mapping[str, MetricType]) -> None:
        self._types = types
        self.current = NO_FAMILY
        self.metadata: dict[str, Metadata] = {}

    def add(self, description: Description, line: Line) -> None:
        """Take in one line. Raises PageError for a type that the format does not know."""
        known = self.metadata.get(description.name, Metadata())
        match description.keyword:
            case "HELP":
                known = replace(known, help=description.text)
            case "UNIT":
                known = replace(known, unit=description.text)
            case _:
                kind = self._types.get(description.text)
                if kind is None:
                    raise line.error(f"invalid metric type {readable(description.text)}")
                self.current = (description.name, kind)
                known = replace(known, type=kind)
        self.metadata[description.name] = known


def is_counter(metric: str, family: Family) -> bool:
    """Say whether the samples of `metric`, standing below the TYPE line of `family`, only rise but for resets."""
    name, kind = family
    if kind is MetricType.COUNTER:
        return metric in (name, name.removesuffix(_TOTAL) + _TOTAL)
    return metric.startswith(name) and metric[len(name) :] in _SUFFIXES.get(kind, ())
