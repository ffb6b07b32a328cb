"""The Web API: asked once, under our transport's rules."""

from collections.abc import Callable
from typing import Any
from urllib.request import Request

from slack_sdk import WebClient
from slack_sdk.web.slack_response import SlackResponse

from monitor.model.instant import SECOND, Duration
from monitor.notify.secret import Secret
from monitor.notify.slack import classify
from monitor.notify.transport import Transport, silent_logger

SLACK_API = "https://slack.com/api/"


class WebApi:
    """
    One token at one address.

    `base_url` is settable for proxies and for tests; `timeout` is for a whole exchange, in milliseconds.
    """

    def __init__(
        self,
        token: Secret,
        base_url: str = SLACK_API,
        *,
        timeout: Duration = 10 * SECOND,
        proxy_from_environment: bool = False,
    ) -> None:
        self._token = token
        self._base_url = base_url
        self._transport = Transport(timeout, proxy_from_environment=proxy_from_environment)

    def ask(self, call: Callable[[WebClient], SlackResponse]) -> SlackResponse:
        """Return what Slack answers; raises NotifyError, and RefusedError when Slack said why."""
        client = _Client(self._token.get(), self._base_url, self._transport)
        try:
            return call(client)
        except Exception as err:  # noqa: BLE001 - whatever the SDK throws is translated
            # Not `from err`: the text of an error of the SDK or of urllib may hold what must not be logged.
            raise classify.exception(err) from None


class _Client(WebClient):
    """The SDK's client with our transport in the place of its own."""

    def __init__(self, token: str, base_url: str, transport: Transport) -> None:
        # No retry handlers: retrying is the outbox's business. The SDK's default posts twice after a broken connection.
        super().__init__(token=token, base_url=base_url, retry_handlers=[], logger=silent_logger())
        self._transport = transport

    def _perform_urllib_http_request_internal(self, url: str, req: Request) -> dict[str, Any]:
        del url  # the request knows it
        answer = self._transport.send(req)
        return {"status": answer.status, "headers": answer.headers, "body": answer.body}
