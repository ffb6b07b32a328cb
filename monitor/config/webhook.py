"""Receivers at a URL that take Alertmanager's body: `webhook_configs`, in Alertmanager's words."""

from collections.abc import Iterator
from typing import ClassVar

from monitor.config import not_yet
from monitor.config.fields import FilePath, PositiveDuration, SecretUrl
from monitor.config.httpclient import HttpConfig
from monitor.model.instant import SECOND
from monitor.yamldoc.kinds import Boolean, Count
from monitor.yamldoc.section import Section


class WebhookConfig(Section):
    """One URL. `timeout` is milliseconds for a whole exchange; `max_alerts` 0 is no limit."""

    not_yet: ClassVar[dict[str, str]] = not_yet.WEBHOOK_CONFIG

    url: SecretUrl | None = None
    url_file: FilePath | None = None
    send_resolved: Boolean = True
    max_alerts: Count = 0
    timeout: PositiveDuration = 10 * SECOND
    http_config: HttpConfig = HttpConfig()

    def problems(self) -> Iterator[tuple[str, str]]:
        if (self.url is None) == (self.url_file is None):
            yield "url", "set one of url and url_file"
