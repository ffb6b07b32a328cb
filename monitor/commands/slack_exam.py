"""Everything that the daemon will ask of Slack, tried once: what works, what does not, and how to mend it."""

from base64 import b64decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any

from slack_sdk import WebClient
from slack_sdk.web.slack_response import SlackResponse

from monitor.commands.slack_remedies import remedy, remedy_for
from monitor.commands.slack_scopes import missing
from monitor.dispatch.notification import NotifyError
from monitor.notify.http import Address
from monitor.notify.secret import Secret
from monitor.notify.slack.web_api import WebApi

EVENT_TYPE = "vllm_monitor_test"
TEXT = "vllm-monitor test-slack: if you can read this, messages arrive. It goes away by itself."
_EDITED = "vllm-monitor test-slack: and can be edited."
_REPLY = "vllm-monitor test-slack: this is a reply in the thread."
# One grey dot.
_PICTURE = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==")

Call = Callable[[WebClient], SlackResponse]


class Outcome(StrEnum):
    GOOD = "ok"
    ADVICE = "advice"
    LEFT_OUT = "left out"
    BAD = "FAILED"


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one step; `what_to_do` is empty when there is nothing to do."""

    step: str
    outcome: Outcome
    text: str
    what_to_do: str = ""


@dataclass
class BotExam:
    """
    Tries a bot on a channel, an ID or a name. `stamp` tells this trial from others; with `keep` its messages stay.

    `findings` goes on as long as it makes sense, and takes back what it posted.
    """

    api: WebApi
    channel: str
    stamp: str
    keep: bool = False
    extras: tuple[Callable[["BotExam"], Iterator[Finding]], ...] = ()
    scopes: frozenset[str] = frozenset()
    posted: list[tuple[str, str]] = field(default_factory=list)

    def findings(self) -> Iterator[Finding]:
        for step in (self._token, self._scopes, self._channel, self._post):
            failed = False
            for finding in step():
                failed |= finding.outcome is Outcome.BAD
                yield finding
            if failed:
                return
        for step in (self._look, self._edit, self._thread, self._react, self._upload):
            yield from step()
        for extra in self.extras:
            yield from extra(self)
        if not self.keep:
            yield from self._delete()

    def attempt(self, step: str, call: Call, good: str) -> Iterator[Finding]:
        """Yield what came of a call."""
        try:
            self.api.ask(call)
        except NotifyError as err:
            yield bad(step, err)
        else:
            yield Finding(step, Outcome.GOOD, good)

    def post(self, text: str, **more: Any) -> SlackResponse:
        """Post a message that is taken back at the end; raises NotifyError."""
        answer = self.api.ask(
            lambda client: client.chat_postMessage(
                channel=self.posted[0][0] if self.posted else self.channel,
                text=text,
                metadata={"event_type": EVENT_TYPE, "event_payload": {"id": self.stamp}},
                unfurl_links=False,
                **more,
            )
        )
        self.posted.append((str(answer["channel"]), str(answer["ts"])))
        return answer

    def _token(self) -> Iterator[Finding]:
        try:
            answer = self.api.ask(lambda client: client.auth_test())
        except NotifyError as err:
            yield bad("token", err)
            return
        headers = {str(name).lower(): str(value) for name, value in dict(answer.headers).items()}
        self.scopes = frozenset(scope.strip() for scope in headers.get("x-oauth-scopes", "").split(",")) - {""}
        who = f"{answer.get('user')} in the workspace {answer.get('team')} ({answer.get('url')})"
        yield Finding("token", Outcome.GOOD, who)
        if not answer.get("bot_id"):
            yield Finding(
                "token", Outcome.ADVICE, "this is the token of a person", "use the bot's: messages should not be yours"
            )

    def _scopes(self) -> Iterator[Finding]:
        lacking = missing(self.scopes)
        if not any(need.is_must for need in lacking):
            yield Finding("scopes", Outcome.GOOD, ", ".join(sorted(self.scopes)))
        for need in lacking:
            outcome = Outcome.BAD if need.is_must else Outcome.ADVICE
            text = f"{' or '.join(need.scopes)} is missing: with it the bot {need.what}"
            what_to_do = "add it under OAuth & Permissions, Scopes, Bot Token Scopes, and reinstall the app"
            yield Finding("scopes", outcome, text, f"{need.otherwise}; {what_to_do}" if need.otherwise else what_to_do)

    def _channel(self) -> Iterator[Finding]:
        if not is_id(self.channel):
            text = f'"{self.channel}" is a name: with the ID (C…) the bot can look before it posts again, and edit'
            yield Finding("channel", Outcome.ADVICE, text, "the ID stands at the end of the channel's details")
            return
        if not self._may("channels:read", "groups:read"):
            yield Finding("channel", Outcome.LEFT_OUT, "needs the scope channels:read or groups:read")
            return
        try:
            found = self.api.ask(lambda client: client.conversations_info(channel=self.channel))["channel"]
        except NotifyError as err:
            yield bad("channel", err)
            return
        stranger = found.get("is_member") is False and not self._may("chat:write.public")
        wrong = "is_archived" if found.get("is_archived") else "not_in_channel" if stranger else ""
        if wrong:
            yield Finding("channel", Outcome.BAD, f"#{found.get('name')}: {wrong}", remedy_for(wrong))
        else:
            yield Finding("channel", Outcome.GOOD, f"#{found.get('name')} ({self.channel})")

    def _post(self) -> Iterator[Finding]:
        try:
            answer = self.post(TEXT)
        except NotifyError as err:
            yield bad("post", err)
        else:
            yield Finding("post", Outcome.GOOD, f"a message stands in {answer['channel']}")

    def _look(self) -> Iterator[Finding]:
        channel, _ = self.posted[0]
        if not self._may("channels:history", "groups:history"):
            yield Finding("look", Outcome.LEFT_OUT, "needs the scope channels:history or groups:history")
            return
        try:
            history = self.api.ask(
                lambda client: client.conversations_history(channel=channel, include_all_metadata=True, limit=15)
            )
        except NotifyError as err:
            yield bad("look", err)
            return
        stamps = [message.get("metadata", {}).get("event_payload", {}).get("id") for message in history["messages"]]
        if self.stamp in stamps:
            yield Finding("look", Outcome.GOOD, "the message is found again")
        else:
            text = "the message is not among the newest of the channel"
            yield Finding("look", Outcome.BAD, text, "try again; if it lasts, a message may appear twice after a fault")

    def _edit(self) -> Iterator[Finding]:
        channel, ts = self.posted[0]
        yield from self.attempt(
            "edit", lambda client: client.chat_update(channel=channel, ts=ts, text=_EDITED), "the message was edited"
        )

    def _thread(self) -> Iterator[Finding]:
        try:
            self.post(_REPLY, thread_ts=self.posted[0][1])
        except NotifyError as err:
            yield bad("thread", err)
        else:
            yield Finding("thread", Outcome.GOOD, "a reply stands in its thread")

    def _react(self) -> Iterator[Finding]:
        channel, ts = self.posted[0]
        if not self._may("reactions:write"):
            yield Finding("react", Outcome.LEFT_OUT, "needs the scope reactions:write")
            return
        yield from self.attempt(
            "react",
            lambda client: client.reactions_add(channel=channel, timestamp=ts, name="eyes"),
            "the message was marked",
        )

    def _upload(self) -> Iterator[Finding]:
        channel, ts = self.posted[0]
        if not self._may("files:write"):
            yield Finding("upload", Outcome.LEFT_OUT, "needs the scope files:write")
            return
        try:
            file = self._uploaded(channel, ts)
        except NotifyError as err:
            yield bad("upload", err)
            return
        yield Finding("upload", Outcome.GOOD, "a picture stands in the thread")
        if not self.keep:
            yield from self.attempt("upload", lambda client: client.files_delete(file=file), "and was taken back")

    def _uploaded(self, channel: str, ts: str) -> str:
        """Return the id of a picture in the thread; raises NotifyError."""
        place = self.api.ask(
            lambda client: client.files_getUploadURLExternal(filename="test.png", length=len(_PICTURE))
        )
        Address(Secret(str(place["upload_url"]))).post(_PICTURE, {"Content-Type": "application/octet-stream"})
        file = str(place["file_id"])
        self.api.ask(
            lambda client: client.files_completeUploadExternal(
                files=[{"id": file, "title": "test"}], channel_id=channel, thread_ts=ts
            )
        )
        return file

    def _delete(self) -> Iterator[Finding]:
        for channel, ts in reversed(self.posted):
            for finding in self.attempt("delete", partial(_deleted, channel, ts), ""):
                if finding.outcome is Outcome.BAD:
                    yield finding
                    return
        yield Finding("delete", Outcome.GOOD, "nothing is left of it")

    def _may(self, *scopes: str) -> bool:
        return bool(self.scopes.intersection(scopes))


def _deleted(channel: str, ts: str, client: WebClient) -> SlackResponse:
    return client.chat_delete(channel=channel, ts=ts)


def bad(step: str, err: NotifyError) -> Finding:
    return Finding(step, Outcome.BAD, str(err), remedy(err))


def is_id(channel: str) -> bool:
    """Say whether a channel is given by its ID."""
    return len(channel) >= len("C12345678") and channel[0] in "CGD" and channel.isalnum() and channel.isupper()
