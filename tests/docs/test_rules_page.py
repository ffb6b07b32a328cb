"""docs/rules.md: its table is what is built, and its example works."""

import re
from pathlib import Path
from typing import Any

import yaml

from monitor.rulebook.build import build
from monitor.rulebook.values import defaults, read_values

TEXT = (Path(__file__).parents[2] / "docs" / "rules.md").read_text()


def alerts(*, everything: bool) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for text in build(defaults(), everything=everything).values():
        for group in yaml.load(text, yaml.CSafeLoader)["groups"]:
            for rule in group["rules"]:
                if "alert" in rule:
                    found.setdefault(rule["alert"], []).append(rule)
    return found


def listed(rules: list[dict[str, Any]], on: bool) -> list[str]:  # noqa: FBT001 - a column of the table
    columns = (
        [rule["labels"]["severity"] for rule in rules],
        [rule.get("for", "0s") for rule in rules],
        ["on" if on else "off"],
        [rule["annotations"]["threshold"] for rule in rules],
    )
    return [", ".join(dict.fromkeys(column)) for column in columns]


def test_the_table_has_every_alert_as_it_is_built() -> None:
    rows = re.findall(r"^\| \[(\w+)\]\(runbooks/README\.md#(\w+)\) \| (.+) \|$", TEXT, re.MULTILINE)
    shipped = alerts(everything=False)
    assert all(anchor == name.lower() for name, anchor, _ in rows)
    assert {name: row.split(" | ") for name, _, row in rows} == {
        name: listed(rules, name in shipped) for name, rules in alerts(everything=True).items()
    }


def test_the_example_builds(tmp_path: Path) -> None:
    path = tmp_path / "my-values.yaml"
    path.write_text(re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)[0])
    rules = "".join(build(read_values(path)).values())
    assert "vllm_engine:requests_waiting:p50_1m > 50" in rules
    assert "alert: VLLMTimeInQueueHigh\n" not in rules
    assert "vllm_engine:prompt_length:mean_10m > 50000" in rules
