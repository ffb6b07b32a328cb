"""The configuration of one container, without a file: from flags and environment variables."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import SplitResult, urlsplit

from pydantic import ValidationError

from monitor.config.alerting import AlertingConfig, ReceivedConfig
from monitor.config.availability import SHORTEST, TOO_SHORT, HaConfig
from monitor.config.clients import Authorization
from monitor.config.config import Config
from monitor.config.defaults import CONSOLE, only_route
from monitor.config.fields import address, base_url, secret, secret_url, target, url
from monitor.config.general import GlobalConfig, StorageConfig, WebConfig
from monitor.config.inhibition import shipped_inhibit_rules
from monitor.config.receiving import ReceiverConfig, SlackConfig
from monitor.config.scraping import ScrapeConfig, StaticConfig
from monitor.config.upstream import PrometheusConfig
from monitor.config.webfile import WebFile, read_web_file
from monitor.model.instant import DurationError, parse_duration
from monitor.yamldoc.mistake import NOWHERE, DocumentError, Mistake, shown

T = TypeVar("T")

TARGETS = "VLLM_MONITOR_TARGETS"
STORAGE = "VLLM_MONITOR_STORAGE"
SERVER = "VLLM_MONITOR_PROMETHEUS"
SETTINGS = "VLLM_MONITOR_SET"
LISTEN = "VLLM_MONITOR_LISTEN"
WEB_FILE = "VLLM_MONITOR_WEB_CONFIG_FILE"
LEASE = "VLLM_MONITOR_HA_LEASE"
POSTED_TOKEN = "VLLM_MONITOR_WEBHOOK_TOKEN"  # noqa: S105 - the name of a variable
POSTED_TOKEN_FILE = "VLLM_MONITOR_WEBHOOK_TOKEN_FILE"  # noqa: S105 - the same
CHANNEL = "SLACK_CHANNEL"
TOKEN = "SLACK_BOT_TOKEN"  # noqa: S105 - the name of a variable
TOKEN_FILE = "SLACK_BOT_TOKEN_FILE"  # noqa: S105 - the same
WEBHOOK = "SLACK_WEBHOOK_URL"
WEBHOOK_FILE = "SLACK_WEBHOOK_URL_FILE"
BASE_URL = "SLACK_BASE_URL"
# Ways to reach Slack, of which one may be set.
_WAYS = (TOKEN, TOKEN_FILE, WEBHOOK, WEBHOOK_FILE)
JOB = "vllm"
RECEIVER = "slack"


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line says; an empty value leaves it to the variable, and then to the default."""

    targets: tuple[str, ...] = ()
    rule_settings: tuple[str, ...] = ()
    slack_channel: str = ""
    storage: str = ""
    listen: str = ""
    web_config_file: str = ""
    ha_lease: str = ""
    prometheus: str = ""


class _Setting(NamedTuple):
    """A value, and the flag or variable that it comes from."""

    source: str
    value: str


class _Page(NamedTuple):
    """The part of a target that is the same for all targets of a job."""

    scheme: str
    path: str


def from_flags(flags: Flags, environment: Mapping[str, str]) -> Config:
    """
    Return the configuration that flags and environment variables describe. A flag goes before its variable.

    Without any Slack setting alerts are printed. Raises DocumentError; its mistakes name the flag or the variable.
    """
    reader = _Reader(environment)
    channel = reader.setting("--slack-channel", flags.slack_channel, CHANNEL)
    storage = reader.setting("--storage", flags.storage, STORAGE)
    listen = reader.setting("--listen", flags.listen, LISTEN)
    web_file = reader.setting("--web.config.file", flags.web_config_file, WEB_FILE)
    lease = reader.setting("--ha-lease", flags.ha_lease, LEASE)
    server = reader.setting("--prometheus", flags.prometheus, SERVER)
    prometheus = reader.read(server, _prometheus, None)
    base = reader.setting("", "", BASE_URL)
    receiver = reader.receiver(channel)
    defaults = GlobalConfig()
    global_ = GlobalConfig(slack_base_url=reader.read(base, base_url, defaults.slack_base_url))
    config = Config(
        global_=global_.filled(asks=prometheus is not None),
        prometheus=prometheus,
        scrape_configs=tuple(reader.scrape_configs(flags.targets, needed=not server.value)),
        rule_files=None,
        rule_settings=reader.rule_settings(flags.rule_settings),
        route=only_route(receiver.name),
        receivers=(receiver,),
        storage=StorageConfig(path=reader.read(storage, Path, StorageConfig().path)),
        web=WebConfig(listen=reader.read(listen, address, WebConfig().listen)),
        web_file=reader.web_file(web_file),
        ha=reader.read(lease, _ha, None),
        alerting=reader.alerting(),
        inhibit_rules=shipped_inhibit_rules(),
    )
    if reader.mistakes:
        raise DocumentError(reader.mistakes)
    return config


