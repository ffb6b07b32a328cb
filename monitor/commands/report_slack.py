"""`vllm-monitor report --slack`: puts a report up in Slack, now."""

import time
from dataclasses import dataclass
from datetime import tzinfo

from monitor.bulletins import boards_of, bulletin_of
from monitor.charts.child import UNHURRIED, ChartError, Child, is_installed
from monitor.clock import SystemClock
from monitor.commands.query import QueryError
from monitor.commands.usage import UsageError
from monitor.config.config import Config
from monitor.config.receiving import ReceiverConfig
from monitor.dispatch.notification import NotifyError
from monitor.model.instant import Duration, to_seconds
from monitor.notify.slack.bulletin import picture_of
from monitor.notify.slack.pace import Pace
from monitor.notify.slack.upload import Picture
from monitor.report.gather import Gathered
from monitor.report.picture import sheet_of
from monitor.report.report import Report
from monitor.report.texts import title


def receiver_asked(config: Config, name: str | None) -> ReceiverConfig:
    """Return the receiver of this name, or the one of the route's root. Raises UsageError where it has no Slack."""
    wanted = name or config.route.receiver
    receiver = next((one for one in config.receivers if one.name == wanted), None)
    if receiver is None:
        raise UsageError(f"there is no receiver {wanted}")
    if not receiver.slack_configs:
        raise UsageError(f"the receiver {wanted} has no slack_configs: choose another one with --receiver")
    return receiver


@dataclass(frozen=True)
class Slack:
    """All Slack channels of a receiver."""

    config: Config
    receiver: ReceiverConfig

    def post(self, found: Gathered, report: Report, zone: tzinfo) -> list[str]:
        """Post to each; returns their names. Raises QueryError when one fails."""
        bulletin, picture = bulletin_of(report, zone), _picture(found, report, zone)
        names = []
        base_url, now = self.config.global_.slack_base_url, SystemClock().now
        for name, board in boards_of(self.receiver, base_url, Pace(), now, _pause):
            try:
                board.put_up(bulletin, picture)
            except NotifyError as err:
                raise QueryError(f"{name}: not posted: {err}") from err
            names.append(name)
        return names


def _picture(found: Gathered, report: Report, zone: tzinfo) -> Picture | None:
    """Return the picture, None where there can be none: the text says the same."""
    sheet = sheet_of(found, title(report, zone), str(zone)) if is_installed() else None
    try:
        return None if sheet is None else picture_of(Child(timeout=UNHURRIED).draw(sheet), sheet.title)
    except ChartError:
        return None


def _pause(duration: Duration) -> bool:
    time.sleep(to_seconds(duration))
    return True
