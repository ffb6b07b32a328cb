"""The table of vLLM's families: against the names in the releases, and against recorded pages."""

import csv
import re
from pathlib import Path

import pytest

from monitor.vllm.buckets import edges
from monitor.vllm.families import Engine, canonical, families, family_of
from monitor.vllm.version import Version, VersionError, parse_version
from tests.scrape.pages import real_pages

NAMES = Path(__file__).parent.parent / "data" / "vllm" / "names.csv"
DECLARED_ELSEWHERE = {"vllm:tool_call_parser_invocations"}


def releases() -> list[tuple[Version, Engine, frozenset[str]]]:
    """Return the names in the source of each release, without `_total`."""
    with NAMES.open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = []
    for column in list(rows[0])[1:]:
        version, engine = column.removesuffix(")").split("(")
        names = frozenset(row["name"].removesuffix("_total") for row in rows if row[column])
        found.append((parse_version(version), Engine(engine), names))
    return [one for one in found if one[:2] != (Version(0, 11, 0), Engine.V0)]


@pytest.mark.parametrize(("version", "engine", "names"), releases(), ids=lambda value: str(value)[:12])
def test_the_table_has_what_a_release_declares(version: Version, engine: Engine, names: frozenset[str]) -> None:
    table = {
        family.name.removesuffix("_total")
        for family in families().values()
        if family.name.startswith("vllm:") and family.exists(version, engine)
    }
    assert table - DECLARED_ELSEWHERE == names


@pytest.mark.parametrize("name", [name for name in real_pages() if name.startswith("vllm-")])
def test_a_recorded_page_shows_what_the_table_says(name: str) -> None:
    version = parse_version(name.removeprefix("vllm-"))
    engine = Engine.V0 if version == Version(0, 9, 0) else Engine.V1
    shown = set(re.findall(r"^# TYPE (\S+)", real_pages()[name], re.MULTILINE))
    known = {name for name in shown if not name.endswith("_created") or name.removesuffix("_created") in shown}
    may = {family.name for family in families().values() if family.shown(version, engine)}
    must = {name for name in may if not families()[name].needs(engine) and not families()[name].lazy}
    assert must <= shown
    assert {name for name in known if not name.endswith("_created")} <= may


@pytest.mark.parametrize(
    ("metric", "family"),
    [
        ("vllm:time_to_first_token_seconds_bucket", "vllm:time_to_first_token_seconds"),
        ("ray_vllm_e2e_request_latency_seconds_sum", "vllm:e2e_request_latency_seconds"),
        ("kserve_vllm:num_requests_running", "vllm:num_requests_running"),
        ("vllm:iteration_tokens_total_count", "vllm:iteration_tokens_total"),
        ("vllm:prompt_tokens_created", "vllm:prompt_tokens_total"),
        ("http_request_size_bytes_count", "http_request_size_bytes"),
    ],
)
def test_the_name_of_a_sample_leads_to_its_family(metric: str, family: str) -> None:
    found = family_of(metric)
    assert found is not None
    assert found.name == family


@pytest.mark.parametrize(
    "metric", ["vllm:prompt_tokens", "vllm:request_error_total", "vllm:num_requests_running_bucket"]
)
def test_what_no_version_exposes_has_no_family(metric: str) -> None:
    assert family_of(metric) is None


def test_prefixes_are_one_name_space() -> None:
    assert {canonical(prefix + "x") for prefix in ("vllm:", "ray_vllm_", "kserve_vllm:")} == {"vllm:x"}


@pytest.mark.parametrize("name", [name for name in real_pages() if name.startswith("vllm-") and "idle" not in name])
def test_a_recorded_page_has_the_edges_of_its_version(name: str) -> None:
    version = parse_version(name.removeprefix("vllm-"))
    text = real_pages()[name]
    seen = 0
    for family in families().values():
        expected = edges(family.buckets, version, 512) if family.buckets else None
        found = {float(edge) for edge in re.findall(rf'^{family.name}_bucket{{.*le="([^"]+)"', text, re.MULTILINE)}
        if expected is not None and found:
            seen += 1
            assert found == set(expected), family.name
    assert seen > 8


@pytest.mark.parametrize(
    ("text", "version"),
    [("0.11.2", (0, 11, 2)), ("v0.9.0.1", (0, 9, 0)), ("0.8.5.post1", (0, 8, 5)), ("0.12.0rc1+cu128", (0, 12, 0))],
)
def test_a_version_is_its_first_three_numbers(text: str, version: tuple[int, int, int]) -> None:
    assert parse_version(text) == version


def test_what_is_no_version_is_refused() -> None:
    with pytest.raises(VersionError):
        parse_version("dev")
