"""The configuration as a whole: frozen values in which everything that may be left out is filled in."""

from dataclasses import dataclass
from pathlib import Path

from monitor.config.general import GlobalConfig, StorageConfig, WebConfig
from monitor.config.receiving import ReceiverConfig
from monitor.config.scraping import ScrapeConfig
from monitor.dispatch.route import Route
from monitor.yamldoc.mistake import Mistake


@dataclass(frozen=True, slots=True)
class Config:
    """
    Everything that the daemon is told.

    `rule_files` are files that exist, or None for the shipped rules. `warnings`: what is said but hardly meant.
    """

    global_: GlobalConfig
    scrape_configs: tuple[ScrapeConfig, ...]
    rule_files: tuple[Path, ...] | None
    route: Route
    receivers: tuple[ReceiverConfig, ...]
    storage: StorageConfig
    web: WebConfig
    warnings: tuple[Mistake, ...] = ()
