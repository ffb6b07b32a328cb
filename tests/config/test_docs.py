"""docs/configuration.md: its example loads, and its tables name every setting with its true default."""

import re
from pathlib import Path

import pytest

from monitor.config import flags
from monitor.config.alerting import AlertingConfig, AlertmanagerConfig, ReceivedConfig
from monitor.config.availability import HaConfig
from monitor.config.clients import Authorization, BasicAuth, TLSConfig
from monitor.config.discovering import (
    AttachMetadataConfig,
    DnsSDConfig,
    FileSDConfig,
    HttpSDConfig,
    KubernetesSDConfig,
    NamespacesConfig,
    RelabelSection,
    SelectorConfig,
)
from monitor.config.general import GlobalConfig, StorageConfig, WebConfig
from monitor.config.heartbeat import HeartbeatConfig
from monitor.config.history import HistoryConfig
from monitor.config.httpclient import HttpConfig
from monitor.config.inhibition import InhibitRuleSection
from monitor.config.interactive import EscalateConfig, InteractiveConfig
from monitor.config.intervals import IntervalSection, TimeIntervalsSection
from monitor.config.pagerduty import PagerDutyConfig
from monitor.config.probing import CanaryConfig, ExposureConfig, OftenConfig, ProbeConfig, SeldomConfig
from monitor.config.read import load
from monitor.config.receiving import ConsoleConfig, ReceiverConfig, SlackConfig
from monitor.config.remotewriting import QueueConfig, RemoteWriteConfig
from monitor.config.reporting import ReportConfig
from monitor.config.routing import RouteSection
from monitor.config.scraping import ScrapeConfig, StaticConfig
from monitor.config.upstream import PrometheusConfig
from monitor.config.webhook import WebhookConfig
from monitor.yamldoc.compose import read_document
from monitor.yamldoc.report import Report
from monitor.yamldoc.section import Section

DOCS = Path(__file__).parents[2] / "docs" / "configuration.md"
SECTIONS: dict[str, type[Section]] = {
    "global": GlobalConfig,
    "prometheus": PrometheusConfig,
    "scrape_configs": ScrapeConfig,
    "authorization": Authorization,
    "basic_auth": BasicAuth,
    "tls_config": TLSConfig,
    "static_configs": StaticConfig,
    "file_sd_configs": FileSDConfig,
    "http_sd_configs": HttpSDConfig,
    "dns_sd_configs": DnsSDConfig,
    "kubernetes_sd_configs": KubernetesSDConfig,
    "namespaces": NamespacesConfig,
    "selectors": SelectorConfig,
    "attach_metadata": AttachMetadataConfig,
    "relabel_configs": RelabelSection,
    "probe": ProbeConfig,
    "health` and `load": OftenConfig,
    "version` and `models": SeldomConfig,
    "exposure": ExposureConfig,
    "canary": CanaryConfig,
    "route": RouteSection,
    "inhibit_rules": InhibitRuleSection,
    "time_intervals": TimeIntervalsSection,
    "An interval": IntervalSection,
    "receivers": ReceiverConfig,
    "slack_configs": SlackConfig,
    "webhook_configs": WebhookConfig,
    "http_config": HttpConfig,
    "pagerduty_configs": PagerDutyConfig,
    "console_configs": ConsoleConfig,
    "slack": InteractiveConfig,
    "escalate": EscalateConfig,
    "heartbeat": HeartbeatConfig,
    "report": ReportConfig,
    "storage": StorageConfig,
    "history": HistoryConfig,
    "remote_write": RemoteWriteConfig,
    "queue_config": QueueConfig,
    "web": WebConfig,
    "alerting": AlertingConfig,
    "alertmanagers": AlertmanagerConfig,
    "webhook": ReceivedConfig,
    "ha": HaConfig,
}


def documented(heading: str) -> dict[str, str]:
    """Return the default of each key in the table below a heading, as it is printed."""
    chapters = re.split(r"^#+ ", DOCS.read_text(), flags=re.MULTILINE)
    (chapter,) = [chapter for chapter in chapters if chapter.startswith((f"`{heading}`\n", f"{heading}\n"))]
    return dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", chapter, flags=re.MULTILINE))


@pytest.mark.parametrize("heading", SECTIONS)
def test_every_setting_is_documented(heading: str) -> None:
    assert set(documented(heading)) == set(SECTIONS[heading].fields_by_key())


@pytest.mark.parametrize("heading", SECTIONS)
def test_the_documented_defaults_are_true(heading: str) -> None:
    section = SECTIONS[heading]
    printed = documented(heading)
    needed = {"role": "pod", "files": "[x.json]", "names": "[x]"}
    required = {
        key: needed[key]
        if key in needed
        else "0 9 * * mon"
        if key == "schedule"
        else "[a=b]"
        if key.endswith("_matchers")
        else "http://x"
        for key, default in printed.items()
        if default.startswith("must be set")
    }
    literal = {key: found[1] for key, default in printed.items() if (found := re.search(r"(?:^|top )`(.+)`$", default))}
    assert read(section, {**required, **literal}) == read(section, required)


def read(section: type[Section], settings: dict[str, str]) -> Section:
    text = "\n".join(f"{key}: {value}" for key, value in settings.items())
    report = Report(read_document(text, "f"), lambda _root, _loc: "")
    found = report.read(section)
    assert found is not None, report.mistakes
    return found


def test_the_full_example_loads_and_uses_every_setting(tmp_path: Path) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(), flags=re.DOTALL)
    (tmp_path / "monitor.yaml").write_text(blocks[0])
    (tmp_path / "web.yml").write_text("basic_auth_users: {}\n")
    config = load(tmp_path / "monitor.yaml")
    assert [job.job_name for job in config.scrape_configs] == ["vllm", "vllm-staging"]
    assert all("does not exist" in told.what or "matches no file" in told.what for told in config.warnings)
    secrets = {
        "slack_api_url",
        "credentials",
        "password",
        "bot_token",
        "api_url",
        "routing_key",
        "app_token",
        "signing_secret",
    }
    every = {key for section in SECTIONS.values() for key in section.fields_by_key()}
    assert {key for key in every if not re.search(rf"\b{key}:", blocks[0])} == secrets


def test_every_variable_is_documented() -> None:
    read = {
        value for name, value in vars(flags).items() if name.isupper() and re.match("(VLLM_MONITOR|SLACK)_", str(value))
    }
    assert set(re.findall(r"`((?:VLLM_MONITOR|SLACK)_\w+)`", DOCS.read_text())) == read
