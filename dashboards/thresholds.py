"""The numbers that alerts compare with, read from the rules: a line in a panel is where the alert fires."""

import re
from pathlib import Path

import yaml

RULES = Path(__file__).parents[1] / "rules"


def threshold(alert: str, name: str) -> float:
    """Return the number that `alert` compares the recorded `name` with; LookupError when it compares it with none."""
    found = re.search(rf"{re.escape(name)} > ([\d.]+)", _expressions()[alert])
    if found is None:
        raise LookupError(f"{alert} does not compare {name} with a number")
    return float(found[1])


def _expressions() -> dict[str, str]:
    documents = [yaml.safe_load(path.read_text()) for path in sorted(RULES.glob("*.rules.yaml"))]
    rules = [rule for document in documents for group in document["groups"] for rule in group["rules"]]
    return {rule["alert"]: rule["expr"] for rule in rules if "alert" in rule}
