"""What a server writes of its traffic while it serves, every ten seconds or so, in all versions since 0.4."""

import re
from dataclasses import dataclass, replace
from math import isnan, nan

# The names of the engine, of all engines together, or nothing (V0).
_LINE = re.compile(r"(?:Engine (\d{1,9}): |\d{1,9} Engines Aggregated: )?Avg prompt throughput: ")
_PREEMPTED = re.compile(r"is preempted by PreemptionMode\.\w+ mode.*total_num_cumulative_preemption=(\d{1,15})")
_ACCEPTED = re.compile(r"SpecDecoding metrics: Mean acceptance length: ([\d.]+)")
# What stands in it, in an order that changed with the versions; V0 calls what waits pending.
_NUMBERS = {
    "prompt_tokens": re.compile(r"Avg prompt throughput: (\d{1,15}(?:\.\d{1,15})?)"),
    "generated_tokens": re.compile(r"Avg generation throughput: (\d{1,15}(?:\.\d{1,15})?)"),
    "running": re.compile(r"Running: (\d{1,15}) reqs"),
    "waiting": re.compile(r"(?:Waiting|Pending): (\d{1,15}) reqs"),
    "preemptions": re.compile(r"Preemptions: (\d{1,15})"),
    "usage": re.compile(r"(?<!CPU) KV cache usage: (\d{1,15}(?:\.\d{1,15})?)%"),
    # A build for the CPU has its cache there.
    "cpu_usage": re.compile(r"CPU KV cache usage: (\d{1,15}(?:\.\d{1,15})?)%"),
    "prefix_hits": re.compile(r"(?<!External )Prefix cache hit rate: (\d{1,15}(?:\.\d{1,15})?)%"),
}


@dataclass(frozen=True, slots=True)
class Traffic:
    """
    One engine, over all lines that it wrote: the most of each, in requests, tokens a second and percent.

    `preemptions` are counted. `prefix_hits` and `accepted`, which is the tokens that a step of speculative decoding
    brings, are the last that was said. NaN is what no line says.
    """

    lines: int = 0
    running: float = nan
    waiting: float = nan
    usage: float = nan
    prompt_tokens: float = nan
    generated_tokens: float = nan
    preemptions: float = nan
    prefix_hits: float = nan
    accepted: float = nan


class TrafficReader:
    """The traffic of each engine by its number, "" where the lines name none."""

    def __init__(self) -> None:
        self.engines: dict[str, Traffic] = {}

    def feed(self, text: str) -> None:
        """Read one line, of whatever."""
        before = self.engines.get("", Traffic())
        if found := _PREEMPTED.search(text):
            self.engines[""] = replace(before, preemptions=float(found[1]))
            return
        if found := _ACCEPTED.search(text):
            self.engines[""] = replace(before, accepted=float(found[1]))
            return
        line = _LINE.search(text)
        if line is not None:
            engine = str(int(line[1])) if line[1] else ""
            self.engines[engine] = _after(self.engines.get(engine, Traffic()), _numbers(text[line.start() :]))


def _numbers(text: str) -> dict[str, float]:
    found = {name: pattern.search(text) for name, pattern in _NUMBERS.items()}
    numbers = {name: float(match[1]) for name, match in found.items() if match is not None}
    cpu = numbers.pop("cpu_usage", nan)
    # V0 has both: on a GPU the one of the CPU is room to swap to.
    return numbers | {"usage": numbers.get("usage") or cpu}


def _after(before: Traffic, said: dict[str, float]) -> Traffic:
    most = {name: _most(getattr(before, name), value) for name, value in said.items()}
    if "preemptions" in said:
        # Those since the line before.
        most["preemptions"] = said["preemptions"] + (0 if isnan(before.preemptions) else before.preemptions)
    if "prefix_hits" in said:
        most["prefix_hits"] = said["prefix_hits"]
    return replace(before, lines=before.lines + 1, **most)


def _most(one: float, other: float) -> float:
    """Return the larger of two numbers; NaN is none."""
    return max((value for value in (one, other) if not isnan(value)), default=nan)
