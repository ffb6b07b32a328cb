"""Posts with a bot token, through the Web API."""

import logging
from collections.abc import Callable
from typing import Any
from urllib.request import Request

from slack_sdk import WebClient
from slack_sdk.web.slack_response import SlackResponse

from monitor.dispatch.notification import Notification, NotifyError
from monitor.model.instant import SECOND, Duration
from monitor.notify.slack import classify
from monitor.notify.slack.classify import Reason, failure
from monitor.notify.slack.degrade import post
from monitor.notify.slack.payload import Message
from monitor.notify.slack.secret import Secret
from monitor.notify.slack.transport import Transport, silent_logger
from monitor.notify.summary import summarise

log = logging.getLogger(__name__)

SLACK_API = "https://slack.com/api/"


# Stamped on every message, so that it can be found again. Anybody in the workspace can read it: it holds no secret.
EVENT_TYPE = "vllm_monitor_notification"
# How many of the newest messages are looked at. A look follows an attempt within minutes.
_LOOK_BACK = 100
# An answer that no other look would get: whoever is configured so cannot be asked.
_CANNOT_LOOK = (Reason.CREDENTIAL, Reason.DESTINATION, Reason.MESSAGE)


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
        post(summarise(notification), lambda message: self._send(message, notification.id))

    def has(self, notification: Notification) -> bool:
        """
        Say whether the channel has the notification among its newest messages; raises NotifyError.

        It takes the scope channels:history (groups:history) and a channel given by its ID. Where the bot may not look
        the answer is no: a message twice is better than none.
        """
        try:
            history = self._ask(
                lambda client: client.conversations_history(
                    channel=self._channel, include_all_metadata=True, limit=_LOOK_BACK
                )
            )
        except NotifyError as err:
            if err.reason in _CANNOT_LOOK:
                log.warning("cannot look for a message before posting it again", extra={"reason": str(err)})
                return False
            raise
        return any(_stamp(message) == notification.id for message in history.get("messages") or ())

    def _send(self, message: Message, stamp: str) -> None:
        response = self._ask(
            lambda client: client.chat_postMessage(
                channel=self._channel,
                text=message.text,
                blocks=message.blocks,
                attachments=message.attachments,
                metadata={"event_type": EVENT_TYPE, "event_payload": {"id": stamp}},
                unfurl_links=False,
                unfurl_media=False,
            )
        )
        if not _posted(response):
            raise failure(Reason.AMBIGUOUS, "Slack answered without the time stamp of the message")

    def _ask(self, call: Callable[[WebClient], SlackResponse]) -> SlackResponse:
        client = _Client(self._token.get(), self._base_url, self._transport)
        try:
            return call(client)
        except Exception as err:  # noqa: BLE001 - whatever the SDK throws is translated
            # Not `from err`: the text of an error of the SDK or of urllib may hold what must not be logged.
            raise classify.exception(err) from None


def _stamp(message: Any) -> str:
    """Return the id that we stamped on a message of the history, or ""."""
    metadata = message.get("metadata") if isinstance(message, dict) else None
    if not isinstance(metadata, dict) or metadata.get("event_type") != EVENT_TYPE:
        return ""
    payload = metadata.get("event_payload")
    return str(payload.get("id", "")) if isinstance(payload, dict) else ""


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
