"""Which version a page comes from, by what it shows."""

import re

import pytest

from monitor.vllm.families import Engine
from monitor.vllm.guess import Shown, engine_of, guess
from monitor.vllm.version import parse_version
from tests.scrape.pages import real_pages
from tests.vllm.pages import page


def shown(text: str) -> Shown:
    return Shown.of(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE), engine_label='engine="' in text)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("vllm-0.9.0.1-idle", ("0.8.3", Engine.V0)),
        ("vllm-0.9.0.1-overload", ("0.8.3", Engine.V0)),
        ("vllm-0.11.2-idle", ("0.11.1", Engine.V1)),
        ("vllm-0.32.0-idle", ("0.32.0", Engine.V1)),
        ("vllm-0.32.0-two-api-servers-overload", ("0.32.0", Engine.V1)),
    ],
)
def test_a_recorded_page_is_known_by_its_families(name: str, expected: tuple[str, Engine]) -> None:
    found = guess(shown(real_pages()[name]))
    assert (str(found.version), found.engine) == expected


@pytest.mark.parametrize("engine", [Engine.V0, Engine.V1])
@pytest.mark.parametrize("version", ["0.8.1", "0.8.5", "0.9.2"])
def test_the_engine_of_a_version_that_has_both_is_known_by_the_page(version: str, engine: Engine) -> None:
    assert engine_of(parse_version(version), shown(page(version, engine))) is engine


@pytest.mark.parametrize(
    ("version", "looks_like"),
    [("0.8.5", "0.8.3"), ("0.10.2", "0.10.2"), ("0.14.1", "0.13.0"), ("0.20.2", "0.20.0"), ("0.33.0", "0.32.0")],
)
def test_a_page_looks_like_the_first_version_with_its_families(version: str, looks_like: str) -> None:
    assert str(guess(shown(page(version))).version) == looks_like
