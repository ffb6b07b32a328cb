"""Clients: who asks what, and when."""

from collections.abc import Callable
from random import Random

from monitor.model.instant import SECOND, Duration
from monitor.simulator.agenda import Agenda
from monitor.simulator.process import OK, Reply
from monitor.simulator.request import Request
from monitor.simulator.script import Phase

# Sends a request; `reply` is called with its answer, or at once when nobody listens.
Send = Callable[[Request, Reply, float, Duration | None], None]

# What a client waits after an error, or after it gave up, before it asks again.
_BACKOFF = SECOND


class Traffic:
    """Plans the requests of the phases on the agenda."""

    def __init__(self, agenda: Agenda, random: Random, send: Send) -> None:
        self._agenda = agenda
        self._random = random
        self._send = send

    def plan(self, phase: Phase, start: float) -> None:
        """Plan a phase of a scenario that begins at `start`."""
        begin = start + phase.at
        for _ in range(phase.clients):
            self._agenda.at(begin, self._client(phase, begin + phase.duration))
        if phase.rate or phase.rate_to:
            self._stream(phase, begin)

    def _client(self, phase: Phase, until: float) -> Callable[[float], None]:
        """Return a client that asks, waits for the answer, thinks and asks again."""

        def ask(now: float) -> None:
            if now < until:
                self._send(self._request(phase, now), answered, now, phase.timeout)

        def answered(now: float, status: int) -> None:
            pause = phase.think.draw(self._random) if status == OK else _BACKOFF
            self._agenda.at(now + pause, ask)

        return ask

    def _stream(self, phase: Phase, begin: float) -> None:
        """Plan requests that come whether others are answered or not."""
        last = phase.rate if phase.rate_to is None else phase.rate_to
        peak = max(phase.rate, last)

        def arrive(now: float) -> None:
            if now >= begin + phase.duration:
                return
            # Thinning: as many come by as at the peak, as many come in as the rate of the moment says.
            rate = phase.rate + (last - phase.rate) * (now - begin) / phase.duration
            if self._random.random() * peak < rate:
                self._send(self._request(phase, now), lambda _now, _status: None, now, phase.timeout)
            self._agenda.at(self._later(now, peak), arrive)

        self._agenda.at(self._later(begin, peak), arrive)

    def _later(self, now: float, rate: float) -> float:
        return now + self._random.expovariate(rate) * SECOND

    def _request(self, phase: Phase, now: float) -> Request:
        random = self._random
        prompt, limit = phase.prompt.draw(random), phase.output.draw(random)
        answer = random.randint(1, limit) if phase.stops and random.random() < phase.stops else limit
        # At least the last token of a prompt is always computed.
        prefix = min(phase.shared_prefix, prompt - 1)
        return Request(now, prompt, max_tokens=limit, end=prompt + answer, prefix=prefix, lora=phase.lora)
