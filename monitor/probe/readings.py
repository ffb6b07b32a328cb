"""What the probes of one target have found, as values."""

from dataclasses import dataclass
from enum import StrEnum

OK, UNAVAILABLE, SERVER_ERROR = 200, 503, 500


class Health(StrEnum):
    """What /health came to: the closed set of `result`."""

    OK = "ok"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Model:
    """A model that /v1/models lists; `max_model_len` in tokens."""

    name: str
    max_model_len: int


@dataclass(frozen=True, slots=True)
class Pool:
    """The KV cache of one engine; `engine` is "" where the page names none. None is not known."""

    engine: str
    tokens: int | None = None
    max_concurrency: float | None = None


@dataclass(frozen=True, slots=True)
class Canary:
    """How the last request of one token ended; `seconds` from its connection to its last byte, or to giving up."""

    success: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Readings:
    """
    What is known of a target; what is not known is None or empty, and becomes no series.

    `exposed` are the paths that were asked for without credentials, each with whether it was answered.
    """

    health: Health | None = None
    version: str = ""
    models: tuple[Model, ...] = ()
    server_load: float | None = None
    pools: tuple[Pool, ...] = ()
    exposed: tuple[tuple[str, bool], ...] = ()
    canary: Canary | None = None


NOTHING = Readings()


def health_of(status: int) -> Health | None:
    """
    Return what the HTTP status of /health means, None when it is not vLLM that answered.

    source: vLLM answers 200, 503 when its engine is dead, and 500 when it breaks. Another 4xx, or a redirect, is from a
    gate in front of it, or from a server that has no /health.
    """
    if status == OK:
        return Health.OK
    if status == UNAVAILABLE:
        return Health.UNAVAILABLE
    return Health.ERROR if status >= SERVER_ERROR else None
