"""`vllm-monitor test-slack`: tries every Slack receiver of a configuration, and says what to mend."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from monitor.commands.slack_exam import BotExam, Finding, Outcome, bad
from monitor.commands.slack_limits import EXTRAS
from monitor.commands.slack_remedies import remedy
from monitor.config.config import Config
from monitor.config.receiving import SlackConfig
from monitor.config.secret import held
from monitor.dispatch.notification import Notification, NotifyError, Reason
from monitor.model.alert import Alert
from monitor.model.instant import Instant
from monitor.model.labels import EMPTY, Labels
from monitor.notify.slack.web_api import WebApi
from monitor.notify.slack.webhook import SlackWebhook

_STYLES = {Outcome.GOOD: "green", Outcome.ADVICE: "yellow", Outcome.LEFT_OUT: "dim", Outcome.BAD: "bold red"}
_WIDTH = 9


def try_all(config: Config, console: Console, now: Instant, *, full: bool, keep: bool) -> str:
    """Try them and print the findings; return what is wrong as a whole, or ""."""
    tried = failed = 0
    for receiver in config.receivers:
        for number, slack in enumerate(receiver.slack_configs):
            tried += 1
            console.print(Text(f"{receiver.name}/slack[{number}]", "bold"))
            for finding in examine(slack, config.global_.slack_base_url, now, full=full, keep=keep):
                failed += finding.outcome is Outcome.BAD
                _print(finding, console)
    if config.slack.socket_token is not None:
        console.print(Text("buttons", "bold"))
        finding = _buttons(WebApi(config.slack.socket_token, config.global_.slack_base_url))
        failed += finding.outcome is Outcome.BAD
        _print(finding, console)
    if not tried:
        return "there is no Slack receiver: set slack_configs in a file, or SLACK_BOT_TOKEN or SLACK_WEBHOOK_URL"
    return f"{failed} of the steps failed" if failed else ""


def examine(slack: SlackConfig, base_url: str, now: Instant, *, full: bool, keep: bool) -> Iterator[Finding]:
    """Yield what comes of each step."""
    if slack.api_url is not None or slack.api_url_file is not None:
        yield from _webhook(SlackWebhook(held(slack.api_url, slack.api_url_file)), now)
        return
    api = WebApi(held(slack.bot_token, slack.bot_token_file), base_url)
    exam = BotExam(api, slack.channel, f"test-{now}", keep=keep, extras=EXTRAS if full else ())
    yield from exam.findings()


def _webhook(webhook: SlackWebhook, now: Instant) -> Iterator[Finding]:
    try:
        webhook.notify(_sample(now))
    except NotifyError as err:
        yield bad("post", err)
        return
    yield Finding("post", Outcome.GOOD, "a message stands in the webhook's channel")
    yield Finding(
        "edit", Outcome.LEFT_OUT, "a webhook only posts: for one message an incident, and buttons, take a bot"
    )


def _buttons(api: WebApi) -> Finding:
    """Return whether Socket Mode can be opened with the app's token."""
    try:
        api.ask(lambda client: client.api_call("apps.connections.open"))
    except NotifyError as err:
        hint = (
            "an app-level token (xapp-…) with connections:write, under Basic Information, and Socket Mode switched on"
        )
        return Finding("socket", Outcome.BAD, str(err), f"{hint}; {remedy(err)}")
    return Finding("socket", Outcome.GOOD, "Slack gives an address for Socket Mode")


def _sample(now: Instant) -> Notification:
    alert = Alert(
        Labels.of(alertname="VLLMMonitorTest", severity="info"),
        Labels.of(summary="vllm-monitor test-slack", description="If you can read this, messages arrive."),
        starts_at=now,
        value=1.0,
    )
    return Notification("test", "test", EMPTY, (alert,), now, Reason.FIRST, id=f"test-{now}")


def _print(finding: Finding, console: Console) -> None:
    line = Text.assemble(
        "  ", (f"{finding.outcome.value:<{_WIDTH}}", _STYLES[finding.outcome]), (f"{finding.step:<{_WIDTH}} ", "bold")
    )
    console.print(line.append(finding.text), soft_wrap=True)
    if finding.what_to_do:
        console.print(Text(" " * (2 + _WIDTH) + "→ " + finding.what_to_do), soft_wrap=True)
