"""Tells one person something that nobody else needs to see; what cannot be told at once is dropped and counted."""

import contextlib
import logging
import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from monitor.dispatch.notification import NotifyError
from monitor.notify.slack.web_api import WebApi

log = logging.getLogger(__name__)

_MOST_WAITING = 100


@dataclass(frozen=True, slots=True)
class Whisper:
    """A text, escaped, for one user in a channel."""

    integration: str
    channel: str
    user: str
    text: str


class Whisperer:
    """
    Posts from a thread of its own: a Slack that hangs holds up no click. `apis` are the bots by their integrations.

    Nobody is told twice, and nothing is tried again: whoever clicked sees the message itself.
    """

    def __init__(self, apis: Mapping[str, WebApi], failed: Callable[[str], None]) -> None:
        self._apis = apis
        self._failed = failed
        self._waiting: queue.Queue[Whisper | None] = queue.Queue(_MOST_WAITING)
        self._thread = threading.Thread(target=self._work, name="whispers", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after what is under way; nobody waits for it, and for nothing else."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._waiting.get_nowait()
        self._waiting.put_nowait(None)

    def tell(self, whisper: Whisper) -> None:
        try:
            self._waiting.put_nowait(whisper)
        except queue.Full:
            self._failed("full")

    def _work(self) -> None:
        while (whisper := self._waiting.get()) is not None:
            # Nothing is known of some incidents any more: then any bot will do.
            api = self._apis.get(whisper.integration) or next(iter(self._apis.values()), None)
            if api is not None:
                self._post(api, whisper)

    def _post(self, api: WebApi, whisper: Whisper) -> None:
        try:
            api.ask(
                lambda client: client.chat_postEphemeral(channel=whisper.channel, user=whisper.user, text=whisper.text)
            )
        except NotifyError as err:
            self._failed(err.reason)
            log.warning("not told to the one who clicked: %s", err)
