"""Posts with a bot token, through the Web API."""

from typing import Any
from urllib.request import Request

from slack_sdk import WebClient
from slack_sdk.web.slack_response import SlackResponse

from monitor.dispatch.notification import Notification
from monitor.model.instant import SECOND, Duration
from monitor.notify.slack import classify
from monitor.notify.slack.classify import Reason, failure
from monitor.notify.slack.degrade import post
from monitor.notify.slack.payload import Message
from monitor.notify.slack.secret import Secret
from monitor.notify.slack.transport import Transport, silent_logger
from monitor.notify.summary import summarise

SLACK_API = "https://slack.com/api/"


class SlackBot:
    """
    A receiver's channel, reached by a bot.

    `base_url` is settable for proxies and for tests; `timeout` is for a whole exchange, in milliseconds.
    """

    def __init__(
        self,
        token: Secret,
        channel: str,
        *,
        base_url: str = SLACK_API,
        timeout: Duration = 10 * SECOND,
        proxy_from_environment: bool = False,
    ) -> None:
        self._token = token
        self._channel = channel
        self._base_url = base_url
        self._transport = Transport(timeout, proxy_from_environment=proxy_from_environment)

    def notify(self, notification: Notification) -> None:
        """Post the notification; raises NotifyError."""
        post(summarise(notification), self._send)

    def _send(self, message: Message) -> None:
        client = _Client(self._token.get(), self._base_url, self._transport)
        try:
            response = client.chat_postMessage(
                channel=self._channel,
                text=message.text,
                blocks=message.blocks,
                attachments=message.attachments,
                unfurl_links=False,
                unfurl_media=False,
            )
        except classify.THROWN as err:
            # Not `from err`: the text of an error of the SDK or of urllib may hold what must not be logged.
            raise classify.exception(err) from None
        if not _posted(response):
            raise failure(Reason.AMBIGUOUS, "Slack answered without the time stamp of the message")


def _posted(response: SlackResponse) -> bool:
    return response.get("ok") is True and bool(response.get("ts"))


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
