"""The numbers that alerts compare with, from the values of the rules: a line is where the alert fires."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

VALUES = Path(__file__).parents[1] / "rules" / "source" / "values.yaml"


def threshold(alert: str, key: str) -> float:
    """Return the number that `alert` has under `key`; KeyError when there is none."""
    return float(_values()["alerts"][alert][key])


def burn_rates() -> dict[str, float]:
    """Return the burn rate of each pair of windows by its long one, the most severe first."""
    return {pair["long"]: float(pair["burn"]) for pair in _values()["slo_windows"]}


def runbooks() -> str:
    """Return the address of the page that has a heading for each alert."""
    return str(_values()["runbooks_url"])


@cache
def _values() -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load(VALUES.read_text(encoding="utf-8"))
    return values
