"""`vllm-monitor rules`: the rules that ship, with other thresholds."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from monitor.commands.usage import UsageError
from monitor.expressions import check_expr, check_template
from monitor.rulebook.build import build, differences, write
from monitor.rulebook.lint.report import lint
from monitor.rulebook.operator import prometheus_rules
from monitor.rulebook.values import read_values
from monitor.rules.rulefmt import parse_rules, read_rules
from monitor.shipped import is_installed, rules_folder
from monitor.yamldoc.mistake import DocumentError, Mistake


def built(values: Path | None, settings: Sequence[str], *, everything: bool = False) -> Mapping[str, str]:
    """
    Return the rule files by name, each of them good.

    Raises DocumentError with all mistakes of the values; or of a rule that the values made wrong.
    """
    files = build(read_values(values, settings), everything=everything)
    for name, text in files.items():
        parse_rules(text, name, check_expr, check_template)
    return files


def put(files: Mapping[str, str], folder: Path | None) -> str:
    """Write the files into `folder`, or where those of a checkout stand, and say so. Raises UsageError and OSError."""
    if folder is None and is_installed():
        raise UsageError("--out must be set: the rules inside the installed package stay as they are")
    target = folder or rules_folder()
    changed = write(files, target)
    return "\n".join([*(f"wrote {path}" for path in changed), f"{target}: {len(files)} rule files are current"])


def put_objects(files: Mapping[str, str], path: Path) -> str:
    """Write them to `path` as objects of the Prometheus Operator, and say so. Raises OSError."""
    path.write_text(prometheus_rules(files), encoding="utf-8")
    return f"{path}: {len(files)} PrometheusRules"


def drift(files: Mapping[str, str], folder: Path | None) -> str:
    """Return how what stands in `folder`, or ships, differs from the files."""
    return differences(files, folder or rules_folder())


def linted(paths: Sequence[Path]) -> Sequence[Mistake]:
    """Return what is wrong with rule files; what an alert lacks to be fit to wake somebody is a warning."""
    try:
        return sorted(lint(read_rules(paths, check_expr, check_template)))
    except DocumentError as err:
        return err.mistakes
