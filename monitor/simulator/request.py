"""One request on its way through the server."""

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """How the engine ends a request, as `finished_reason` names it. No engine seen so far ever counted an abort."""

    STOP = "stop"
    LENGTH = "length"
    ABORT = "abort"
    ERROR = "error"


@dataclass(slots=True, eq=False)
class Request:
    """
    Lengths are in tokens, instants in milliseconds.

    `tokens` is the prompt and what was generated so far; the request is complete when there are `end`. `computed` of
    them lie in KV blocks; after a preemption they are computed again. `shared` of its `blocks` belong to the prefix
    cache, `cached` tokens came from there.
    """

    arrived: float
    prompt: int
    max_tokens: int
    end: int
    prefix: int = 0
    lora: str = ""

    tokens: int = 0
    computed: int = 0
    blocks: int = 0
    shared: int = 0
    cached: int = 0
    preemptions: int = 0
    recomputing: bool = False
    scheduled: float | None = None
    first_token: float | None = None
    last_token: float = 0.0
    over: bool = False

    def __post_init__(self) -> None:
        self.tokens = self.prompt

    @property
    def generated(self) -> int:
        return self.tokens - self.prompt
