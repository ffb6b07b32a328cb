"""Matchers: what they mean, and that the real Alertmanager takes them to mean the same."""

import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from monitor.dispatch.matchers import MatcherError, parse_matchers
from monitor.model.labels import Labels
from monitor.model.matcher import Matcher, MatchError, MatchType, equal
from tests.engines import engine

# Labels that each matcher is tried on, on both sides.
LABELS = [Labels.of(a="b"), Labels.of(a="b", c="d"), Labels.of(a="x y"), Labels.of(a='q"q'), Labels.of(c="d")]
ACCEPTED = [
    'a="b"',
    "a=b",
    " a = b ",
    "a!=b",
    'a=~"b|x.*"',
    "a=~b|c",
    "a!~b|c",
    '{a="b",c="d"}',
    "a=b, c=d",
    'a="b",',
    "{a=b}",
    'a=""',
    "a=",
    "a==",
    'a="x y"',
    "a=x y",
    'a="q\\"q"',
    'a=~"\\\\w"',
    'a=~"\\w"',
    'a="b,c"',
    'a=~"b{1}"',
    "{}",
]
# Quoted names came with Alertmanager 0.27.
NEWER = ['"a"="b"']
REFUSED = ["a", "=b", 'a="b', 'a=b"', "a=~*", 'a=~"("', "a=b c=d,,", "a=b,,c=d", ",a=b"]
# Alertmanager takes these, but not as they are meant: the quotes for part of the value, the brace for nothing.
STRICTER = ["a='b'", "a=~'b'", "{a=b", "a=b}", "a=~b{2}", '""="b"']
SUITES = [pytest.param("", id="system"), pytest.param("newer", id="newer")]


@pytest.mark.parametrize("text", ACCEPTED + NEWER)
def test_a_matcher_is_understood(text: str) -> None:
    parse_matchers(text)


@pytest.mark.parametrize("text", REFUSED + STRICTER)
def test_what_is_no_matcher_is_refused(text: str) -> None:
    with pytest.raises((MatcherError, MatchError)):
        parse_matchers(text)


def config(folder: Path, texts: list[str]) -> Path:
    """Write an Alertmanager configuration with a route for every text, whose receiver is its number."""
    routes = [{"receiver": str(n), "matchers": [text], "continue": True} for n, text in enumerate(texts)]
    receivers = [{"name": name} for name in ["none", *(str(n) for n in range(len(texts)))]]
    file = folder / "alertmanager.yaml"
    file.write_text(yaml.safe_dump({"route": {"receiver": "none", "routes": routes}, "receivers": receivers}))
    return file


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("labels", LABELS, ids=str)
def test_alertmanager_routes_by_it_in_the_same_way(labels: Labels, suite: str, tmp_path: Path) -> None:
    texts = ACCEPTED + NEWER if suite else ACCEPTED
    command = [engine("amtool", suite), "config", "routes", "test", f"--config.file={config(tmp_path, texts)}"]
    command += [str(equal(name, value)) for name, value in labels]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # Before its answer newer versions print advice about the way that matchers are written.
    told = [texts[int(number)] for number in done.stdout.splitlines()[-1].split(",")]
    assert told == [text for text in texts if all(matcher.accepts(labels) for matcher in parse_matchers(text))]


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("text", REFUSED)
def test_alertmanager_refuses_it_as_well(text: str, suite: str, tmp_path: Path) -> None:
    command = [engine("amtool", suite), "check-config", str(config(tmp_path, [text]))]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1


names = st.text("abc_1", min_size=1).filter(lambda name: not name[0].isdigit())


@given(
    st.lists(st.builds(Matcher, names, st.sampled_from([MatchType.EQUAL, MatchType.NOT_EQUAL]), st.text()), min_size=1)
)
def test_what_is_written_is_read_back(matchers: list[Matcher]) -> None:
    assert parse_matchers("{" + ",".join(map(str, matchers)) + "}") == tuple(matchers)


@given(st.text(st.sampled_from("ab=~!{},\"\\' \n(") | st.characters(), max_size=30))
def test_nothing_else_is_raised(text: str) -> None:
    with suppress(MatcherError, MatchError):
        parse_matchers(text)
