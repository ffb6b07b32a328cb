"""From a report to a bulletin, and from a receiver to the boards that it is put up on."""

from collections.abc import Callable, Iterator
from datetime import tzinfo

from monitor.config.receiving import ReceiverConfig
from monitor.config.secret import held
from monitor.model.instant import Duration, Instant
from monitor.notify.slack.bulletin import Board, BotBoard, Bulletin, Paragraph, WebhookBoard
from monitor.notify.slack.channel import Channel
from monitor.notify.slack.pace import Pace
from monitor.notify.slack.upload import Upload
from monitor.notify.slack.web_api import WebApi
from monitor.notify.slack.webhook import SlackWebhook
from monitor.report.report import Fired, Report
from monitor.report.texts import alert_row, heading, rows, title

_MOST_ALERTS = 10
_MORE = "vllm-monitor report has everything"


def bulletin_of(report: Report, zone: tzinfo) -> Bulletin:
    """Return what is posted of a report; of the same period it is the same bulletin."""
    alerts = tuple((fired.alert.name, _told_of(fired)) for fired in report.alerts[:_MOST_ALERTS])
    left_out = len(report.alerts) - len(alerts)
    if left_out:
        alerts = (*alerts, (f"{left_out} more", _MORE))
    fired = Paragraph("alerts" if alerts else "no alert fired", alerts)
    models = tuple(Paragraph(heading(report, one), tuple(rows(one, zone))) for one in report.models)
    # Alerts first: they must not be what is left out where there are many models.
    return Bulletin(
        f"report-{report.period.start}-{report.period.end}", f"vLLM: {title(report, zone)}", (fired, *models), _MORE
    )


def _told_of(fired: Fired) -> str:
    _, severity, where, times, whole, longest, usual, answers = alert_row(fired)
    over = f", half of them over within {usual}" if fired.times > 1 and fired.median_minutes is not None else ""
    acknowledged = f"; acknowledged {answers}" if fired.answered is not None else ""
    return f"{severity}, {where}: fired {times}, {whole} in all, {longest} at most{over}{acknowledged}"


def boards_of(
    receiver: ReceiverConfig, base_url: str, pace: Pace, now: Callable[[], Instant], pause: Callable[[Duration], bool]
) -> Iterator[tuple[str, Board]]:
    """Yield the boards of a receiver by the names of its integrations: those of Slack."""
    for number, slack in enumerate(receiver.slack_configs):
        name = f"{receiver.name}/slack[{number}]"
        if slack.api_url is not None or slack.api_url_file is not None:
            yield name, WebhookBoard(SlackWebhook(held(slack.api_url, slack.api_url_file)), pause)
            continue
        api = WebApi(held(slack.bot_token, slack.bot_token_file), base_url)
        upload = None if slack.graphs is False else Upload(api)
        yield name, BotBoard(Channel(api, slack.channel, pace, now), upload, pace.free_at, now, pause)
