"""The command `vllm-monitor check`: of a file, or of rules against servers."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.commands.usage import fail

if TYPE_CHECKING:
    from monitor.commands.askedcheck import Asked
    from monitor.commands.examine import Seen
    from monitor.config.config import Config
    from monitor.rules.spec import RuleGroup

_FILE = typer.Argument(help="A configuration file, or a rule file.")
_CONFIG = typer.Option("--config", help="Check the rules of this configuration against all its targets.")
_TARGET = typer.Option("--target", help="Check the rules against a live vLLM server; may be given several times.")
_PAGE = typer.Option("--page", help="Check them against a page of /metrics in a file (- is standard input).")
_VERSION = typer.Option(help="The version of vLLM that the pages come from; else it is guessed from them.")
_RULES = typer.Option("--rules", help="Rule files to check in place of the shipped ones.")
_DASHBOARDS = typer.Option("--dashboard", help="Grafana dashboards to check in place of the shipped ones.")
_DISCOVERY = typer.Option(
    "--service-discovery", help="Look for the targets of this configuration, and print what relabelling makes of them."
)
_JSON = typer.Option("--json", help="Print what was found as JSON.")


def check(  # noqa: PLR0913 - typer reads options off the signature
    file: Annotated[Path | None, _FILE] = None,
    *,
    target: Annotated[list[str] | None, _TARGET] = None,
    page: Annotated[list[Path] | None, _PAGE] = None,
    config: Annotated[Path | None, _CONFIG] = None,
    rules: Annotated[list[Path] | None, _RULES] = None,
    dashboard: Annotated[list[Path] | None, _DASHBOARDS] = None,
    vllm_version: Annotated[str, _VERSION] = "",
    service_discovery: Annotated[Path | None, _DISCOVERY] = None,
    json: Annotated[bool, _JSON] = False,
) -> None:
    """
    Print every mistake of a configuration and its rule files; or what rules and dashboards cannot see of a server.

    Ends with 1 when there is a mistake, a server that does not answer, or a rule that cannot work and nothing explains.
    """
    if service_discovery is not None:
        _look_for_targets(service_discovery, json=json)
        return
    if not (target or page or config):
        _check_file(file, against=bool(rules or dashboard))
        return
    if file is not None:
        raise typer.BadParameter("give rule files to check against a server with --rules")
    from monitor.commands.examine import examined
    from monitor.commands.show import terminal
    from monitor.commands.verdict import as_json, print_verdict

    settings = _settings(config, target or ())
    groups = _groups(settings, rules or ())
    # The shipped dashboards read what the shipped rules record.
    are_shipped = not rules and (settings is None or settings.rule_files is None)
    queries = _queries(dashboard or (), shipped=are_shipped)
    found = examined(_pages(settings, page or (), vllm_version), groups, queries)
    server = _server(settings, groups)
    if json:
        typer.echo(as_json(found, server))
    else:
        print_verdict(found, terminal())
        for line in server.lines() if server is not None else ():
            typer.echo(line)
    if server is None and not any(one.rows for one in found):
        fail("nothing was checked: there is no vLLM server")
    if not all(one.works for one in found) or not (server is None or server.works):
        raise typer.Exit(1)


def _look_for_targets(path: Path, *, json: bool) -> None:
    from json import dumps

    from monitor.commands.discovered import as_json, lines, look

    settings = _settings(path, ())
    looked = list(look(settings.scrape_configs if settings is not None else ()))
    if json:
        typer.echo(dumps({one.job: as_json(one) for one in looked}, indent=2, ensure_ascii=False))
        for error in (error for one in looked for error in one.errors):
            typer.echo(error, err=True)
    else:
        for line in (line for one in looked for line in lines(one)):
            typer.echo(line)
    if not all(one.works for one in looked):
        raise typer.Exit(1)


def _server(settings: "Config | None", groups: "Sequence[RuleGroup]") -> "Asked | None":
    """Return what the Prometheus of the configuration lacks, None where there is none."""
    if settings is None or settings.prometheus is None:
        return None
    from monitor.commands.askedcheck import asked

    return asked(settings.prometheus, groups)


def _check_file(file: Path | None, *, against: bool) -> None:
    from monitor.commands.check import check_file

    if file is None or against:
        raise typer.BadParameter("give a file to check, or --target, --page or --config to check rules against")
    mistakes, summary = check_file(file)
    for mistake in mistakes:
        typer.echo(mistake)
    if any(not mistake.warning for mistake in mistakes):
        raise typer.Exit(1)
    typer.echo(summary)


def _settings(config: Path | None, targets: Sequence[str]) -> "Config | None":
    """Return where the targets come from; None when there are none."""
    from monitor.commands.settings import loader
    from monitor.config.flags import Flags
    from monitor.yamldoc.mistake import DocumentError

    if config is None and not targets:
        return None
    try:
        # What Slack needs is nobody's concern here, but a file may name variables.
        return loader(config, Flags(targets=tuple(targets)), os.environ if config is not None else {})()
    except DocumentError as err:
        fail(str(err))


def _groups(settings: "Config | None", files: Sequence[Path]) -> "Sequence[RuleGroup]":
    """Return the rules to check: those that are named, those of the configuration, or the shipped ones."""
    from monitor.build import rule_groups
    from monitor.expressions import check_expr, check_template
    from monitor.rulebook.read import shipped_groups
    from monitor.rules.rulefmt import read_rules
    from monitor.yamldoc.mistake import DocumentError

    try:
        if files:
            return read_rules(files, check_expr, check_template)
        return rule_groups(settings) if settings is not None else shipped_groups(None, check_expr, check_template)
    except DocumentError as err:
        fail(str(err))


def _queries(files: Sequence[Path], *, shipped: bool) -> "Sequence[RuleGroup]":
    from monitor.commands.dashboards import DashboardError, dashboard_group
    from monitor.shipped import shipped_dashboards

    try:
        return [dashboard_group(path) for path in files or (shipped_dashboards() if shipped else ())]
    except DashboardError as err:
        fail(str(err))


def _pages(settings: "Config | None", files: Sequence[Path], version: str) -> "list[Seen]":
    from monitor.commands.discovered import look
    from monitor.commands.examine import from_file, from_servers
    from monitor.jobs import options_of

    jobs = settings.scrape_configs if settings is not None else ()
    looked = zip(jobs, look(jobs), strict=True)
    targets = [(target, options_of(job)) for job, one in looked for target in one.targets]
    return from_servers(targets) + [from_file(path, version) for path in files]
