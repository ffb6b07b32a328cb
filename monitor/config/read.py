"""From a file to a Config, or to all that is wrong with it."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import PlainValidator

from monitor.config import checks, not_yet
from monitor.config.alerting import AlertingConfig
from monitor.config.availability import HaConfig
from monitor.config.config import Config
from monitor.config.defaults import CONSOLE, only_route
from monitor.config.fields import one_of
from monitor.config.general import GlobalConfig, StorageConfig, WebConfig
from monitor.config.heartbeat import HeartbeatConfig
from monitor.config.inhibition import inhibit_rules, shipped_inhibit_rules
from monitor.config.interactive import InteractiveConfig
from monitor.config.intervals import TimeIntervalsSection
from monitor.config.receiving import ReceiverConfig
from monitor.config.remotewriting import RemoteWriteConfig
from monitor.config.reporting import ReportConfig
from monitor.config.routing import RouteSection
from monitor.config.rulefiles import rule_files
from monitor.config.scraping import ScrapeConfig
from monitor.config.upstream import EMBEDDED, PROMETHEUS, PrometheusConfig
from monitor.config.webfile import WebFile, read_web_file
from monitor.config.where import where
from monitor.dispatch.route import Route
from monitor.dispatch.timeinterval import TimeInterval
from monitor.rulebook.read import shipped_groups
from monitor.rules.rulefmt import Check, read_rules
from monitor.yamldoc.compose import read_document
from monitor.yamldoc.kinds import Text
from monitor.yamldoc.mistake import DocumentError, Mistake, shown
from monitor.yamldoc.node import Loc, Scalar, SequenceNode, find
from monitor.yamldoc.report import Report
from monitor.yamldoc.section import Section
from monitor.yamldoc.source import is_file, read_bytes

_VALUES = "rule_values_file"

AnySection = TypeVar("AnySection", bound=Section)


class _Top(Section):
    """The keys of the file; their values are read one by one, so that a wrong one hides no other."""

    not_yet: ClassVar[dict[str, str]] = not_yet.TOP

    global_: Any = None
    mode: Annotated[str, PlainValidator(one_of(EMBEDDED, PROMETHEUS))] = EMBEDDED
    prometheus: Any = None
    scrape_configs: tuple[Any, ...] = ()
    rule_files: tuple[Text, ...] = ()
    rule_values_file: Text = ""
    route: Any = None
    receivers: tuple[Any, ...] = ()
    inhibit_rules: tuple[Any, ...] = ()
    time_intervals: tuple[Any, ...] = ()
    heartbeat: Any = None
    report: Any = None
    slack: Any = None
    alerting: Any = None
    ha: Any = None
    remote_write: tuple[Any, ...] = ()
    storage: Any = None
    web: Any = None


def load(path: Path) -> Config:
    """Return the configuration in a file; raises DocumentError with all its mistakes."""
    reader = _Reader(path)
    config = reader.config()
    reader.report.raise_if_wrong()
    return config


def check(path: Path, check_expr: Check, check_template: Check, shipped: Iterable[Path] = ()) -> list[Mistake]:
    """
    Return everything that is wrong with a configuration and the rule files it names, warnings included.

    `shipped` are the rule files in use when it names none.
    """
    try:
        reader = _Reader(path)
    except DocumentError as err:
        return list(err.mistakes)
    config = reader.config()
    mistakes = list(reader.report.mistakes)
    mistakes.extend(checks.target_files_are_right(config))
    try:
        if config.rule_files is None and config.rule_values_file is not None:
            shipped_groups(config.rule_values_file, check_expr, check_template)
        else:
            read_rules(shipped if config.rule_files is None else config.rule_files, check_expr, check_template)
    except DocumentError as err:
        mistakes.extend(err.mistakes)
    return sorted(set(mistakes))


class _Reader:
    """
    Reads one file. A part that is wrong is noted in `report` and left out, so that the others are checked too.

    Raises DocumentError when the file is not YAML.
    """

    def __init__(self, path: Path) -> None:
        self._folder = path.parent
        self.report = Report(read_document(read_bytes(path), str(path)), where)

    def config(self) -> Config:
        """Return the configuration; worth something only when the report has nothing but warnings."""
        top = self.report.read(_Top)
        prometheus = self._prometheus(top.mode if top is not None else EMBEDDED)
        global_ = self._global(asks=prometheus is not None)
        receivers = self._receivers(global_)
        web = self.report.read(WebConfig, ("web",)) or WebConfig()
        config = Config(
            global_=global_,
            prometheus=prometheus,
            scrape_configs=self._scrape_configs(global_),
            rule_files=rule_files(self.report, self._folder),
            route=self._route(receivers),
            receivers=receivers,
            storage=self.report.read(StorageConfig, ("storage",)) or StorageConfig(),
            web=web,
            web_file=self._web_file(web.config_file),
            remote_write=self._remote_write(),
            inhibit_rules=inhibit_rules(self.report) if self._given("inhibit_rules") else shipped_inhibit_rules(),
            time_intervals=self._time_intervals(),
            slack=self.report.read(InteractiveConfig, ("slack",)) or InteractiveConfig(),
            ha=self.report.read(HaConfig, ("ha",)) if self._given("ha") else None,
            alerting=self.report.read(AlertingConfig, ("alerting",)) or AlertingConfig(),
            heartbeat=self.report.read(HeartbeatConfig, ("heartbeat",)) if self._given("heartbeat") else None,
            report=self.report.read(ReportConfig, ("report",)) if self._given("report") else None,
            rule_values_file=self._rule_values_file(),
        )
        checks.buttons_make_sense(self.report)
        checks.remote_write_has_something(self.report, config)
        checks.report_reaches_slack(self.report, config)
        checks.webhook_reaches_somebody(self.report)
        checks.files_exist(self.report, self._folder)
        checks.target_files_exist(self.report, self._folder)
        return replace(config, warnings=tuple(sorted(self.report.mistakes)))

    def _prometheus(self, mode: str) -> PrometheusConfig | None:
        given = self._given(PROMETHEUS)
        if mode == PROMETHEUS and not given:
            self.report.add((), '"prometheus" must be set: mode: prometheus needs its url')
        read = self.report.read(PrometheusConfig, (PROMETHEUS,)) if given else None
        if mode == EMBEDDED and given:
            what = "prometheus: has no effect without mode: prometheus"
            self.report.add((PROMETHEUS,), what, key=True, warning=True)
        return read if mode == PROMETHEUS else None

    def _global(self, *, asks: bool) -> GlobalConfig:
        read = self.report.read(GlobalConfig, ("global",)) or GlobalConfig()
        global_ = read.filled(asks=asks)
        checks.timeout_fits(self.report, ("global",), global_.scrape_timeout, global_.scrape_interval)
        return global_

    def _scrape_configs(self, global_: GlobalConfig) -> tuple[ScrapeConfig, ...]:
        configs: list[ScrapeConfig] = []
        for loc, read in self._items("scrape_configs", ScrapeConfig):
            config = read.filled(global_)
            checks.timeout_fits(self.report, loc, config.scrape_timeout, config.scrape_interval)
            checks.probes_fit(self.report, loc, config.probe.timeout, config.scrape_interval)
            configs.append(config)
        checks.names_differ(self.report, "scrape_configs", "job_name")
        checks.targets_make_sense(self.report)
        return tuple(configs)

    def _receivers(self, global_: GlobalConfig) -> tuple[ReceiverConfig, ...]:
        receivers: list[ReceiverConfig] = []
        for loc, read in self._items("receivers", ReceiverConfig):
            receiver = read.filled(global_)
            for index, slack in enumerate(receiver.slack_configs):
                if not slack.ways:
                    what = "set one of bot_token, bot_token_file, api_url and api_url_file"
                    self.report.add((*loc, "slack_configs", index), what)
            receivers.append(receiver)
        checks.names_differ(self.report, "receivers", "name")
        checks.fallbacks_end(self.report)
        return tuple(receivers) if self._given("receivers") else (CONSOLE,)

    def _route(self, receivers: tuple[ReceiverConfig, ...]) -> Route:
        if self._given("route"):
            checks.receivers_exist(self.report)
            read = self.report.read(RouteSection, ("route",))
            return read.built() if read is not None else only_route("")
        if len(receivers) > 1:
            self.report.add((), '"route" must be set: there is more than one receiver')
        return only_route(receivers[0].name if receivers else "")

    def _time_intervals(self) -> dict[str, tuple[TimeInterval, ...]]:
        checks.names_differ(self.report, "time_intervals", "name")
        checks.intervals_exist(self.report)
        items = self._items("time_intervals", TimeIntervalsSection)
        return {read.name: tuple(interval.built() for interval in read.time_intervals) for _, read in items}

    def _remote_write(self) -> tuple[RemoteWriteConfig, ...]:
        found: dict[str, RemoteWriteConfig] = {}
        for loc, read in self._items("remote_write", RemoteWriteConfig):
            if read.called in found:
                self.report.add(loc, f"is called {shown(read.called)} as another one is: give it a name of its own")
            found[read.called] = read
        return tuple(found.values())

    def _rule_values_file(self) -> Path | None:
        name = find(self.report.document.root, (_VALUES,))
        if not isinstance(name, Scalar) or not self._given(_VALUES):
            return None
        if self._given("rule_files"):
            self.report.add((_VALUES,), f"{_VALUES}: has no effect beside rule_files: build them with it", key=True)
        path = self._folder / name.text
        if not is_file(path):
            self.report.add((_VALUES,), f"{_VALUES}: {shown(name.text)} does not exist")
            return None
        return path

    def _web_file(self, path: Path | None) -> WebFile:
        """Return what stands in the file; its mistakes are those of this one."""
        if path is None:
            return WebFile()
        try:
            return read_web_file(path)
        except DocumentError as err:
            self.report.mistakes.extend(err.mistakes)
            return WebFile()

    def _items(self, key: str, section: type[AnySection]) -> Iterator[tuple[Loc, AnySection]]:
        """Yield the items of a list that are right, and where they are."""
        items = find(self.report.document.root, (key,))
        for index in range(len(items) if isinstance(items, SequenceNode) else 0):
            item = self.report.read(section, (key, index))
            if item is not None:
                yield (key, index), item

    def _given(self, key: str) -> bool:
        node = find(self.report.document.root, (key,))
        return node is not None and not (isinstance(node, Scalar) and node.is_null)
