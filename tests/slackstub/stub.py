"""
A Slack on the loopback, for tests and acceptance tests.

It checks token, channel and blocks as Slack does and answers in Slack's words, keeps what was posted, and fails as it
is told to. What a stub cannot know: Slack's real total size, how it counts, what it looks like.
"""

import threading
from types import TracebackType
from typing import Self

from tests.slackstub.faults import Fault
from tests.slackstub.server import API, HOOK_PATH, Request, Server
from tests.slackstub.workspace import Posted, Workspace


class SlackStub:
    """`with SlackStub() as stub:` serves until the block ends."""

    def __init__(self) -> None:
        self.workspace = Workspace()
        self._server = Server(self.workspace)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def base_url(self) -> str:
        """The address of the Web API."""
        return self.origin + API

    @property
    def webhook_url(self) -> str:
        return self.origin + HOOK_PATH

    @property
    def messages(self) -> list[Posted]:
        """The messages that stand in the workspace, the oldest first."""
        self.workspace.catch_up()
        return list(self.workspace.messages)

    @property
    def requests(self) -> list[Request]:
        """Every request that came, whether it was carried out or not."""
        with self._server.lock:
            return list(self._server.journal)

    def fail_next(self, *faults: Fault, method: str | None = None) -> None:
        """Let the next requests (of this method: `chat.postMessage`, …, `webhook`) go wrong, one for each fault."""
        with self._server.lock:
            self._server.faults += [(method, fault) for fault in faults]

    def let_go(self) -> None:
        """Close what hangs or drips, and whatever should do so from now on."""
        self._server.stopping.set()

    def forget_faults(self) -> None:
        """From here on nothing goes wrong."""
        with self._server.lock:
            self._server.faults.clear()
