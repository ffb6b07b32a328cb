"""The keys that are refused by name exist in the real programs; a key that exists nowhere would be a typing mistake."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from monitor.config import not_yet
from monitor.config.alerting import AlertmanagerConfig
from monitor.config.clients import Authorization, BasicAuth, TLSConfig
from monitor.config.general import GlobalConfig, StorageConfig, WebConfig
from monitor.config.httpclient import HttpConfig
from monitor.config.inhibition import InhibitRuleSection
from monitor.config.intervals import IntervalSection, TimeIntervalsSection, TimesSection
from monitor.config.pagerduty import PagerDutyConfig
from monitor.config.receiving import ReceiverConfig, SlackConfig
from monitor.config.remotewriting import QueueConfig, RemoteWriteConfig
from monitor.config.routing import RouteSection
from monitor.config.scraping import ScrapeConfig, StaticConfig
from monitor.config.webhook import WebhookConfig
from tests.engines import engine

ALERTMANAGER_TOP = ("inhibit_rules", "time_intervals", "mute_time_intervals", "templates")
ALERTMANAGER_GLOBAL = re.compile(
    "smtp|http_config|pagerduty|opsgenie|victorops|wechat|telegram|webex|jira|rocketchat|mattermost|slack|resolve_timeout"
)
# Prometheus before 3.0 or after 3.5 has these, or any build that leaves no discovery out.
OTHER_BUILDS = re.compile(
    "scrape_classic_histograms|scrape_native_histograms|extra_scrape_metrics"
    "|(azure|consul|kuma|nomad|openstack|stackit)_sd_configs"
)
OURS = {
    "slack_base_url",
    "bot_token",
    "bot_token_file",
    "console_configs",
    "fallback",
    "severities",
    "probe",
    "history",
    "path",
    "retention",
    "listen",
    "external_url",
}


def table(keys: Iterable[str], indent: int, **values: str) -> str:
    """Return a table in which every key has no value but those in `values`, which come last."""
    lines = {**dict.fromkeys(sorted(set(keys) - OURS - values.keys()), ""), **values}
    return "".join(f"{' ' * indent}{key}: {value}\n" for key, value in lines.items())


def unknown(program: str, command: str, file: Path) -> set[str]:
    done = subprocess.run([engine(program, "newer"), *command.split(), str(file)], capture_output=True, check=False)
    return set(re.findall(r"field (\w+) not found", (done.stdout + done.stderr).decode()))


def test_prometheus_knows_every_key_that_is_its_own(tmp_path: Path) -> None:
    top = [key for key in not_yet.TOP if key not in ALERTMANAGER_TOP]
    global_ = [*GlobalConfig.fields_by_key(), *not_yet.GLOBAL]
    jobs = [
        table([*ScrapeConfig.fields_by_key(), *not_yet.SCRAPE_CONFIG], 4, job_name="a"),
        table([], 4, job_name="b", tls_config="") + table([*TLSConfig.fields_by_key(), *not_yet.TLS_CONFIG], 6),
        table([], 4, job_name="c", basic_auth="") + table([*BasicAuth.fields_by_key(), *not_yet.BASIC_AUTH], 6),
        table([], 4, job_name="d", authorization="")
        + table([*Authorization.fields_by_key(), *not_yet.AUTHORIZATION], 6),
        table([], 4, job_name="e", static_configs="") + "      -\n" + table(StaticConfig.fields_by_key(), 8),
    ]
    (tmp_path / "prometheus.yaml").write_text(
        table(top, 0)
        + "global:\n"
        + table([key for key in global_ if not ALERTMANAGER_GLOBAL.match(key)], 2)
        + "storage:\n"
        + table([*StorageConfig.fields_by_key(), *not_yet.STORAGE], 2)
        + "alerting:\n  alertmanagers:\n    -\n"
        + table([*AlertmanagerConfig.fields_by_key(), *not_yet.ALERTMANAGER], 6)
        + "scrape_configs:\n"
        + "".join(f"  -\n{job}" for job in jobs)
    )
    found = unknown("promtool", "check config", tmp_path / "prometheus.yaml")
    assert {key for key in found if not OTHER_BUILDS.match(key)} == set()


def test_alertmanager_knows_every_key_that_is_its_own(tmp_path: Path) -> None:
    global_ = [*GlobalConfig.fields_by_key(), *not_yet.GLOBAL]
    slack = table([*SlackConfig.fields_by_key(), *not_yet.SLACK_CONFIG], 8, api_url="http://x", channel="x")
    (tmp_path / "alertmanager.yaml").write_text(
        table([key for key in ALERTMANAGER_TOP if key not in ("inhibit_rules", "time_intervals")], 0)
        + "global:\n"
        + table([key for key in global_ if ALERTMANAGER_GLOBAL.match(key)], 2)
        + "route:\n"
        + table([*RouteSection.fields_by_key(), *not_yet.ROUTE], 2, receiver="a")
        + "inhibit_rules:\n  -\n"
        + table([*InhibitRuleSection.fields_by_key(), *not_yet.INHIBIT_RULE], 4)
        + "time_intervals:\n  -\n"
        + table(TimeIntervalsSection.fields_by_key(), 4, name="a", time_intervals="")
        + "      -\n"
        + table(IntervalSection.fields_by_key(), 8, times="")
        + "          -\n"
        + table(TimesSection.fields_by_key(), 12)
        + "receivers:\n  -\n"
        + table([*ReceiverConfig.fields_by_key(), *not_yet.RECEIVER], 4, name="a", slack_configs="")
        + f"      -\n{slack}"
        + "    webhook_configs:\n      -\n"
        + table([*WebhookConfig.fields_by_key(), *not_yet.WEBHOOK_CONFIG], 8, url="http://x", http_config="")
        + table([*HttpConfig.fields_by_key(), *not_yet.HTTP_CONFIG], 10)
        + "    pagerduty_configs:\n      -\n"
        + table([*PagerDutyConfig.fields_by_key(), *not_yet.PAGERDUTY_CONFIG], 8, routing_key="x")
    )
    assert unknown("amtool", "check-config", tmp_path / "alertmanager.yaml") == set()


def test_what_is_supported_is_not_refused_by_name() -> None:
    pairs: list[tuple[Iterable[str], Iterable[str]]] = [
        (section.fields_by_key(), section.not_yet)
        for section in (
            *(GlobalConfig, ScrapeConfig, StaticConfig, TLSConfig, BasicAuth, Authorization),
            *(InhibitRuleSection, RouteSection, ReceiverConfig, SlackConfig, StorageConfig, WebConfig),
            *(WebhookConfig, HttpConfig, PagerDutyConfig, RemoteWriteConfig, QueueConfig),
        )
    ]
    assert [set(fields) & set(refused) for fields, refused in pairs] == [set()] * len(pairs)
