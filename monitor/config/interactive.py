"""What people may do from Slack, and what happens when they do not: the section `slack`."""

from collections.abc import Iterator
from itertools import chain
from typing import Annotated, Any

from pydantic import PlainValidator

from monitor.config.fields import FilePath, Matchers, PositiveDuration, SecretText
from monitor.config.secret import Hidden, held
from monitor.model.instant import MINUTE
from monitor.notify.interactive import escalation
from monitor.notify.interactive.click import is_user
from monitor.notify.interactive.escalation import Escalation
from monitor.notify.secret import Secret
from monitor.yamldoc.kinds import Text, text
from monitor.yamldoc.mistake import shown
from monitor.yamldoc.section import Section

_APP_TOKEN = "xapp-"  # noqa: S105 - what such a token begins with


def _user(value: Any) -> str:
    written = text(value)
    if not is_user(written):
        raise ValueError(f"{shown(written)} is not the ID of a user (U… or W…: profile, Copy member ID)")
    return written


def _mention(value: Any) -> str:
    written = text(value)
    try:
        escalation.mention(written)
    except ValueError as err:
        raise ValueError(f"{shown(written)} is {err}") from err
    return written


User = Annotated[str, PlainValidator(_user)]
Mention = Annotated[str, PlainValidator(_mention)]


class EscalateConfig(Section):
    """Who is rung for when nobody acknowledges in time, and which receiver is told after as long again."""

    after: PositiveDuration = 15 * MINUTE
    mention: Mention = ""
    receiver: Text = ""
    matchers: tuple[Matchers, ...] = ()

    def built(self) -> Escalation:
        return Escalation(self.after, self.mention, self.receiver, tuple(chain.from_iterable(self.matchers)))


class InteractiveConfig(Section):
    """
    The Slack app behind the buttons. With neither a token nor a secret there are none.

    `app_token` (or its file) opens Socket Mode; `signing_secret` (or its file) takes clicks over HTTP.
    """

    app_token: SecretText | None = None
    app_token_file: FilePath | None = None
    signing_secret: SecretText | None = None
    signing_secret_file: FilePath | None = None
    allowed_users: tuple[User, ...] = ()
    escalate: EscalateConfig | None = None

    def problems(self) -> Iterator[tuple[str, str]]:
        for name in ("app_token", "signing_secret"):
            if getattr(self, name) is not None and getattr(self, f"{name}_file") is not None:
                yield f"{name}_file", f"at most one of {name}, {name}_file can be set"
        if self.app_token is not None and not self.app_token.reveal().startswith(_APP_TOKEN):
            yield "app_token", "is no app-level token, which begins with xapp- (a bot's token belongs in slack_configs)"
        if self.escalate is not None and not self.escalate.mention and not self.escalate.receiver:
            yield "escalate", "set mention, receiver or both: nobody would be told"
        if not self.has_buttons and (self.allowed_users or self.escalate is not None):
            given = "allowed_users" if self.allowed_users else "escalate"
            yield given, "without app_token or signing_secret there are no buttons, so nobody could acknowledge"

    @property
    def has_buttons(self) -> bool:
        return self.socket_token is not None or self.signing is not None

    @property
    def socket_token(self) -> Secret | None:
        """What opens Socket Mode, or None."""
        return _secret(self.app_token, self.app_token_file)

    @property
    def signing(self) -> Secret | None:
        """What Slack signs its requests with, or None when none are taken."""
        return _secret(self.signing_secret, self.signing_secret_file)


def _secret(hidden: Hidden | None, file: Any) -> Secret | None:
    if hidden is None and file is None:
        return None
    return held(hidden, file)
