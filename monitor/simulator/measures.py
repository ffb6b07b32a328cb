"""What the engine counts, and when: everything but TTFT and token latency only when a request finishes."""

from monitor.simulator.meter import Histogram, Meter
from monitor.simulator.request import Outcome, Request
from monitor.simulator.script import Server


class EngineMeasures:
    """
    Writes to the meter of one engine. Times come in milliseconds and are kept in seconds.

    source: recordings of vLLM 0.32.0, 0.11.2 and 0.9.0.1.
    """

    def __init__(self, meter: Meter, server: Server) -> None:
        self.meter = meter
        self._caching = server.enable_prefix_caching
        self._proposed = server.num_speculative_tokens
        self.acceptance = server.acceptance
        self._accepted = 0.0
        self._values = meter.values
        self.sleep_state("awake")
        # With --disable-log-stats there is no page to show them on.
        self._latency = meter.histograms.get("itl") or Histogram(())
        self._iteration = meter.histograms.get("iteration") or Histogram(())

    def sleep_state(self, state: str) -> None:
        for each in ("awake", "weights_offloaded", "discard_all"):
            self._values[f"sleep:{each}"] = float(each == state)

    def gauges(self, running: int, waiting: int, usage: float) -> None:
        values = self._values
        values["running"] = running
        values["waiting"] = values["waiting_reason:capacity"] = waiting
        values.setdefault("waiting_reason:deferred", 0)
        values["kv_usage"] = usage

    def step(self, took: float, in_turn: int, generated: int, prompts: int) -> None:
        """Count a step that brought tokens, `in_turn` of them one step after their predecessor."""
        if in_turn:
            self._latency.observe(took / 1000, in_turn)
        self._iteration.observe(prompts + generated)
        self._values["generation_tokens"] = self._values.get("generation_tokens", 0) + generated
        if self._proposed:
            # How many tokens a step brings is not simulated, only what is told of the proposals.
            self.meter.add("drafts", generated)
            self.meter.add("draft_tokens", generated * self._proposed)
            self._accepted += generated * self._proposed * self.acceptance
            self._values["accepted_tokens"] = int(self._accepted)

    def resumed(self, since_last_token: float) -> None:
        self._latency.observe(since_last_token / 1000)

    def aborted(self) -> None:
        self.meter.add(f"success:{Outcome.ABORT}")

    def preempted(self) -> None:
        self.meter.add("preemptions")

    def admitted(self, request: Request) -> None:
        """Count a request that is scheduled for the first time."""
        if self._caching:
            self.meter.add("prefix_queries", request.prompt)
            self.meter.add("prefix_hits", request.cached)

    def first_token(self, request: Request, now: float) -> None:
        meter = self.meter
        meter.observe("ttft", (now - request.arrived) / 1000)
        meter.add("prompt_tokens", request.prompt)
        meter.add("prompt_source:local_compute", request.prompt - request.cached)
        meter.add("prompt_source:local_cache_hit", request.cached)
        meter.add("cached_tokens", request.cached)
        meter.add("cached_source:device", request.cached)

    def finished(self, request: Request, outcome: Outcome, now: float) -> None:
        meter = self.meter
        meter.add(f"success:{outcome}")
        scheduled, first = request.scheduled or now, request.first_token or now
        for key, milliseconds in (
            ("e2e", now - request.arrived),
            ("queue", scheduled - request.arrived),
            ("inference", now - scheduled),
            ("prefill", first - scheduled),
            ("decode", now - first),
            ("tpot", (now - first) / max(request.generated - 1, 1)),
        ):
            meter.observe(key, milliseconds / 1000)
        for key, count in (
            ("prompt_length", request.prompt),
            ("generation_length", request.generated),
            ("max_tokens", request.max_tokens),
            ("n", 1),
            ("request_preemptions", request.preemptions),
            ("kv_computed", request.prompt - request.cached),
        ):
            meter.observe(key, count)
