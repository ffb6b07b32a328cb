"""What can go wrong between Slack and a client, as values that a test puts in a queue."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer, whatever it says; `applied`: the request is carried out all the same."""

    status: int
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    applied: bool = False


@dataclass(frozen=True, slots=True)
class SlackError:
    """`ok: false` with this code, and status 200, as the Web API has it; `applied`: the message stands all the same."""

    code: str
    applied: bool = False


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset, before or after the message was posted."""

    applied: bool


@dataclass(frozen=True, slots=True)
class Close:
    """The connection is closed without an answer."""

    applied: bool


@dataclass(frozen=True, slots=True)
class Hang:
    """No answer until the client has gone, or the stub stops."""

    applied: bool


@dataclass(frozen=True, slots=True)
class Cut:
    """Half of the true answer, although its length promised all of it; the message was posted."""


@dataclass(frozen=True, slots=True)
class Drip:
    """The true answer byte by byte, `pause` seconds apart; the message was posted."""

    pause: float


@dataclass(frozen=True, slots=True)
class Twice:
    """The request is carried out twice, and answered once."""


@dataclass(frozen=True, slots=True)
class Late:
    """The connection is closed without an answer; so many seconds of the workspace's clock later it is carried out."""

    seconds: float


Fault = Answer | SlackError | Reset | Close | Hang | Cut | Drip | Twice | Late

# After which nobody can know whether the message stands; it does.
DOUBTFUL: dict[str, Fault] = {
    "closed": Close(applied=True),
    "reset": Reset(applied=True),
    "silent": Hang(applied=True),
    "cut off": Cut(),
    "internal error": SlackError("internal_error", applied=True),
    "fatal error": SlackError("fatal_error", applied=True),
    "503 of a proxy": Answer(503, "upstream", applied=True),
    "late": Late(3.0),
}


def rate_limited(retry_after: str | None = "7") -> Answer:
    """Return the answer of a method that was called too often; `retry_after` None leaves the header out."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Answer(429, '{"ok":false,"error":"ratelimited"}', {"Content-Type": "application/json", **headers})


def redirect(location: str) -> Answer:
    return Answer(302, "", {"Location": location})
