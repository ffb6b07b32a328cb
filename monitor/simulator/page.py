"""
Writes the page: the text format, as prometheus_client writes it.

The text of every series is prepared once for each process; a page then costs little more than its numbers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate

from monitor.model.labels import quoted
from monitor.model.sample import MetricType
from monitor.simulator.families import Family
from monitor.simulator.meter import Histogram, Meter

Writer = Callable[[list[str]], None]
Pairs = tuple[tuple[str, str], ...]

# Below it Go, and so prometheus_client, writes a number without an exponent.
_WITHOUT_EXPONENT = 1_000_000


def number(value: float) -> str:
    """
    Return a sample value as prometheus_client writes it: `1.0`, `1.7960069637581747e+09`.

    reference: prometheus_client, floatToGoString.
    """
    text = repr(float(value))
    whole, dot, fraction = text.partition(".")
    if value < _WITHOUT_EXPONENT or not dot or "e" in fraction:
        return "+Inf" if text == "inf" else text
    mantissa = f"{whole[0]}.{whole[1:]}{fraction}".rstrip("0.")
    return f"{mantissa}e+{len(whole) - 1:02d}"


def _series(name: str, labels: Pairs) -> str:
    """Return the text of a series up to its value."""
    inside = ",".join(f"{label}={quoted(value)}" for label, value in sorted(labels))
    return f"{name}{{{inside}}} " if inside else f"{name} "


class Page:
    """
    The page of one process.

    `engines` are the meters of its engines, `front` that of its API server; `settings` fills the labels that the table
    writes as `$name`; `created` is when the process made its metrics, in Unix seconds.
    """

    def __init__(
        self,
        families: Sequence[Family],
        engines: Sequence[Meter],
        front: Meter,
        settings: Mapping[str, str],
        *,
        created: float,
        with_created: bool,
    ) -> None:
        self._engines = engines
        self._front = front
        self._settings = settings
        self._created = created
        self._with_created = with_created
        self._writers = [self._writer(family) for family in families]

    def render(self) -> str:
        out: list[str] = []
        for write in self._writers:
            write(out)
        return "".join(out)

    def _writer(self, family: Family) -> Writer:
        head = f"# HELP {family.name} {family.help}\n# TYPE {family.name} {family.type}\n"
        children = [
            (labels, source, meter, self._child(family, labels, source, meter))
            for labels, source, meter in self._children(family)
        ]
        if not family.flags & {"lazy", "hidden"}:
            return self._plain(head, [child for *_, child in children], self._created_text(family, children))
        return self._late(family, head, children)

    def _plain(self, head: str, children: Sequence[Writer], created: str) -> Writer:
        def write(out: list[str]) -> None:
            out.append(head)
            for child in children:
                child(out)
            if created:
                out.append(created)

        return write

    def _late(self, family: Family, head: str, children: Sequence[tuple[Pairs, str, Meter, Writer]]) -> Writer:
        def write(out: list[str]) -> None:
            used = [child for child in children if child[2].used(child[1])]
            if used or "hidden" not in family.flags:
                out.append(head)
            for *_, child in used:
                child(out)
            if used:
                out.append(self._created_text(family, used))

        return write

    def _created_text(self, family: Family, children: Sequence[tuple[Pairs, str, Meter, Writer]]) -> str:
        """Return the companion family of a counter, histogram or summary, or "" where it has none."""
        if not self._with_created or family.type is MetricType.GAUGE or "bare" in family.flags:
            return ""
        name = family.name.removesuffix("_total") if family.type is MetricType.COUNTER else family.name
        lines = [f"# HELP {name}_created When it was made, Unix time.\n# TYPE {name}_created gauge\n"]
        for labels, source, meter, _ in children:
            lines.append(_series(f"{name}_created", labels) + number(meter.born.get(source, self._created)) + "\n")
        return "".join(lines)

    def _children(self, family: Family) -> Iterator[tuple[Pairs, str, Meter]]:
        """Yield the labels, the source and the meter of each child."""
        several = [(name, values) for name, values in family.labels if len(values) > 1]
        fixed = [(name, values[0]) for name, values in family.labels if len(values) == 1]
        name, values = several[0] if several else ("", ("",))
        by_engine = any(name == "engine" for name, _ in fixed)
        for value in values:
            source = f"{family.source}:{value}" if name else family.source
            for rank, meter in enumerate(self._engines if by_engine else self._engines[:1]):
                settings = {**self._settings, "engine": str(rank)}
                labels = [(key, settings[text[1:]] if text.startswith("$") else text) for key, text in fixed]
                yield (*labels, *([(name, value)] if name else [])), source, meter if family.of_engine else self._front

    def _child(self, family: Family, labels: Pairs, source: str, meter: Meter) -> Writer:
        if family.type is MetricType.HISTOGRAM:
            return _histogram(family.name, labels, meter.histograms[source])
        if family.type is MetricType.SUMMARY:
            return _summary(family.name, labels, meter.histograms[source])
        return _value(_series(family.name, labels), source, meter.values)


def adapters_text(sets: Mapping[str, float], most: int) -> str:
    """Return the family of LoRA adapters in use: one series for each set of names, its value when that was so."""
    name = "vllm:lora_requests_info"
    lines = [f"# HELP {name} LoRA adapters in use.\n# TYPE {name} gauge\n"]
    for running, since in sets.items():
        labels = (("max_lora", str(most)), ("running_lora_adapters", running), ("waiting_lora_adapters", ""))
        lines.append(_series(name, labels) + number(since) + "\n")
    return "".join(lines)


def _value(series: str, source: str, values: Mapping[str, float]) -> Writer:
    if source.startswith("="):
        line = f"{series}{number(float(source[1:]))}\n"
        return lambda out: out.append(line)
    return lambda out: out.append(f"{series}{number(values.get(source, 0))}\n")


def _summary(name: str, labels: Pairs, histogram: Histogram) -> Writer:
    count, total = _series(f"{name}_count", labels), _series(f"{name}_sum", labels)
    return lambda out: out.append(f"{count}{number(histogram.count)}\n{total}{number(histogram.sum)}\n")


def _histogram(name: str, labels: Pairs, histogram: Histogram) -> Writer:
    edges = [*(number(bound) for bound in histogram.bounds), "+Inf"]
    buckets = [_series(f"{name}_bucket", (*labels, ("le", edge))) for edge in edges]
    rest = _summary(name, labels, histogram)

    def write(out: list[str]) -> None:
        for series, count in zip(buckets, accumulate(histogram.counts), strict=True):
            out.append(f"{series}{count}.0\n" if count < _WITHOUT_EXPONENT else f"{series}{number(count)}\n")
        rest(out)

    return write
