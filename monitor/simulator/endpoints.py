"""
What vLLM answers beside its page.

source: vLLM 0.32.0, 0.11.2 and 0.9.0.1 as recorded, with --api-key and without.
"""

import json
from dataclasses import dataclass
from typing import Any

from monitor.model.instant import Duration
from monitor.simulator.families import parse_version
from monitor.simulator.process import BAD_REQUEST, BUSY, FAILED, OK, Process

JSON = "application/json"
# A prompt in words: what the tokenizer makes of it is not the point here.
_TOKENS_A_WORD = 2
_NOT_FOUND = 404
_LOAD_SINCE = (0, 8)
_ERRORS = {
    BAD_REQUEST: "This model's maximum context length is exceeded.",
    FAILED: "EngineCore encountered an issue. See stack trace (above) for the root cause.",
    BUSY: "The engine is currently busy and cannot accept new requests.",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer. `delay` and `drip` are real time: before the first byte, and between pieces of the body."""

    status: int = OK
    body: str = ""
    content_type: str = JSON
    delay: Duration = 0
    drip: Duration = 0


UNAUTHORIZED = Answer(401, json.dumps({"error": "Unauthorized"}))
NOT_FOUND = Answer(_NOT_FOUND, json.dumps({"detail": "Not Found"}))


@dataclass(frozen=True, slots=True)
class Question:
    """A completion that somebody asks for."""

    model: str
    prompt: int
    max_tokens: int

    @classmethod
    def of(cls, body: bytes) -> "Question | None":
        """Return what a body asks for, None when it is not a completion."""
        try:
            asked = json.loads(body)
            words = len(str(asked["prompt"]).split())
            return cls(str(asked["model"]), max(1, words * _TOKENS_A_WORD), max(1, int(asked.get("max_tokens", 16))))
        except (ValueError, KeyError, TypeError, AttributeError):
            return None


def other(path: str, process: Process, now: float) -> Answer:
    """Return what a GET of `path`, which is not /metrics, is answered."""
    server = process.server
    found: dict[str, Any] = {"/version": {"version": server.version}, "/v1/models": _models(process, now)}
    if parse_version(server.version) >= _LOAD_SINCE:
        found["/load"] = {"server_load": process.in_flight if server.enable_server_load_tracking else 0}
    if server.dev_mode:
        found["/is_sleeping"] = {
            "is_sleeping": any(not engine.measures.meter.values["sleep:awake"] for engine in process.engines)
        }
    if path == "/health":
        # source: V0's /health stays 200 while its engine is dead.
        return Answer(BUSY if process.dead and server.v1 else OK)
    if path == "/ping":
        return Answer()
    return Answer(body=json.dumps(found[path])) if path in found else NOT_FOUND


def guarded(path: str, key: str, api_key: str) -> bool:
    """Say whether a request with `key` is turned away: only what lies below /v1 asks for it."""
    return bool(api_key) and path.startswith("/v1") and key != api_key


def completion(question: Question, status: int) -> Answer:
    """Return the answer to a completion that ended with `status`."""
    if status != OK:
        error = {"message": _ERRORS.get(status, "failed"), "type": "ServerError", "param": None, "code": status}
        return Answer(status, json.dumps({"error": error}))
    usage = {"prompt_tokens": question.prompt, "completion_tokens": question.max_tokens}
    choice = {"index": 0, "text": " go", "logprobs": None, "finish_reason": "length"}
    return Answer(body=json.dumps({"object": "text_completion", "choices": [choice], "usage": usage}))


def no_such_model(name: str) -> Answer:
    error = {"message": f"The model `{name}` does not exist.", "type": "NotFoundError", "code": _NOT_FOUND}
    return Answer(_NOT_FOUND, json.dumps({"error": error}))


def _models(process: Process, now: float) -> dict[str, Any]:
    server = process.server
    model = {
        "id": server.model_name,
        "object": "model",
        "created": int(now / 1000),
        "owned_by": "vllm",
        "root": f"/models/{server.model_name}",
        "parent": None,
        "max_model_len": server.max_model_len,
        "permission": [{"object": "model_permission", "allow_sampling": True, "organization": "*"}],
    }
    return {"object": "list", "data": [model]}
