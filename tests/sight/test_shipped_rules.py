"""Every shipped rule and query sees something on every version, or the version explains why not."""

from functools import lru_cache

import pytest

from monitor.commands.dashboards import dashboard_group
from monitor.expressions import check_expr, check_template
from monitor.ownnames import own_names
from monitor.rulebook.build import build
from monitor.rulebook.values import read_values
from monitor.rules.rulefmt import parse_rules
from monitor.shipped import shipped_dashboards
from monitor.sight.fleet import View
from monitor.sight.report import Report
from monitor.vllm.families import Engine
from tests.scrape.pages import real_pages
from tests.sight.seeing import offered
from tests.vllm.pages import page

V1 = ("0.8.1", "0.8.5", "0.9.2", "0.10.2", "0.11.2", "0.14.1", "0.20.2", "0.24.0", "0.33.0")
V0 = ("0.6.6", "0.8.1", "0.8.5", "0.9.2", "0.10.2")
PAGES = {
    **{f"{version}-{engine}": (version, engine) for engine, some in (("V1", V1), ("V0", V0)) for version in some},
}


@lru_cache
def report() -> Report:
    """Return the report of all rules that ship, those that are off by default among them, and of the dashboards."""
    files = build(read_values(None), everything=True)
    parsed = (parse_rules(text, name, check_expr, check_template) for name, text in files.items())
    queries = [dashboard_group(path) for path in shipped_dashboards()]
    return Report([*(group for groups in parsed for group in groups), *queries], own_names())


def unexplained(text: str, version: str = "") -> list[str]:
    views = [View.of(offered(text, version=version), report().leaves)]
    found = report().findings(views)
    return [f"{one.rule}: {one.blind.sentence}" for one in found if not one.blind.reason.explained]


@pytest.mark.parametrize("name", [name for name in real_pages() if name.startswith("vllm-")])
def test_no_rule_is_blind_on_a_recorded_page(name: str) -> None:
    assert unexplained(real_pages()[name]) == []
    assert unexplained(real_pages()[name], name.removeprefix("vllm-")) == []


@pytest.mark.parametrize("name", PAGES)
def test_no_rule_is_blind_on_a_page_of_any_version(name: str) -> None:
    version, engine = PAGES[name]
    for served in (True, False):
        text = page(version, Engine(engine), served=served)
        assert unexplained(text, version) == []
        assert unexplained(text) == []


def test_no_rule_is_blind_without_stats() -> None:
    assert unexplained(page("0.33.0", stats=False), "0.33.0") == []


def test_no_rule_is_blind_behind_another_prefix() -> None:
    for prefix in ("ray_vllm_", "kserve_vllm:"):
        assert unexplained(page("0.33.0").replace("vllm:", prefix), "0.33.0") == []
