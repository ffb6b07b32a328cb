from pathlib import Path

import pytest

from monitor.rules.unittest.patterns import PatternError, matching

FILES = ("a.yaml", "b.yaml", ".hidden.yaml", "sub/a.yaml", "sub/deep/a.yaml", "[x].yaml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("a.yaml", ["a.yaml"]),
        ("*.yaml", [".hidden.yaml", "[x].yaml", "a.yaml", "b.yaml"]),
        ("?.yaml", ["a.yaml", "b.yaml"]),
        ("[a-a].yaml", ["a.yaml"]),
        ("[^a].yaml", ["b.yaml"]),
        # Other than in a shell, ! is a character like any other.
        ("[!a].yaml", ["a.yaml"]),
        ("\\[x\\].yaml", ["[x].yaml"]),
        ("*/a.yaml", ["sub/a.yaml"]),
        ("**/a.yaml", ["sub/a.yaml"]),
        ("sub/../*.yaml", [".hidden.yaml", "[x].yaml", "a.yaml", "b.yaml"]),
        ("{a,b}.yaml", []),
        ("nosuch.yaml", []),
        ("a.yaml/*", []),
        ("", []),
        ("\0", []),
    ],
)
def test_a_pattern_means_the_files_it_means_to_promtool(folder: Path, pattern: str, found: list[str]) -> None:
    assert [str(path.relative_to(folder)) for path in matching(folder, pattern)] == found


def test_an_absolute_pattern_is_not_seen_from_the_folder(folder: Path) -> None:
    assert matching(Path("/nosuch"), str(folder / "a*")) == (folder / "a.yaml",)


@pytest.mark.parametrize("pattern", ["[a", "a\\", "[]", "[b-a]", "sub/[", "[-a]"])
def test_what_is_no_pattern_is_refused(folder: Path, pattern: str) -> None:
    with pytest.raises(PatternError):
        matching(folder, pattern)
