"""What is asked now and then, and may take its time: is the server open to anybody, does it still make a token."""

import json
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass, replace

from monitor.clock import monotonic_seconds
from monitor.probe.answers import has_token
from monitor.probe.client import Http
from monitor.probe.errors import ProbeError
from monitor.probe.options import CanaryOptions, Probe
from monitor.probe.questions import Round
from monitor.probe.readings import OK, SERVER_ERROR, Canary, Readings
from monitor.scrape.errors import Reason

_COMPLETIONS = "/v1/completions"
_SUCCESSES = range(OK, 300)
_TOO_MANY_REQUESTS = 429
# What the page at /docs is made with; no form to log in is.
_DOCUMENTATION = b"swagger-ui"


@dataclass(frozen=True, slots=True)
class Exposure:
    """
    Asks for paths as somebody without credentials would, each over a connection of its own.

    A path is exposed when it is answered; a page of HTML is a form to log in, not vLLM, unless it is the one of /docs.
    What only this machine can reach is exposed to nobody, so nothing is said of a server on the loopback.
    """

    connect: Callable[[], Http]
    paths: tuple[str, ...]

    def __call__(self, due: Collection[Probe], before: Readings) -> Round:
        if Probe.EXPOSURE not in due:
            return Round(before)
        known = dict(before.exposed)
        reason: Reason | None = None
        for path in self.paths:
            try:
                answered = self._is_answered(path)
            except ProbeError as err:
                # Nobody was turned away, and nobody was let in: what was found before stands.
                reason = err.reason
                if reason is Reason.REFUSED:
                    break
            else:
                if answered is None:
                    return Round(replace(before, exposed=()), {Probe.EXPOSURE: None}, {Probe.EXPOSURE})
                known[path] = answered
        exposed = tuple((path, known[path]) for path in self.paths if path in known)
        settled = {Probe.EXPOSURE} if reason is None else ()
        return Round(replace(before, exposed=exposed), {Probe.EXPOSURE: reason}, settled)

    def _is_answered(self, path: str) -> bool | None:
        """Say whether a path is answered, None when the server is on the loopback. Raises ProbeError."""
        with closing(self.connect()) as http:
            reply = http.get(path)
            if http.is_loopback:
                return None
        if reply.status >= SERVER_ERROR:
            raise ProbeError(f"HTTP status {reply.status}", reason=Reason.STATUS, answered=True)
        is_html = reply.content_type.strip().lower().startswith("text/html")
        return reply.status in _SUCCESSES and (not is_html or _DOCUMENTATION in reply.body)


@dataclass(frozen=True, slots=True)
class OneToken:
    """
    Has the server make one token, as a client would.

    An answer that says that the request was wrong (a key is asked for, the model is not one that writes) says nothing
    of the server: then the canary says nothing either.
    """

    connect: Callable[[], Http]
    options: CanaryOptions
    seconds: Callable[[], float] = monotonic_seconds

    def __call__(self, due: Collection[Probe], before: Readings) -> Round:
        model = self.options.model or next((model.name for model in before.models), "")
        if Probe.CANARY not in due or not model:
            return Round(before)
        began = self.seconds()
        reason: Reason | None = None
        try:
            success = self._answered(model)
        except ProbeError as err:
            success, reason = False, err.reason
        canary = Canary(success, self.seconds() - began) if success is not None else None
        if not success and reason is None:
            reason = Reason.STATUS
        return Round(replace(before, canary=canary), {Probe.CANARY: reason}, {Probe.CANARY})

    def _answered(self, model: str) -> bool | None:
        body = json.dumps({"model": model, "prompt": "Hello", "max_tokens": 1, "temperature": 0})
        with closing(self.connect()) as http:
            reply = http.post(_COMPLETIONS, body.encode())
        if reply.status in _SUCCESSES:
            return has_token(reply.body)
        return False if reply.status >= SERVER_ERROR or reply.status == _TOO_MANY_REQUESTS else None
