"""Where the rule files that come with the program are."""

from collections.abc import Sequence
from pathlib import Path

_HERE = Path(__file__).parent


def rules_folder() -> Path:
    """Return the folder of the shipped rules: inside the installed package, or at the top of a checkout."""
    installed = _HERE / "shipped_rules"
    return installed if installed.is_dir() else _HERE.parent / "rules"


def shipped_rules() -> Sequence[Path]:
    """Return the shipped rule files, in the order in which they are read."""
    return sorted(rules_folder().glob("*.rules.yaml"))
