"""A round of questions to one target: what is due, one after the other, over one connection."""

import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Protocol

from monitor.probe.answers import load_of, models_of, version_of
from monitor.probe.client import Http, Reply
from monitor.probe.errors import ProbeError
from monitor.probe.options import ROUND, Probe
from monitor.probe.readings import NOTHING, OK, Health, Readings, health_of
from monitor.scrape.errors import Reason

log = logging.getLogger(__name__)

# The key is asked for: whoever has none does not learn the models, and nothing is wrong with the server.
_NOT_FOR_US = frozenset((401, 403))
_NO_SUCH_PATH = frozenset((404, 405))
PATHS = {
    Probe.HEALTH: "/health",
    Probe.LOAD: "/load",
    Probe.VERSION: "/version",
    Probe.MODELS: "/v1/models",
}
_FIELDS = {
    Probe.HEALTH: "health",
    Probe.LOAD: "server_load",
    Probe.VERSION: "version",
    Probe.MODELS: "models",
    Probe.EXPOSURE: "exposed",
    Probe.CANARY: "canary",
}
# What /health comes to when nothing is answered; a reason that is missing here is one of ours.
_HEALTH = {
    Reason.REFUSED: Health.REFUSED,
    Reason.TIMEOUT: Health.TIMEOUT,
    Reason.RESOLVE: Health.ERROR,
    Reason.CONNECTION: Health.ERROR,
    Reason.TLS: Health.ERROR,
    Reason.BODY_TOO_LARGE: Health.ERROR,
}


@dataclass(frozen=True, slots=True)
class Round:
    """
    What a round came to: what is known now, and of each probe that was done why it failed, None if it did not.

    `settled` are those that need not be asked again before their interval is over; the others are, a little later.
    """

    readings: Readings
    done: Mapping[Probe, Reason | None] = field(default_factory=dict)
    settled: Collection[Probe] = ()


class Ask(Protocol):
    """Asks a target. Another one answers from a recording."""

    def __call__(self, due: Collection[Probe], before: Readings) -> Round:
        """Return the outcome of the probes that are `due`, laid over what was known `before`. Never raises."""
        ...


@dataclass(frozen=True, slots=True)
class Questions:
    """Asks over HTTP; `connect` makes the connection of one round."""

    connect: Callable[[], Http]

    def __call__(self, due: Collection[Probe], before: Readings) -> Round:
        conversation = _Conversation(before)
        with closing(self.connect()) as http:
            for probe in ROUND:
                if probe in due and not conversation.is_over:
                    conversation.ask(http, probe)
        return Round(conversation.readings, conversation.done, conversation.settled)


class _Conversation:
    """One round under way."""

    def __init__(self, before: Readings) -> None:
        self.readings = before
        self.done: dict[Probe, Reason | None] = {}
        self.settled: set[Probe] = set()
        # Who does not answer one question will not answer the next within what is left of the time.
        self.is_over = False

    def ask(self, http: Http, probe: Probe) -> None:
        try:
            reply = http.get(PATHS[probe])
            self.readings = _with(self.readings, probe, reply)
        except ProbeError as err:
            self._failed(probe, err)
            log.debug("probe failed: %s", err, extra={"probe": probe.value})
        else:
            self.done[probe] = None
            if reply.status not in _NO_SUCH_PATH:
                self.settled.add(probe)

    def _failed(self, probe: Probe, err: ProbeError) -> None:
        self.done[probe] = err.reason
        self.is_over = not err.answered
        if probe in (Probe.HEALTH, Probe.LOAD) and not err.answered:
            # Not to be answered is what may change with every slot.
            self.settled.add(probe)
        if err.answered:
            self.readings = without(self.readings, probe)
        else:
            # How many there were is true for a moment only; the rest was true, and may be so still.
            self.readings = without(self.readings, Probe.LOAD)
        if probe is Probe.HEALTH:
            self.readings = replace(self.readings, health=_HEALTH.get(err.reason))
        if err.reason is Reason.REFUSED:
            # Whatever answers there next is another process.
            self.readings = replace(NOTHING, health=self.readings.health)


def _with(readings: Readings, probe: Probe, reply: Reply) -> Readings:
    """Return `readings` with what `reply` says. Raises ProbeError when it is not what vLLM says."""
    if probe is Probe.HEALTH:
        return replace(readings, health=health_of(reply.status))
    if reply.status in _NO_SUCH_PATH or (probe is Probe.MODELS and reply.status in _NOT_FOR_US):
        return without(readings, probe)
    if reply.status != OK:
        raise ProbeError(f"HTTP status {reply.status}", reason=Reason.STATUS, answered=True)
    if probe is Probe.LOAD:
        return replace(readings, server_load=load_of(reply.body))
    if probe is Probe.VERSION:
        return replace(readings, version=version_of(reply.body))
    return replace(readings, models=models_of(reply.body))


def without(readings: Readings, probe: Probe) -> Readings:
    """Return `readings` without what `probe` has found."""
    return replace(readings, **{_FIELDS[probe]: getattr(NOTHING, _FIELDS[probe])})
