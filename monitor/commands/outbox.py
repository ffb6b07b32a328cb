"""`vllm-monitor outbox`: what receivers have yet to be told, and what they would not take."""

from collections.abc import Sequence
from typing import Any

import requests
from rich.console import Console
from rich.text import Text

from monitor.commands.alertmanager import TIMEOUT_SECONDS, AskError, instant_of, rough, table
from monitor.commands.ask import request
from monitor.commands.query import source
from monitor.commands.table import visible
from monitor.model.instant import Instant

_WAITING = ("id", "receiver", "what", "since", "attempts", "next try", "last error")
_DEAD = ("id", "receiver", "what", "given up", "attempts", "error")
_UNBROKEN = 2
# As much of an id as is shown; so much tells a letter from all others.
SHOWN = 10


class Letters:
    """The letters of the daemon at `url`. Raises UsageError for a wrong URL, and AskError."""

    def __init__(self, url: str | None) -> None:
        self._url = str(source(url, None)).rstrip("/") + "/api/v1/outbox"

    def all(self) -> dict[str, list[dict[str, Any]]]:
        """Return those that wait, and those that were given up (`waiting`, `dead`)."""
        found = self._ask("GET", "")
        return {kind: list(found[kind]) for kind in ("waiting", "dead")}

    def retry(self, ids: Sequence[str]) -> int:
        """Have letters tried again, by the whole of their ids; returns how many."""
        return len(self._ask("POST", "/retry", {"ids": list(ids)})["tried"])

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        try:
            answer = request(method, self._url + path, json=body, timeout=TIMEOUT_SECONDS)
        except requests.RequestException as err:
            raise AskError(
                f"the daemon does not answer: {type(err).__name__} (is it running, and is --url right?)"
            ) from err
        try:
            content = answer.json()
            return content["data"] if answer.ok else _raise(str(content["error"]))
        except (requests.JSONDecodeError, KeyError, TypeError) as err:
            raise AskError(f"this is not a daemon of this version: it answers {answer.status_code}") from err


def whole_ids(beginnings: Sequence[str], known: Sequence[dict[str, Any]]) -> list[str]:
    """Return the ids that begin so; raises AskError for a beginning of none, or of several."""
    ids: list[str] = []
    for beginning in beginnings:
        found = [str(letter["id"]) for letter in known if str(letter["id"]).startswith(beginning)]
        if len(found) != 1:
            raise AskError(f"{visible(beginning)}: {len(found) or 'no'} letters begin so")
        ids += found
    return ids


def print_letters(letters: dict[str, list[dict[str, Any]]], console: Console, now: Instant) -> None:
    """Print both kinds, each as a table."""
    if letters["waiting"]:
        console.print(table(_WAITING, [_waiting(letter, now) for letter in letters["waiting"]], _UNBROKEN))
    else:
        console.print("nothing waits")
    if letters["dead"]:
        console.print(Text("given up (kept for seven days; `outbox retry` tries again):", "bold"))
        console.print(table(_DEAD, [_dead(letter, now) for letter in letters["dead"]], _UNBROKEN))


def _waiting(letter: dict[str, Any], now: Instant) -> Sequence[str]:
    left = instant_of(letter["nextTry"]) - now
    told = " (the fallback knows)" if letter["fallbackTold"] else ""
    return (
        *_beginning(letter),
        rough(max(now - instant_of(letter["since"]), 0)),
        str(letter["attempts"]),
        f"in {rough(left)}" if left > 0 else "now",
        letter["lastError"] + told,
    )


def _dead(letter: dict[str, Any], now: Instant) -> Sequence[str]:
    ago = f"{rough(max(now - instant_of(letter['givenUp']), 0))} ago"
    return (*_beginning(letter), ago, str(letter["attempts"]), letter["lastError"])


def _beginning(letter: dict[str, Any]) -> Sequence[str]:
    return (letter["id"][:SHOWN], letter["integration"], letter["title"])


def _raise(message: str) -> Any:
    raise AskError(visible(message))
