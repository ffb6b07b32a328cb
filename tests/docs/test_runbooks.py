"""Runbooks: one for every alert there can be, none for one that there is not, and each answers the same questions."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.rulebook.build import build
from monitor.rulebook.values import defaults

RUNBOOKS = Path(__file__).parents[2] / "docs" / "runbooks"
TEXT = (RUNBOOKS / "README.md").read_text()
QUESTIONS = [
    "What it means.",
    "How to confirm.",
    "What to do now.",
    "What to change later.",
    "What it is not.",
]


@cache
def alerts(*, everything: bool) -> list[dict[str, Any]]:
    files = build(defaults(), everything=everything).values()
    groups = [group for text in files for group in yaml.safe_load(text)["groups"]]
    return [rule for group in groups for rule in group["rules"] if "alert" in rule]


def names(*, everything: bool) -> list[str]:
    return sorted({rule["alert"] for rule in alerts(everything=everything)})


def headings() -> list[str]:
    return re.findall(r"^## (\w+)$", TEXT, re.MULTILINE)


def test_every_alert_has_its_runbook_and_no_runbook_is_an_orphan() -> None:
    assert sorted(headings()) == names(everything=True)


def test_all_that_ship_switched_on_are_among_them() -> None:
    assert set(names(everything=False)) < set(headings())


@pytest.mark.parametrize("rule", alerts(everything=True), ids=lambda rule: str(rule["alert"]))
def test_the_link_of_an_alert_leads_to_its_heading(rule: dict[str, Any]) -> None:
    page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    assert page.endswith("/docs/runbooks/README.md")
    # An anchor is the heading in lower case.
    assert anchor == rule["alert"].lower()
    assert [heading.lower() for heading in headings()].count(anchor) == 1


def test_the_contents_lead_to_every_heading_in_its_order() -> None:
    contents = TEXT.partition("\n## ")[0]
    assert re.findall(r"\]\(#(\w+)\)", contents) == [heading.lower() for heading in headings()]


@pytest.mark.parametrize("alert", names(everything=True))
def test_a_runbook_answers_five_questions_and_offers_three_ways_to_confirm(alert: str) -> None:
    text = TEXT.split(f"## {alert}\n")[1].split("\n## ")[0]
    assert re.findall(r"^\*\*(.+?)\*\*", text, re.MULTILINE) == QUESTIONS
    assert len(re.findall(r"^\d\. ", text, re.MULTILINE)) == 3


def test_a_runbook_names_no_alert_that_there_is_not() -> None:
    named = set(re.findall(r"\*(VLLM\w+)\*", TEXT))
    assert named <= set(headings())


def test_a_runbook_reads_names_that_are_recorded() -> None:
    files = build(defaults(), everything=True).values()
    groups = [group for text in files for group in yaml.safe_load(text)["groups"]]
    recorded = {rule["record"] for group in groups for rule in group["rules"] if "record" in rule}
    assert set(re.findall(r"\bvllm_engine:[\w:]+", TEXT)) <= recorded


@pytest.mark.parametrize("alert", names(everything=True))
def test_a_runbook_is_short_enough_for_the_middle_of_the_night(alert: str) -> None:
    text = TEXT.split(f"## {alert}\n")[1].split("\n## ")[0]
    assert len(text.split()) < 330
