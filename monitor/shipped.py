"""Where the rule files and dashboards that come with the program are."""

from collections.abc import Sequence
from pathlib import Path

_HERE = Path(__file__).parent


_INSTALLED = _HERE / "shipped_rules"


def is_installed() -> bool:
    """Say whether the rules stand inside an installed package, where they are not to be changed."""
    return _INSTALLED.is_dir()


def rules_folder() -> Path:
    """Return the folder of the shipped rules: inside the installed package, or at the top of a checkout."""
    return _INSTALLED if is_installed() else _HERE.parent / "rules"


def shipped_rules() -> Sequence[Path]:
    """Return the shipped rule files, in the order in which they are read."""
    return sorted(rules_folder().glob("*.rules.yaml"))


def shipped_dashboards() -> Sequence[Path]:
    """Return the files of the shipped Grafana dashboards."""
    installed = _HERE / "shipped_dashboards"
    return sorted((installed if installed.is_dir() else _HERE.parent / "dashboards").glob("*.json"))
