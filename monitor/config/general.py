"""The sections `global`, `storage` and `web`."""

from typing import ClassVar, Self

from pydantic import Field

from monitor.config import not_yet
from monitor.config.fields import Address, BaseUrl, FilePath, HostName, ListenAddress, PositiveDuration, SecretUrl, Url
from monitor.config.history import HistoryConfig
from monitor.model.instant import HOUR, MINUTE, SECOND
from monitor.model.labels import EMPTY
from monitor.yamldoc.kinds import Duration, LabelSet
from monitor.yamldoc.section import Section

SCRAPE_INTERVAL = 5 * SECOND
SCRAPE_TIMEOUT = 5 * SECOND
# How often a Prometheus is asked where nothing else is said.
ASKED_INTERVAL = 15 * SECOND


class GlobalConfig(Section):
    """What holds for all jobs and receivers. Durations are milliseconds."""

    not_yet: ClassVar[dict[str, str]] = not_yet.GLOBAL

    scrape_interval: PositiveDuration = SCRAPE_INTERVAL
    scrape_timeout: PositiveDuration = SCRAPE_TIMEOUT
    evaluation_interval: PositiveDuration = SCRAPE_INTERVAL
    rule_query_offset: Duration = 0
    external_labels: LabelSet = EMPTY
    resolve_timeout: PositiveDuration = 5 * MINUTE
    slack_base_url: BaseUrl = "https://slack.com/api/"
    slack_api_url: SecretUrl | None = None
    slack_api_url_file: FilePath | None = None

    def filled(self, *, asks: bool = False) -> Self:
        """
        Return a copy in which a timeout that is not given fits the interval, and rules follow the scrapes.

        With `asks`, somebody else is asked for what they find, and not more often than usual.
        """
        update: dict[str, int] = {}
        if "scrape_timeout" not in self.model_fields_set:
            update["scrape_timeout"] = min(self.scrape_timeout, self.scrape_interval)
        if "evaluation_interval" not in self.model_fields_set:
            update["evaluation_interval"] = max(self.scrape_interval, ASKED_INTERVAL if asks else 0)
        return self.model_copy(update=update)


class StorageConfig(Section):
    """The folder that state is kept in, how far the window in memory reaches back at least, and what is kept longer."""

    not_yet: ClassVar[dict[str, str]] = not_yet.STORAGE

    path: FilePath = Field(default="data", validate_default=True)
    retention: PositiveDuration = HOUR
    history: HistoryConfig = HistoryConfig()


class WebConfig(Section):
    """
    The daemon's own HTTP side; `external_url` is how others reach it, "" when that is not said.

    `allowed_hosts` are further names by which it may be asked. `config_file` says who may come in, and how.
    """

    listen: ListenAddress = Address("127.0.0.1", 9109)
    external_url: Url = ""
    allowed_hosts: tuple[HostName, ...] = ()
    config_file: FilePath | None = None
