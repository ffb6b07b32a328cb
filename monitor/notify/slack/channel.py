"""One channel, as a bot writes to it, and finds again what it wrote."""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from slack_sdk import WebClient
from slack_sdk.web.slack_response import SlackResponse

from monitor.dispatch.notification import NotifyError
from monitor.model.instant import SECOND, Instant
from monitor.notify.failure import Reason, failure
from monitor.notify.slack.classify import RefusedError
from monitor.notify.slack.pace import POST, UPDATE, Pace
from monitor.notify.slack.payload import Message
from monitor.notify.slack.web_api import WebApi

log = logging.getLogger(__name__)

# Stamped on every message, so that it can be found again. Anybody in the workspace can read it: it holds no secret.
EVENT_TYPE = "vllm_monitor_notification"
# How many of the newest messages are looked at. A look follows an attempt within seconds, unless the daemon was away
# meanwhile: and a storm in the channel may have gone on without it.
_PAGE, _PAGES = 200, 10
# Whoever is configured so cannot look, now or later. Who can neither look nor post has to wait.
_CANNOT_LOOK = frozenset(
    (
        "missing_scope",
        "not_allowed_token_type",
        "channel_not_found",
        "not_in_channel",
        "thread_not_found",
        "invalid_arguments",
    )
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message stands: the ID of its channel, and its time stamp."""

    channel: str
    ts: str


class Channel:
    """
    The channel `name`: an ID, or a name, which Slack takes for posting only.

    Raises NotifyError. Every call is counted by `pace`, which whoever calls has asked before.
    """

    def __init__(self, api: WebApi, name: str, pace: Pace, now: Callable[[], Instant]) -> None:
        self._api = api
        self.name = name
        self._id = name
        self._pace = pace
        self._now = now

    def post(self, message: Message, stamp: str, *, thread_ts: str = "", broadcast: bool = False) -> Place:
        """Post a message, in the thread of another one when `thread_ts` is given."""
        thread: dict[str, Any] = {"thread_ts": thread_ts, "reply_broadcast": broadcast} if thread_ts else {}
        response = self._ask(
            POST,
            lambda client: client.chat_postMessage(
                channel=self.name,
                **_content(message),
                metadata={"event_type": EVENT_TYPE, "event_payload": {"id": stamp}},
                unfurl_links=False,
                unfurl_media=False,
                **thread,
            ),
        )
        ts, channel = str(response.get("ts") or ""), str(response.get("channel") or "")
        if response.get("ok") is not True or not ts:
            raise failure(Reason.AMBIGUOUS, "Slack answered without the time stamp of the message")
        self._id = channel or self._id
        return Place(self._id, ts)

    def update(self, place: Place, message: Message) -> None:
        """Edit a message; what it is stamped with stays."""
        self._ask(UPDATE, lambda client: client.chat_update(channel=place.channel, ts=place.ts, **_content(message)))

    def find(self, stamp: str) -> Place | None:
        """
        Return where the message with this stamp stands, when it is among the newest of the channel.

        It takes the scope channels:history (groups:history) and the ID of the channel. Where the bot may not look the
        answer is None: a message twice is better than none.
        """
        return self._found(self._history, self._id, stamp)

    def find_reply(self, root: Place, stamp: str) -> Place | None:
        """Return where the reply with this stamp stands in the thread of `root`; where the bot may not look: None."""
        return self._found(partial(self._replies, root), root.channel, stamp)

    def permalink(self, place: Place) -> str:
        """Return a link to a message, "" when Slack gives none."""
        try:
            answer = self._ask(
                "chat.getPermalink",
                lambda client: client.chat_getPermalink(channel=place.channel, message_ts=place.ts),
            )
        except NotifyError:
            return ""
        return str(answer.get("permalink") or "")

    def _found(self, page: Callable[[str], Mapping[str, Any]], channel: str, stamp: str) -> Place | None:
        """Go through pages, of which each names the next one, until the stamp is seen."""
        cursor = ""
        for _ in range(_PAGES):
            answer = page(cursor)
            for found, ts in _stamps(answer):
                if found == stamp:
                    return Place(channel, ts)
            cursor = str((answer.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                break
        return None

    def _history(self, cursor: str) -> Mapping[str, Any]:
        return self._look(
            "conversations.history",
            lambda client: client.conversations_history(
                channel=self._id, cursor=cursor or None, include_all_metadata=True, limit=_PAGE
            ),
        )

    def _replies(self, root: Place, cursor: str) -> Mapping[str, Any]:
        return self._look(
            "conversations.replies",
            lambda client: client.conversations_replies(
                channel=root.channel, ts=root.ts, cursor=cursor or None, include_all_metadata=True, limit=_PAGE
            ),
        )

    def _look(self, method: str, call: Callable[[WebClient], SlackResponse]) -> Mapping[str, Any]:
        try:
            data = self._ask(method, call).data
        except RefusedError as err:
            if err.code not in _CANNOT_LOOK:
                raise
            log.warning("cannot look for a message before posting it again", extra={"reason": str(err)})
            return {}
        return data if isinstance(data, dict) else {}

    def _ask(self, method: str, call: Callable[[WebClient], SlackResponse]) -> SlackResponse:
        self._pace.spend(method, self.name, self._now())
        try:
            return self._api.ask(call)
        except NotifyError as err:
            if err.reason == Reason.RATE_LIMITED:
                self._pace.hold(method, self._now() + (err.retry_after or SECOND))
            raise


def _content(message: Message) -> dict[str, Any]:
    return {"text": message.text, "blocks": message.blocks, "attachments": message.attachments}


def _stamps(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what we stamped on messages, with their time stamps."""
    for message in answer.get("messages") or ():
        metadata = message.get("metadata") if isinstance(message, dict) else None
        payload = metadata.get("event_payload") if isinstance(metadata, dict) else None
        if isinstance(payload, dict) and isinstance(metadata, dict) and metadata.get("event_type") == EVENT_TYPE:
            yield str(payload.get("id", "")), str(message.get("ts", ""))
