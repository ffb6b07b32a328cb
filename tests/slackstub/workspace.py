"""The state of the workspace: channels, tokens, and the messages that stand in it."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tests.slackstub.rates import Rates

TOKEN = "xoxb-stub-token"
APP_TOKEN = "xapp-stub-token"
CHANNEL = "C0123456789"
SCOPES = ("chat:write", "channels:history", "channels:read", "reactions:write")
_FIRST_TS = 1_700_000_000
# What an edit replaces.
_SHOWN = frozenset(("text", "blocks", "attachments"))


@dataclass(frozen=True, slots=True)
class Channel:
    """`name` is without its #; the bot is a member unless told otherwise."""

    id: str
    name: str
    archived: bool = False
    member: bool = True


@dataclass(frozen=True, slots=True)
class Posted:
    """A message that stands in a channel: what was sent, by which method (or `webhook`), at which monotonic second."""

    channel: str
    ts: str
    payload: dict[str, Any]
    via: str
    edits: int = 0
    at: float = 0.0

    @property
    def thread_ts(self) -> str:
        """The root of the thread, or "" for a message that is none's reply."""
        return str(self.payload.get("thread_ts", ""))

    @property
    def in_channel(self) -> bool:
        """Whether it is seen in the channel, and not in a thread alone."""
        return not self.thread_ts or bool(self.payload.get("reply_broadcast"))

    @property
    def text(self) -> str:
        return str(self.payload.get("text", ""))


@dataclass(frozen=True, slots=True)
class Whisper:
    """What one person alone was told in a channel."""

    channel: str
    user: str
    text: str


@dataclass(frozen=True, slots=True)
class File:
    """A file; `channel` and `thread_ts` are where it was shared, "" before that."""

    id: str
    name: str
    length: int
    content: bytes = b""
    channel: str = ""
    thread_ts: str = ""
    title: str = ""
    alt: str = ""
    # When its bytes came, in seconds of the workspace's clock.
    at: float = 0.0


@dataclass
class Workspace:
    """Everything in it may be changed by a test at any time, but messages only by posting."""

    channels: dict[str, Channel] = field(default_factory=lambda: {CHANNEL: Channel(CHANNEL, "alerts")})
    # Token → scopes.
    tokens: dict[str, frozenset[str]] = field(default_factory=lambda: {TOKEN: frozenset(SCOPES)})
    revoked: set[str] = field(default_factory=set)
    messages: list[Posted] = field(default_factory=list)
    # Channel and time stamp → names.
    reactions: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    app_tokens: set[str] = field(default_factory=lambda: {APP_TOKEN})
    whispers: list[Whisper] = field(default_factory=list)
    files: dict[str, File] = field(default_factory=dict)
    # Where files are posted to.
    origin: str = ""
    # Returns the address of a new socket; None while nobody serves Socket Mode.
    open_socket: Callable[[], str] | None = None
    # The clock that tells how fast messages come.
    seconds: Callable[[], float] = time.monotonic
    rates: Rates = field(default_factory=Rates)
    # For so many seconds a new message is not seen by whoever looks.
    lag: float = 0.0
    # For so many seconds a file cannot be shown in a block.
    processing: float = 0.0
    # What is carried out later: when, and what.
    late: list[tuple[float, Callable[[], object]]] = field(default_factory=list)
    _posted: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def catch_up(self) -> None:
        """Carry out what was to come later, and whose time has come."""
        now = self.seconds()
        with self._lock:
            due = [act for at, act in self.late if at <= now]
            self.late = [(at, act) for at, act in self.late if at > now]
        for act in due:
            act()

    def is_ready(self, file_id: str) -> bool:
        """Say whether a file can be shown in a block."""
        file = self.files.get(file_id)
        return file is not None and bool(file.content) and self.seconds() - file.at >= self.processing

    def find(self, name: str) -> Channel | None:
        """Return a channel by its ID or its name."""
        known = self.channels.get(name)
        return known or next((one for one in self.channels.values() if one.name == name.removeprefix("#")), None)

    def message(self, channel: str, ts: str) -> Posted | None:
        return next((one for one in self.messages if (one.channel, one.ts) == (channel, ts)), None)

    def post(self, channel: str, payload: dict[str, Any], via: str) -> Posted:
        with self._lock:
            self._posted += 1
            posted = Posted(channel, f"{_FIRST_TS + self._posted}.{self._posted:06d}", payload, via, at=self.seconds())
            self.messages.append(posted)
            return posted

    def update(self, channel: str, ts: str, payload: dict[str, Any]) -> Posted | None:
        """Replace a message, keeping what the payload does not name; None when there is no such message."""
        with self._lock:
            for number, message in enumerate(self.messages):
                if (message.channel, message.ts) == (channel, ts):
                    # A text without blocks takes the blocks away; what a message is stamped with stays.
                    lost = _SHOWN if "text" in payload else frozenset()
                    kept = {name: value for name, value in message.payload.items() if name not in lost}
                    self.messages[number] = replace(message, payload={**kept, **payload}, edits=message.edits + 1)
                    return self.messages[number]
        return None
