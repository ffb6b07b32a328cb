"""Posts to an incoming webhook. Its channel is fixed, and nothing it posts can be edited."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.request import Request

from slack_sdk.webhook import WebhookClient, WebhookResponse

from monitor.dispatch.notification import Notification
from monitor.model.instant import SECOND, Duration
from monitor.notify.failure import Reason, failure
from monitor.notify.readings import Changes, Facts, NoChanges, NoFacts
from monitor.notify.secret import Secret
from monitor.notify.silencing import command
from monitor.notify.slack import classify
from monitor.notify.slack.degrade import post
from monitor.notify.slack.drawing import changed_before
from monitor.notify.slack.payload import Message
from monitor.notify.summary import Summary, summarise, with_readings
from monitor.notify.transport import Transport, is_web_address, silent_logger

_OK = 200


class SlackWebhook:
    """
    A receiver's incoming webhook; the URL is its secret.

    `facts` knows the numbers that decide, `changes` what was changed at a server; `external_url` is where commands
    reach the daemon ("": nobody said). `timeout` is for a whole exchange, in milliseconds.
    """

    def __init__(
        self,
        url: Secret,
        *,
        facts: Facts | None = None,
        changes: Changes | None = None,
        external_url: str = "",
        timeout: Duration = 10 * SECOND,
        proxy_from_environment: bool = False,
    ) -> None:
        self._url = url
        self._facts = facts or NoFacts()
        self._changes = changes or NoChanges()
        self._external_url = external_url
        self._transport = Transport(timeout, proxy_from_environment=proxy_from_environment)

    def notify(self, notification: Notification) -> None:
        """Post the notification; raises NotifyError."""
        told = told_without_buttons(notification, self._facts, self._external_url)
        post(told, tuple(self._notes(notification)), self.post)

    def post(self, message: Message) -> None:
        """Post a message that is built already; raises NotifyError."""
        url = self._url.get()
        if not is_web_address(url):
            raise failure(Reason.DESTINATION, "the webhook is not an http or https URL")
        client = _Client(url, self._transport)
        try:
            response = client.send(
                text=message.text,
                blocks=message.blocks,
                attachments=message.attachments,
                unfurl_links=False,
                unfurl_media=False,
            )
        except classify.THROWN as err:
            # Not `from err`: the text of an error of the SDK or of urllib may hold the URL.
            raise classify.exception(err) from None
        if response.status_code != _OK or response.body.strip() != "ok":
            code = classify.code_of(response.body)
            raise classify.answer(response.status_code, code, response.headers.get("retry-after"))

    def _notes(self, notification: Notification) -> Iterator[str]:
        firing = notification.firing
        changed = firing and changed_before(notification, min(alert.starts_at for alert in firing), self._changes)
        if changed:
            yield changed


def told_without_buttons(notification: Notification, facts: Facts, external_url: str) -> Summary:
    """Return what is told where nobody hears of a click: a command in the place of buttons."""
    return replace(with_readings(summarise(notification), facts), silence=command(notification, external_url))


class _Client(WebhookClient):
    """The SDK's client with our transport in the place of its own."""

    def __init__(self, url: str, transport: Transport) -> None:
        # No retry handlers: retrying is the outbox's business. The SDK's default posts twice after a broken connection.
        super().__init__(url, retry_handlers=[], logger=silent_logger())
        self._transport = transport

    def _perform_http_request_internal(self, url: str, req: Request) -> WebhookResponse:
        answer = self._transport.send(req)
        headers: dict[str, Any] = dict(answer.headers)
        return WebhookResponse(url=url, status_code=answer.status, body=answer.body, headers=headers)
