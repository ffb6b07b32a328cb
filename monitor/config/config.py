"""The configuration as a whole: frozen values in which everything that may be left out is filled in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from monitor.config.alerting import AlertingConfig
from monitor.config.availability import HaConfig
from monitor.config.general import GlobalConfig, StorageConfig, WebConfig
from monitor.config.heartbeat import HeartbeatConfig
from monitor.config.interactive import InteractiveConfig
from monitor.config.receiving import ReceiverConfig
from monitor.config.remotewriting import RemoteWriteConfig
from monitor.config.reporting import ReportConfig
from monitor.config.scraping import ScrapeConfig
from monitor.config.upstream import PrometheusConfig
from monitor.config.webfile import WebFile
from monitor.dispatch.inhibit import InhibitRule
from monitor.dispatch.route import Route
from monitor.dispatch.timeinterval import TimeInterval
from monitor.yamldoc.mistake import Mistake


@dataclass(frozen=True, slots=True)
class Config:
    """
    Everything that the daemon is told.

    `rule_files` are files that exist, or None for the shipped rules; those are built with the values in
    `rule_values_file` where it is set, and with `rule_settings` (`alerts.VLLMTargetDown.for=2m`). `time_intervals` has
    under each name the intervals of which one is enough. `web_file` is what stands in `web.config_file`. `warnings`:
    what is said but hardly meant.
    """

    global_: GlobalConfig
    scrape_configs: tuple[ScrapeConfig, ...]
    rule_files: tuple[Path, ...] | None
    route: Route
    receivers: tuple[ReceiverConfig, ...]
    storage: StorageConfig
    web: WebConfig
    inhibit_rules: tuple[InhibitRule, ...] = ()
    time_intervals: Mapping[str, tuple[TimeInterval, ...]] = field(default_factory=dict)
    heartbeat: HeartbeatConfig | None = None
    report: ReportConfig | None = None
    rule_values_file: Path | None = None
    rule_settings: tuple[str, ...] = ()
    slack: InteractiveConfig = field(default_factory=InteractiveConfig)
    # None where the folder belongs to one daemon.
    ha: HaConfig | None = None
    alerting: AlertingConfig = field(default_factory=AlertingConfig)
    web_file: WebFile = field(default_factory=WebFile)
    remote_write: tuple[RemoteWriteConfig, ...] = ()
    # Of `mode: prometheus`; None where the daemon evaluates the rules itself.
    prometheus: PrometheusConfig | None = None
    warnings: tuple[Mistake, ...] = ()
