"""How long the prompts of a server are, against a limit and against its KV cache."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any

_QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


@dataclass(frozen=True, slots=True)
class Between:
    """A number that a histogram knows by its buckets alone: above `low`, up to `high`."""

    low: float
    high: float

    @property
    def words(self) -> str:
        if not isfinite(self.high):
            return f"above {self.low:,.0f}"
        return f"{self.low:,.0f} to {self.high:,.0f}"


@dataclass(frozen=True, slots=True)
class Inputs:
    """
    The prompts of a server since its start.

    `counts` are cumulative, by the upper edge of the bucket, in tokens. `limit` is the longest input that is accepted.
    `tokens` is what one engine's KV cache holds, the smallest; None is not known.
    """

    limit: int
    counts: Mapping[float, float] = field(default_factory=dict)
    tokens: float | None = None
    max_model_len: float | None = None

    @property
    def prompts(self) -> float:
        return self.counts.get(inf, 0.0)

    def quantile(self, ratio: float) -> Between | None:
        """Return the bucket of a quantile; None where there were no prompts."""
        low = 0.0
        for edge, count in sorted(self.counts.items()) if self.prompts > 0 else ():
            if count >= ratio * self.prompts:
                longest = self.max_model_len or inf
                # No prompt is longer than a request may be.
                return Between(low, min(edge, longest) if longest > low else edge)
            low = edge
        return None

    @property
    def above(self) -> Between | None:
        """Return the share of prompts above the limit; it is known exactly where the limit is an edge."""
        if not self.prompts > 0:
            return None
        most = max((count for edge, count in self.counts.items() if edge <= self.limit), default=0.0)
        least = min((count for edge, count in self.counts.items() if edge >= self.limit), default=self.prompts)
        return Between(1 - least / self.prompts, 1 - most / self.prompts)

    def share(self, length: float) -> float | None:
        """Return the part of the KV cache that one request of this length takes."""
        return length / self.tokens if self.tokens else None


def rows(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Yield what there is to say, name and value."""
    if inputs.prompts > 0:
        found = ((name, inputs.quantile(ratio)) for name, ratio in _QUANTILES.items())
        told = ", ".join(f"{name} {between.words}" for name, between in found if between is not None)
        yield "prompts", f"{inputs.prompts:,.0f} so far, in tokens: {told}"
    above = inputs.above
    if above is not None:
        share = f"{above.low:.1%}" if above.low == above.high else f"{above.low:.1%} to {above.high:.1%}"
        yield "above the limit", f"{share} of them have more than {inputs.limit:,} tokens"
    for name, length in _lengths(inputs):
        part = inputs.share(length)
        if part is not None:
            yield f"one of {length:,.0f}", f"{part:.0%} of the KV cache ({name})"


def as_plain(inputs: Inputs) -> dict[str, Any]:
    """Return plain values; None is not known, and so is an end that is open."""
    found = {name: inputs.quantile(ratio) for name, ratio in _QUANTILES.items()}
    return {
        "limit": inputs.limit,
        "prompts": inputs.prompts,
        "quantiles": {name: _plain(between) for name, between in found.items()},
        "above_limit_ratio": _plain(inputs.above),
        "shares": {name: inputs.share(length) for name, length in _lengths(inputs)},
    }


def _lengths(inputs: Inputs) -> Iterator[tuple[str, float]]:
    """Yield the lengths whose share of the cache matters."""
    longest = inputs.max_model_len or inf
    if inputs.limit < longest:
        yield "the limit", inputs.limit
    high = inputs.quantile(_QUANTILES["p99"])
    if high is not None and isfinite(high.high):
        yield "p99, at most", high.high
    if isfinite(longest):
        yield "max_model_len", longest


def _plain(between: Between | None) -> list[float | None] | None:
    return None if between is None else [between.low, between.high if isfinite(between.high) else None]
