"""What is worth telling and is no alert: posted once, with a picture in its thread where a bot posts it."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from monitor.dispatch.notification import NotifyError
from monitor.model.instant import MINUTE, SECOND, Duration, Instant
from monitor.notify.cleanse import one_line
from monitor.notify.slack.channel import Channel, Place
from monitor.notify.slack.escape import bold, line, literal
from monitor.notify.slack.pace import LOOK_AFTER, POST
from monitor.notify.slack.parts import Block, Message, context, fits, section
from monitor.notify.slack.upload import Picture, Upload
from monitor.notify.slack.webhook import SlackWebhook

log = logging.getLogger(__name__)

T = TypeVar("T")

MOST_ATTEMPTS = 3
_LONGEST_WAIT: Duration = 5 * MINUTE
_HEADER, _HEADING, _NAME, _TEXT = 140, 150, 40, 220
# Slack takes 3,000 characters in a section.
_SECTION_ROWS = 10


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A heading and what stands below it: names and texts, none of them markup."""

    heading: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Bulletin:
    """`id` is stamped on the message; `more` says where to find what is left out of one that is too long."""

    id: str
    title: str
    paragraphs: tuple[Paragraph, ...]
    more: str = ""


class Board(Protocol):
    """Where bulletins are put up."""

    def put_up(self, bulletin: Bulletin, picture: Picture | None) -> None:
        """Post it; `picture` where there can be one. Raises NotifyError when it does not stand there."""
        ...


def message_of(bulletin: Bulletin) -> Message:
    """Return the message: as many paragraphs as Slack takes, and how many were left out."""
    for count in range(len(bulletin.paragraphs), 0, -1):
        built = _message(bulletin, count)
        if fits(built):
            return built
    return _message(bulletin, 0)


def _message(bulletin: Bulletin, count: int) -> Message:
    title = line(bulletin.title, _HEADER)
    blocks: list[Block] = [{"type": "header", "text": {"type": "plain_text", "text": title, "emoji": False}}]
    for paragraph in bulletin.paragraphs[:count]:
        blocks.extend(_sections(paragraph))
    left_out = len(bulletin.paragraphs) - count
    if left_out:
        blocks.append(context(literal(f"{left_out} more: {bulletin.more}", _TEXT)))
    return Message(title, blocks, [])


def _sections(paragraph: Paragraph) -> Iterator[Block]:
    heading = bold(paragraph.heading, _HEADING)
    rows = [f"{bold(name, _NAME)}  {literal(text, _TEXT)}".strip() for name, text in paragraph.rows]
    for start in range(0, max(len(rows), 1), _SECTION_ROWS):
        part = rows[start : start + _SECTION_ROWS]
        yield section("\n".join(part if start else [heading, *part]))


class BotBoard:
    """
    A channel that a bot writes to.

    `pause` waits so long and says whether to go on. A budget that alerts need is not taken from them: it is waited for.
    """

    def __init__(
        self,
        channel: Channel,
        upload: Upload | None,
        free_at: Callable[[str, str], Instant],
        now: Callable[[], Instant],
        pause: Callable[[Duration], bool],
    ) -> None:
        self._channel = channel
        self._upload = upload
        self._free_at = free_at
        self._now = now
        self._pause = pause

    def put_up(self, bulletin: Bulletin, picture: Picture | None) -> None:
        message = message_of(bulletin)
        place = tried(lambda doubtful: self._post(bulletin, message, doubtful=doubtful), self._pause)
        if picture is not None and self._upload is not None:
            self._share(self._upload, picture, place)

    def _post(self, bulletin: Bulletin, message: Message, *, doubtful: bool) -> Place:
        found = self._channel.find(bulletin.id) if doubtful else None
        if found is not None:
            return found
        self._pause(max(self._free_at(POST, self._channel.name) - self._now(), 0))
        return self._channel.post(message, bulletin.id)

    def _share(self, upload: Upload, picture: Picture, place: Place) -> None:
        """Share the picture; without it the bulletin says the same."""
        try:
            if upload.is_allowed():
                upload.share(picture, place)
            else:
                log.warning("no picture of the report: the bot lacks the scope files:write")
        except NotifyError as err:
            log.warning("no picture of the report", extra={"reason": str(err)})


class WebhookBoard:
    """An incoming webhook: the text alone."""

    def __init__(self, webhook: SlackWebhook, pause: Callable[[Duration], bool]) -> None:
        self._webhook = webhook
        self._pause = pause

    def put_up(self, bulletin: Bulletin, picture: Picture | None) -> None:
        del picture  # a webhook cannot upload
        message = message_of(bulletin)

        # Nothing can be looked up: what was in doubt comes a second time.
        tried(lambda _: self._webhook.post(message), self._pause)


def tried(post: Callable[[bool], T], pause: Callable[[Duration], bool]) -> T:
    """
    Return what `post` returns, tried a few times; raises NotifyError.

    It is told whether it may have been posted already.
    """
    doubtful = False
    for attempt in range(1, MOST_ATTEMPTS + 1):
        try:
            return post(doubtful)
        except NotifyError as err:
            doubtful = doubtful or err.doubtful
            wait = max(err.retry_after or 0, SECOND << attempt, LOOK_AFTER)
            final = not err.retryable or attempt == MOST_ATTEMPTS or wait > _LONGEST_WAIT
            if final or not pause(wait):
                raise
    raise AssertionError("the last attempt returns or raises")


def picture_of(png: bytes, title: str) -> Picture:
    """Return what is shared of a picture that was drawn; no markup is known in titles, and here is none."""
    safe = one_line(title).replace("<", "\u2039").replace(">", "\u203a").replace("&", "+")
    return Picture(png, safe, f"{safe}: KV cache, queue, time to first token and requests a minute")
