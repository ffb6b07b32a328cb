"""
A picture into a thread, in Slack's three steps: ask for an address, send the bytes there, share the file.

The SDK's own upload sends the bytes with its own retries and redirects; here all of it is under our transport's rules.
reference: Slack, files.getUploadURLExternal and files.completeUploadExternal.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.request import Request

from slack_sdk import WebClient
from slack_sdk.web.slack_response import SlackResponse

from monitor.dispatch.notification import NotifyError
from monitor.model.instant import SECOND, Duration
from monitor.notify.failure import Reason, failure
from monitor.notify.slack import classify
from monitor.notify.slack.channel import Place
from monitor.notify.slack.web_api import WebApi
from monitor.notify.transport import Transport, is_web_address

SCOPE = "files:write"
_NAME = "graph.png"
_OK = 200


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG; `title` stands over it, `alt` is what is read aloud. Neither is markup."""

    png: bytes
    title: str
    alt: str


class Upload:
    """Shares pictures as the bot of `api`; `timeout` is for sending one, in milliseconds. Raises NotifyError."""

    def __init__(self, api: WebApi, timeout: Duration = 10 * SECOND) -> None:
        self._api = api
        self._transport = Transport(timeout)

    def is_allowed(self) -> bool:
        """Say whether the bot has the scope, as far as Slack tells."""
        headers = self._api.ask(lambda client: client.auth_test()).headers or {}
        given = next((value for name, value in headers.items() if name.lower() == "x-oauth-scopes"), None)
        return given is None or SCOPE in [scope.strip() for scope in str(given).split(",")]

    def share(self, picture: Picture, root: Place) -> None:
        """
        Show the picture in the thread of `root`.

        The error is doubtful only when the picture may stand there all the same.
        """
        address, file = self._address(picture)
        self._send(address, picture.png)
        self._api.ask(
            lambda client: client.files_completeUploadExternal(
                files=[{"id": file, "title": picture.title}], channel_id=root.channel, thread_ts=root.ts
            )
        )

    def _address(self, picture: Picture) -> tuple[str, str]:
        answer = self._ask(
            lambda client: client.files_getUploadURLExternal(
                filename=_NAME, length=len(picture.png), alt_txt=picture.alt
            )
        )
        address, file = str(answer.get("upload_url") or ""), str(answer.get("file_id") or "")
        if not is_web_address(address) or not file:
            raise _certain(failure(Reason.AMBIGUOUS, "Slack answered without an address for the picture"))
        return address, file

    def _send(self, address: str, content: bytes) -> None:
        """Send the bytes; without the token, which the address does not need."""
        # Its scheme was looked at above.
        request = Request(address, content, {"Content-Type": "image/png"}, method="POST")  # noqa: S310
        try:
            answer = self._transport.send(request)
        except classify.THROWN as err:
            raise _certain(classify.exception(err)) from None
        if answer.status != _OK:
            raise _certain(classify.answer(answer.status, "", answer.headers.get("retry-after")))

    def _ask(self, call: Callable[[WebClient], SlackResponse]) -> Any:
        try:
            return self._api.ask(call)
        except NotifyError as err:
            _certain(err)
            raise


def _certain(error: NotifyError) -> NotifyError:
    """Return the error of a step after which nobody sees anything yet."""
    error.doubtful = False
    return error
