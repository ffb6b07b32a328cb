"""Two small rule sets in the style of common public ones, to show the contrast."""

from pathlib import Path

_HERE = Path(__file__).parent
# Thresholds on single gauges, each with a `for`.
THRESHOLDS = str(_HERE / "thresholds.rules.yaml")
# The same with the names that vLLM had up to 0.11.
OLD_NAMES = str(_HERE / "old-names.rules.yaml")
