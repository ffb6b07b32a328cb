"""`vllm-monitor check`: everything that is wrong with a configuration, or with a rule file, at once."""

from pathlib import Path

from monitor.build import rule_groups
from monitor.config.read import check, load
from monitor.expressions import check_expr, check_template
from monitor.rules.rulefmt import read_rules
from monitor.shipped import shipped_rules
from monitor.yamldoc.mistake import DocumentError, Mistake


def check_file(path: Path) -> tuple[list[Mistake], str]:
    """
    Return the mistakes (warnings included), and one line that says what was found good.

    A file whose name ends in `.rules.yaml` or `.rules.yml` is a rule file, any other a configuration.
    """
    if path.name.endswith((".rules.yaml", ".rules.yml")):
        return _check_rules(path)
    mistakes = check(path, check_expr, check_template, shipped_rules())
    if any(not mistake.warning for mistake in mistakes):
        return mistakes, ""
    config = load(path)
    named = sum(len(group.targets) for job in config.scrape_configs for group in job.static_configs)
    targets = f"{named} targets" + (
        " and those to be found" if any(job.discovers for job in config.scrape_configs) else ""
    )
    rules = sum(len(group.rules) for group in rule_groups(config))
    return mistakes, f"{path}: good: {targets}, {rules} rules, {len(config.receivers)} receivers"


def _check_rules(path: Path) -> tuple[list[Mistake], str]:
    try:
        groups = read_rules([path], check_expr, check_template)
    except DocumentError as err:
        return list(err.mistakes), ""
    return [], f"{path}: good: {sum(len(group.rules) for group in groups)} rules in {len(groups)} groups"
