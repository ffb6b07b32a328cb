"""Half of the bar in every test run; `make incidents` tells all stories, to the daemon and to a real Prometheus."""

import re
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from monitor.rulebook.build import build, write
from monitor.rulebook.values import read_values
from monitor.rules.rulefmt import read_rules
from monitor.rules.spec import AlertingRule
from monitor.shipped import shipped_rules
from tests.engines import engine
from tests.incidents.play import Played, play
from tests.incidents.prometheus import Prometheus
from tests.incidents.rulesets import OLD_NAMES, THRESHOLDS
from tests.incidents.run import Teller
from tests.incidents.stories import BAR, FAILURES, HEALTHY
from tests.incidents.story import Column, Tell
from tests.incidents.table import print_foreign, print_table
from tests.incidents.verdict import judge

BY_NAME = {story.name: story for story in (*BAR, *FAILURES, *HEALTHY)}
# Those that tell rule sets apart; each takes two seconds.
SHORT = (
    "dead engine",
    "overload 0.32",
    "hung rank",
    "cold first request",
    "full KV, no queue",
    "long prefills",
    "bursts",
)
# What a story cannot bring about: what happens to the daemon's own process and files has tests of its own.
_OF_THE_PROCESS = "VLLMMonitor"


def test_there_are_enough_stories_and_each_has_a_name_of_its_own() -> None:
    assert len(BAR) >= 14
    assert len(FAILURES) >= 25
    assert len(HEALTHY) >= 10
    assert len(BY_NAME) == len(BAR) + len(FAILURES) + len(HEALTHY)
    assert all(story.summary for story in BY_NAME.values())


@cache
def played(name: str) -> Played:
    return play(BY_NAME[name], shipped_rules())


@pytest.mark.parametrize("name", SHORT)
def test_the_daemon_meets_the_bar(name: str) -> None:
    verdict = judge(BY_NAME[name], Column.DAEMON, [played(name).firings])
    assert [found for found in verdict.found if not found.in_time] == []
    assert verdict.false_alarms == []


def test_the_rule_files_alone_find_a_hung_rank_under_prometheus(tmp_path: Path) -> None:
    fired = Prometheus(engine("promtool", "newer")).watch(played("hung rank"), shipped_rules(), 7500, tmp_path)
    assert judge(BY_NAME["hung rank"], Column.RULES, [fired]).is_good


def test_every_alert_that_wakes_or_bothers_somebody_has_a_story(tmp_path: Path) -> None:
    write(build(read_values(), everything=True), tmp_path)
    groups = read_rules(sorted(tmp_path.glob("*.yaml")), lambda _: None, lambda _: None)
    alerts = {rule.name for group in groups for rule in group.rules if isinstance(rule, AlertingRule)}
    told = {alert for story in BY_NAME.values() for expect in story.expects for alert in expect.alerts}
    assert told - alerts == set()
    assert {alert for alert in alerts - told if not alert.startswith(_OF_THE_PROCESS)} == set()


def test_the_tables_show_ours_beside_the_rule_sets_that_are_handed_over() -> None:
    console = Console(width=160, file=StringIO(), record=True)
    told = [Teller(None, foreign=(Path(THRESHOLDS), Path(OLD_NAMES))).tell(BY_NAME["hung engine"])]
    print_table(console, "The bar", told)
    print_foreign(console, told)
    text = console.export_text()
    assert re.search(r"hung engine +page +EngineStuck +150 s +115 s", text)
    assert "old-names.rules.yaml: 0 of 1 pages" in text
    assert "thresholds.rules.yaml: 1 of 1 pages" in text


def test_a_story_that_is_told_to_rules_that_lack_its_alert_is_missed() -> None:
    story = BY_NAME["hung rank"]
    verdict = judge(story, Column.DAEMON, [play(story, [Path(OLD_NAMES)]).firings])
    assert [found.after for found in verdict.found] == [None]
    assert story.tell is Tell.PAGE
    assert not verdict.is_good
