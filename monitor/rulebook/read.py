"""The rules that ship as the daemon reads them: as they are, or built with the values of a user."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from monitor.rules.rulefmt import Check, parse_rules, read_rules
from monitor.rules.spec import RuleGroup
from monitor.shipped import rules_folder, shipped_rules
from monitor.yamldoc.mistake import DocumentError


def shipped_groups(
    values: Path | None, check_expr: Check, check_template: Check, settings: Sequence[str] = ()
) -> tuple[RuleGroup, ...]:
    """
    Return the groups of the shipped rules, built with the file `values` where there is one, and with `settings`.

    Raises DocumentError with all mistakes of the values.
    """
    if values is None and not settings:
        return read_rules(shipped_rules(), check_expr, check_template)
    # Templates and the schema of values are only for those who change some: the daemon's memory is budgeted.
    from monitor.rulebook.build import build
    from monitor.rulebook.values import read_values

    files = build(read_values(values, settings))
    # Under the same names, so that alerts go on when a value changes.
    named = [(str(rules_folder() / name), text) for name, text in files.items()]
    try:
        return tuple(group for name, text in named for group in parse_rules(text, name, check_expr, check_template))
    except DocumentError as err:
        # Not in the file that ships, which is right: in the one that these values make of it.
        built = (
            (mistake, f"{values or '--set'}: {Path(mistake.path).name} as built with it") for mistake in err.mistakes
        )
        raise DocumentError(replace(mistake, path=path) for mistake, path in built) from err
