"""Where the rule files that come with the program are."""

from pathlib import Path

_HERE = Path(__file__).parent


def rules_folder() -> Path:
    """Return the folder of the shipped rules: inside the installed package, or at the top of a checkout."""
    installed = _HERE / "shipped_rules"
    return installed if installed.is_dir() else _HERE.parent / "rules"
