"""What is wrong between the parts of a configuration, each of which may be right."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from monitor.config.config import Config
from monitor.config.upstream import PROMETHEUS
from monitor.discovery.errors import DiscoveryError
from monitor.discovery.file import paths_of, read_file
from monitor.model.instant import format_duration
from monitor.yamldoc.mistake import DocumentError, Mistake, shown, suggestion
from monitor.yamldoc.node import Loc, MappingNode, Node, Scalar, SequenceNode, children, find
from monitor.yamldoc.report import Report
from monitor.yamldoc.source import is_file

_FILES = frozenset(
    (
        "slack_api_url_file",
        "bot_token_file",
        "api_url_file",
        "app_token_file",
        "signing_secret_file",
        "url_file",
        "routing_key_file",
        "credentials_file",
        "password_file",
        "ca_file",
        "cert_file",
        "key_file",
    )
)

_INTERVALS = ("mute_time_intervals", "active_time_intervals")


def names_differ(report: Report, key: str, name_key: str) -> None:
    """Note every item of the list `key` whose name another one has already."""
    seen: set[str] = set()
    for loc, name in _names(report, key, name_key):
        if name in seen:
            report.add((*loc, name_key), f"the {name_key} {shown(name)} is taken by another one")
        seen.add(name)


def timeout_fits(report: Report, loc: Loc, timeout: int, interval: int) -> None:
    """Note a scrape that may last longer than the time to the next one."""
    if timeout > interval:
        longer = f"{format_duration(timeout)} is longer than the scrape_interval {format_duration(interval)}"
        report.add((*loc, "scrape_timeout"), f"scrape_timeout: {longer}")


def probes_fit(report: Report, loc: Loc, timeout: int | None, interval: int) -> None:
    """Note a round of probes that may last longer than the time to the next one."""
    if timeout is not None and timeout > interval:
        longer = f"{format_duration(timeout)} is longer than the scrape_interval {format_duration(interval)}"
        report.add((*loc, "probe", "timeout"), f"probe: timeout: {longer}")


def receivers_exist(report: Report) -> None:
    """Note every route whose receiver is not defined, and the root that has none, or that does not take everything."""
    known = dict.fromkeys(name for _, name in _names(report, "receivers", "name"))
    root = find(report.document.root, ("route",))
    if isinstance(root, MappingNode):
        if _text(root.get("receiver")) is None:
            report.add(("route",), '"receiver" must be set: it is told what no other route takes')
        for key in ("matchers", "continue", *_INTERVALS):
            if root.get(key) and _text(root[key]) != "false":
                why = "nobody would be told of anything" if key in _INTERVALS else "this route takes everything"
                report.add(("route", key), f"{key} is not allowed here: {why}", key=True)
    for loc, route in _routes(root, ("route",)):
        name = _text(route.get("receiver"))
        if name is not None and name not in known:
            _add_undefined(report, (*loc, "receiver"), f"receiver {shown(name)}", name, known)


def buttons_make_sense(report: Report) -> None:
    """Note an escalation to a receiver that is not defined, and warn of buttons that no message can have."""
    root = report.document.root
    name = _text(find(root, ("slack", "escalate", "receiver")))
    known = dict.fromkeys(name for _, name in _names(report, "receivers", "name"))
    if name is not None and name not in known:
        _add_undefined(report, ("slack", "escalate", "receiver"), f"receiver {shown(name)}", name, known)
    bots = ("bot_token", "bot_token_file")
    if find(root, ("slack",)) is not None and not any(
        key in bots for _, key, _ in _walk(find(root, ("receivers",)), ())
    ):
        report.add(("slack",), "no receiver has a bot (bot_token): no message can have buttons", warning=True)


def webhook_reaches_somebody(report: Report) -> None:
    """Note a receiver for what Alertmanagers post that is not defined."""
    loc: Loc = ("alerting", "webhook", "receiver")
    name = _text(find(report.document.root, loc))
    known = dict.fromkeys(name for _, name in _names(report, "receivers", "name"))
    if name is not None and name not in known:
        _add_undefined(report, loc, f"receiver {shown(name)}", name, known)


def remote_write_has_something(report: Report, config: Config) -> None:
    """Note receivers of a history that is not kept."""
    if find(report.document.root, ("remote_write",)) is not None and not config.storage.history.retention:
        message = "remote_write: has nothing to send: storage.history.retention is 0, and the history is its queue"
        report.add(("remote_write",), message, key=True)


def report_reaches_slack(report: Report, config: Config) -> None:
    """Note a scheduled report whose receiver is not defined, or has no Slack channel."""
    if config.report is None:
        return
    name = config.report.receiver or config.route.receiver
    # One that is wrong is left out of the configuration, and is told of elsewhere.
    known = dict.fromkeys(name for _, name in _names(report, "receivers", "name"))
    right = {receiver.name: receiver for receiver in config.receivers}
    loc: Loc = ("report", "receiver") if config.report.receiver else ("report",)
    if name not in known and name not in right:
        _add_undefined(report, loc, f"receiver {shown(name)}", name, known)
    elif name in right and not right[name].slack_configs:
        report.add(loc, f"receiver {shown(name)} has no slack_configs: a report is posted to Slack")


def fallbacks_end(report: Report) -> None:
    """Note every fallback that is not defined, and those that lead back to where they began."""
    places = {name: loc for loc, name in _names(report, "receivers", "name")}
    root = report.document.root
    leads = {name: _text(find(root, (*loc, "fallback"))) for name, loc in places.items()}
    for name, loc in places.items():
        fallback, way = leads[name], [name]
        if fallback is not None and fallback not in places:
            _add_undefined(report, (*loc, "fallback"), f"fallback: receiver {shown(fallback)}", fallback, places)
        while fallback is not None and fallback not in way:
            way.append(fallback)
            fallback = leads.get(fallback)
        if fallback == name:
            report.add((*loc, "fallback"), f"fallback: leads back to itself ({' → '.join([*way, name])})")


def intervals_exist(report: Report) -> None:
    """Note every time interval that a route names and that is not defined."""
    known = dict.fromkeys(name for _, name in _names(report, "time_intervals", "name"))
    for loc, route in _routes(find(report.document.root, ("route",)), ("route",)):
        for key in _INTERVALS:
            names = route.get(key)
            for index, node in enumerate(names if isinstance(names, SequenceNode) else ()):
                name = _text(node)
                if name is not None and name not in known:
                    _add_undefined(report, (*loc, key, index), f"{key}: time interval {shown(name)}", name, known)


def targets_make_sense(report: Report) -> None:
    """Warn of a configuration that watches nothing, and of targets that name no port."""
    count = 0
    for loc, name, value in _walk(report.document.root, ()):
        count += loc[:1] == ("scrape_configs",) and name.endswith("_sd_configs")
        if loc[:1] == ("scrape_configs",) and name == "targets" and isinstance(value, SequenceNode):
            count += len(value)
            for index, target in enumerate(value):
                if isinstance(target, Scalar) and target.text and ":" not in target.text:
                    what = f"targets: {shown(target.text)} names no port: that of the scheme is used, 80 or 443"
                    report.add((*loc, index), what, warning=True)
    # What others find may be all that is told.
    told = find(report.document.root, ("alerting", "webhook")) is not None
    if not count and not told and _text(find(report.document.root, ("mode",))) != PROMETHEUS:
        report.add(("scrape_configs",), "there is no target: nothing is watched", warning=True)


def files_exist(report: Report, folder: Path) -> None:
    """Warn of files that are to be read later and are not there now."""
    for loc, name, value in _walk(report.document.root, ()):
        if name in _FILES and isinstance(value, Scalar) and value.text and not is_file(folder / value.text):
            report.add(loc, f"{name}: {shown(value.text)} does not exist", warning=True)


def target_files_exist(report: Report, folder: Path) -> None:
    """Warn of files of targets that are not there yet."""
    for loc, name, value in _walk(report.document.root, ()):
        if name != "files" or "file_sd_configs" not in loc or not isinstance(value, SequenceNode):
            continue
        for index, pattern in enumerate(value):
            written = _text(pattern)
            if written is not None and not any(is_file(Path(path)) for path in _paths([str(folder / written)])):
                report.add((*loc, index), f"files: {shown(written)} matches no file", warning=True)


def _paths(patterns: Iterable[str]) -> list[str]:
    """Return the files of targets that there are; none in a folder that cannot be looked into."""
    try:
        return paths_of(patterns)
    except DiscoveryError:
        return []


def target_files_are_right(config: Config) -> Iterator[Mistake]:
    """Yield what is wrong in files of targets; the daemon starts all the same, and reads them when they are right."""
    sections = (section for job in config.scrape_configs for section in job.file_sd_configs)
    for path in dict.fromkeys(path for section in sections for path in _paths(section.files)):
        try:
            if is_file(Path(path)):
                read_file(path)
        except DocumentError as err:
            yield from err.mistakes


def _names(report: Report, key: str, name_key: str) -> Iterator[tuple[Loc, str]]:
    items = find(report.document.root, (key,))
    for index, item in enumerate(items if isinstance(items, SequenceNode) else ()):
        name = _text(item.get(name_key)) if isinstance(item, MappingNode) else None
        if name is not None:
            yield (key, index), name


def _routes(route: Node | None, loc: Loc) -> Iterator[tuple[Loc, MappingNode]]:
    """Yield `route` and every route below it, with its place."""
    if not isinstance(route, MappingNode):
        return
    yield loc, route
    below = route.get("routes")
    for index, child in enumerate(below if isinstance(below, SequenceNode) else ()):
        yield from _routes(child, (*loc, "routes", index))


def _add_undefined(report: Report, loc: Loc, what: str, name: str, known: Iterable[str]) -> None:
    names = ", ".join(known) or "none"
    report.add(loc, f"{what} is not defined (known: {names})", meant=suggestion(name, known))


def _text(node: Node | None) -> str | None:
    """Return what a scalar says, or None when it says nothing."""
    return node.text if isinstance(node, Scalar) and not node.is_null and node.text else None


def _walk(node: Node | None, loc: Loc) -> Iterator[tuple[Loc, str, Node]]:
    """Yield the path, the key and the value of every entry of every table."""
    for step, child in children(node):
        if isinstance(step, str):
            yield (*loc, step), step, child
        yield from _walk(child, (*loc, step))
