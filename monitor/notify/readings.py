"""The numbers that decide what to do: what they are to a receiver, and who is asked for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Protocol

from monitor.model.instant import Instant
from monitor.model.labels import Labels


@dataclass(frozen=True, slots=True)
class Readings:
    """
    An engine in six numbers; NaN is one that nobody knows.

    Requests that run and wait, the KV cache as a ratio, preemptions and generated tokens a second, the 95th percentile
    of the time to the first token in seconds. `advice` are short lines on what follows from the engine's numbers for
    the alert: how many requests fit, what each setting would give.
    """

    running: float = nan
    waiting: float = nan
    kv_cache: float = nan
    preemptions: float = nan
    tokens: float = nan
    ttft: float = nan
    advice: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Return those that are known: `9 running`, `42 waiting`, `KV 99 %` and so on."""
        told = (
            (self.running, "{:.4g} running", 1.0),
            (self.waiting, "{:.4g} waiting", 1.0),
            (self.kv_cache, "KV {:.0f} %", 100.0),
            (self.preemptions, "{:.3g} preemptions/min", 60.0),
            (self.tokens, "{:.3g} tokens/s" if abs(self.tokens) < _LARGE else "{:.0f} tokens/s", 1.0),
            (self.ttft, "p95 TTFT {:.2g} s" if abs(self.ttft) < _LONG else "p95 TTFT {:.0f} s", 1.0),
        )
        return tuple(form.format(value * factor) for value, form, factor in told if isfinite(value))


_LARGE, _LONG = 1_000, 10
NOTHING = Readings()


class Facts(Protocol):
    """Knows the engine that an alert is about. Never raises, and answers soon."""

    def at(self, labels: Labels, at: Instant) -> Readings:
        """Return the numbers, and the advice, for the alert with these labels (job, instance, model_name, engine)."""
        ...

    def worst(self, labels: Labels, since: Instant, until: Instant) -> Readings:
        """Return the largest numbers between two instants."""
        ...


class NoFacts:
    """Where nobody can be asked."""

    def at(self, labels: Labels, at: Instant) -> Readings:
        del labels, at
        return NOTHING

    def worst(self, labels: Labels, since: Instant, until: Instant) -> Readings:
        del labels, since, until
        return NOTHING


@dataclass(frozen=True, slots=True)
class Change:
    """What is another at a server since `at`, in a few words: `version 0.10.0 → 0.11.0`."""

    at: Instant
    what: str


class Changes(Protocol):
    """Knows what was changed at a server. Never raises, and answers soon."""

    def before(self, labels: Labels, at: Instant) -> Sequence[Change]:
        """Return what changed shortly before `at` at the server with these labels (job, instance), the newest first."""
        ...


class NoChanges:
    """Where nobody can be asked."""

    def before(self, labels: Labels, at: Instant) -> Sequence[Change]:
        del labels, at
        return ()