class _Reader:
    """Reads settings; what is wrong goes to `mistakes`."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.mistakes: list[Mistake] = []

    def setting(self, flag: str, value: str, variable: str) -> _Setting:
        return _Setting(flag, value) if value else _Setting(variable, self._environment.get(variable, "").strip())

    def wrong(self, source: str, what: str) -> None:
        self.mistakes.append(Mistake(source, NOWHERE, "", what))

    def read(self, setting: _Setting, kind: Callable[[str], T], default: T) -> T:
        if not setting.value:
            return default
        try:
            return kind(setting.value)
        except ValueError as err:
            self.wrong(setting.source, str(err))
            return default

    def web_file(self, setting: _Setting) -> WebFile:
        try:
            return read_web_file(Path(setting.value)) if setting.value else WebFile()
        except DocumentError as err:
            self.mistakes.extend(err.mistakes)
            return WebFile()

    def rule_settings(self, given: tuple[str, ...]) -> tuple[str, ...]:
        settings = given or tuple(self._environment.get(SETTINGS, "").split())
        if settings:
            # Only those who change some need the schema of values.
            from monitor.rulebook.values import read_values

            try:
                read_values(None, settings)
            except DocumentError as err:
                self.mistakes.extend(err.mistakes)
        return settings

    def alerting(self) -> AlertingConfig:
        """Return what Alertmanagers must show that post to us."""
        ways = [_Setting(name, self._environment.get(name, "").strip()) for name in (POSTED_TOKEN, POSTED_TOKEN_FILE)]
        text, file = ways
        if text.value and file.value:
            self.wrong(file.source, f"at most one of {text.source}, {file.source} can be set")
            return AlertingConfig()
        if not text.value and not file.value:
            return AlertingConfig()
        shown = Authorization(
            credentials=self.read(text, secret, None), credentials_file=Path(file.value) if file.value else None
        )
        return AlertingConfig(webhook=ReceivedConfig(authorization=shown))

    def receiver(self, channel: _Setting) -> ReceiverConfig:
        ways = [_Setting(name, self._environment[name]) for name in _WAYS if self._environment.get(name, "").strip()]
        if len(ways) > 1:
            self.wrong(ways[1].source, f"at most one of {', '.join(way.source for way in ways)} can be set")
        if not ways:
            if channel.value:
                self.wrong(channel.source, f"a channel needs {TOKEN}, {TOKEN_FILE} or {WEBHOOK} as well")
            return CONSOLE
        way = ways[0]
        if way.source in (TOKEN, TOKEN_FILE) and not channel.value:
            self.wrong(way.source, f"a bot needs a channel: set --slack-channel or {CHANNEL}")
            return CONSOLE
        slack = SlackConfig(
            channel=channel.value,
            bot_token=self.read(way, secret, None) if way.source == TOKEN else None,
            bot_token_file=Path(way.value.strip()) if way.source == TOKEN_FILE else None,
            api_url=self.read(way, secret_url, None) if way.source == WEBHOOK else None,
            api_url_file=Path(way.value.strip()) if way.source == WEBHOOK_FILE else None,
        )
        return ReceiverConfig(name=RECEIVER, slack_configs=(slack,))

    def scrape_configs(self, given: tuple[str, ...], *, needed: bool) -> Iterator[ScrapeConfig]:
        """Yield one job for all targets, or more where their URLs differ in scheme or path."""
        settings = [_Setting("--target", value) for value in given if value.strip()]
        if not settings:
            words = re.split(r"[\s,]+", self._environment.get(TARGETS, ""))
            settings = [_Setting(TARGETS, word) for word in words if word]
        if not settings and needed:
            self.wrong("--target", f"nothing to watch: give --target http://host:8000, or set {TARGETS}")
        jobs: dict[_Page, dict[str, None]] = {}
        for setting in settings:
            found = self.read(setting, _target, None)
            if found is not None:
                jobs.setdefault(found[0], {})[found[1]] = None
        for number, (page, targets) in enumerate(jobs.items(), 1):
            yield ScrapeConfig(
                job_name=JOB if number == 1 else f"{JOB}-{number}",
                scheme=page.scheme,
                metrics_path=page.path,
                static_configs=(StaticConfig(targets=tuple(targets)),),
            )


def _ha(written: str) -> HaConfig:
    """Return how long a daemon that hangs is waited for. Raises ValueError."""
    try:
        lease = parse_duration(written)
    except DurationError as err:
        raise ValueError(f"{shown(written)} is not a duration (write 30s, 5m, 1h30m)") from err
    if lease < SHORTEST:
        raise ValueError(TOO_SHORT)
    return HaConfig(lease=lease)


def _target(written: str) -> tuple[_Page, str] | None:
    """Return the page and `host:port` of a URL, of host:port, or of host:port/path. Raises ValueError."""
    with_scheme = written if "://" in written else f"http://{written}"
    parts: SplitResult = urlsplit(with_scheme)
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"{shown(written)} begins with neither http:// nor https://")
    if parts.username is not None:
        # The text is not repeated: it holds a password.
        raise ValueError("a user name and password in a URL are not supported: use basic_auth in a configuration file")
    if parts.query or parts.fragment:
        raise ValueError(f"{shown(written)} has a query: use params in a configuration file")
    path = parts.path if parts.path not in ("", "/") else "/metrics"
    return _Page(parts.scheme, path), target(parts.netloc)


def _prometheus(written: str) -> PrometheusConfig:
    """Return who is asked. Raises ValueError."""
    try:
        return PrometheusConfig(url=url(written))
    except ValidationError as err:
        raise ValueError(str(err.errors()[0]["ctx"]["error"])) from err
