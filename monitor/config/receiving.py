"""Who is told: `receivers` in Alertmanager's words, and the terminal as one more of them."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import ClassVar, Self

from monitor.config import not_yet
from monitor.config.fields import FilePath, PositiveDuration, SecretText, SecretUrl
from monitor.config.general import GlobalConfig
from monitor.config.interactive import Mention
from monitor.config.pagerduty import PagerDutyConfig
from monitor.config.webhook import WebhookConfig
from monitor.notify.slack.incident import DIGEST_ABOVE, FLAP_HOLD, FLAP_WINDOW
from monitor.yamldoc.kinds import Boolean, Count, Duration, Text
from monitor.yamldoc.section import Section

TOKENS = ("bot_token", "bot_token_file")
WEBHOOKS = ("api_url", "api_url_file")


class SlackConfig(Section):
    """
    One Slack channel, by a bot (`bot_token` or `bot_token_file`) or by an incoming webhook (`api_url` or its file).

    Files are read when a message is sent. What fires again within `flap_window` of its end is the same incident, which
    is over, from the third time on, when nothing has fired for `flap_hold`; more than `digest_above` new incidents at
    once are one digest. `graphs` None: where they can be drawn.
    `mention` is rung for when something critical begins.
    """

    not_yet: ClassVar[dict[str, str]] = not_yet.SLACK_CONFIG

    channel: Text = ""
    bot_token: SecretText | None = None
    bot_token_file: FilePath | None = None
    api_url: SecretUrl | None = None
    api_url_file: FilePath | None = None
    send_resolved: Boolean = True
    flap_window: PositiveDuration = FLAP_WINDOW
    flap_hold: Duration = FLAP_HOLD
    digest_above: Count = DIGEST_ABOVE
    graphs: Boolean | None = None
    mention: Mention = ""

    @property
    def ways(self) -> list[str]:
        """The fields of the four that are set."""
        return [name for name in (*TOKENS, *WEBHOOKS) if getattr(self, name) is not None]

    def problems(self) -> Iterator[tuple[str, str]]:
        if len(self.ways) > 1:
            yield self.ways[1], f"at most one of {', '.join(self.ways)} can be set"
        if not self.channel and any(name in TOKENS for name in self.ways):
            # YAML takes `channel: #alerts` for a key with a comment behind it.
            yield "channel", '"channel" must be set for a bot (put a name that begins with # in quotes)'
        if self.mention and not any(name in TOKENS for name in self.ways):
            yield "mention", "a mention needs a bot: a webhook would ring with every post"
        if self.graphs and not any(name in TOKENS for name in self.ways):
            yield "graphs", "graphs need a bot: a webhook cannot upload"
        elif self.graphs and find_spec("matplotlib") is None:
            yield "graphs", "graphs need matplotlib: install vllm-monitor[charts]"

    def filled(self, global_: GlobalConfig) -> Self:
        """Return a copy that has the webhook of `global_` when it has no way of its own."""
        if self.ways:
            return self
        return self.model_copy(update={name: getattr(global_, f"slack_{name}") for name in WEBHOOKS})


class ConsoleConfig(Section):
    """Prints to the terminal of the daemon."""

    send_resolved: Boolean = True


class ReceiverConfig(Section):
    """A name that routes use, and every way in which it is told; `fallback` is another one, for when that fails."""

    not_yet: ClassVar[dict[str, str]] = not_yet.RECEIVER

    name: Text
    fallback: Text = ""
    slack_configs: tuple[SlackConfig, ...] = ()
    webhook_configs: tuple[WebhookConfig, ...] = ()
    pagerduty_configs: tuple[PagerDutyConfig, ...] = ()
    console_configs: tuple[ConsoleConfig, ...] = ()

    def problems(self) -> Iterator[tuple[str, str]]:
        if not self.name:
            yield "name", '"name" must not be empty'

    def filled(self, global_: GlobalConfig) -> Self:
        return self.model_copy(update={"slack_configs": tuple(slack.filled(global_) for slack in self.slack_configs)})
