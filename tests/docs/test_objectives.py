"""docs/objectives.md: its example builds, and its table is what ships."""

import re
from pathlib import Path

import pytest

from monitor.rulebook.build import build
from monitor.rulebook.values import defaults, read_values
from monitor.yamldoc.mistake import DocumentError

TEXT = (Path(__file__).parents[2] / "docs" / "objectives.md").read_text()
EXAMPLE = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)[0]


def test_the_example_builds_an_alert_for_each_objective_and_pair_of_windows(tmp_path: Path) -> None:
    path = tmp_path / "my-values.yaml"
    path.write_text(EXAMPLE)
    rules = build(read_values(path))["slo.rules.yaml"]
    assert rules.count("- alert: VLLMTTFTBudgetBurn") == 8
    assert rules.count("- alert: VLLMAvailabilityBudgetBurn") == 4


def test_an_edge_that_is_no_bucket_is_refused_in_the_words_of_the_page(tmp_path: Path) -> None:
    path = tmp_path / "my-values.yaml"
    path.write_text(EXAMPLE.replace("edge: 1,", "edge: 2,"))
    with pytest.raises(DocumentError) as raised:
        read_values(path)
    assert f"\n{str(raised.value).removeprefix(f'{tmp_path}/')}\n" in TEXT


def test_the_windows_are_those_that_ship() -> None:
    rows = re.findall(r"^\| (\w+) \| (\w+) \| ([\d.]+) \| (\d+) days \| (\w+) \|$", TEXT, re.MULTILINE)
    shipped = getattr(defaults(), "slo_windows")  # noqa: B009 - fields come from the file of values
    assert rows == [
        (str(one.long), str(one.short), f"{one.burn}", str(round(30 / one.burn)), one.severity) for one in shipped
    ]
