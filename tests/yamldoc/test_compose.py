"""YAML's own rules: what is in a tree, where it stands, and what is refused before any schema looks at it."""

from contextlib import suppress

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from monitor.yamldoc.compose import DEEPEST, MOST_NODES, read_document
from monitor.yamldoc.mistake import DocumentError, Place
from monitor.yamldoc.node import Scalar, find, place_of
from monitor.yamldoc.source import LARGEST


def text_at(document: str, *loc: str | int) -> str:
    node = find(read_document(document, "f").root, loc)
    assert isinstance(node, Scalar)
    return node.text


def mistakes(document: str | bytes) -> list[str]:
    try:
        return [str(mistake) for mistake in read_document(document, "f").mistakes]
    except DocumentError as err:
        return [str(mistake) for mistake in err.mistakes]


@pytest.mark.parametrize("written", ["on", "yes", "010", "1:30", "2020-01-01", "1_000", "0x10", ".5", "5m", "true"])
def test_a_value_is_the_text_that_is_written(written: str) -> None:
    assert text_at(f"key: {written}", "key") == written


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("", "null"),
        ("~", "null"),
        ("null", "null"),
        ('""', "text"),
        ('"~"', "text"),
        ("!!str", "text"),
        ("nil", "text"),
    ],
)
def test_only_a_bare_word_is_null(written: str, kind: str) -> None:
    node = find(read_document(f"key: {written}", "f").root, ("key",))
    assert isinstance(node, Scalar)
    assert ("null" if node.is_null else "text") == kind


def test_keys_and_values_know_their_place() -> None:
    root = read_document("a: 1\nü: {b: [x,\n   y]}\n", "f").root
    assert place_of(root, ("ü", "b", 1)) == Place(3, 4)
    assert place_of(root, ("ü", "b"), key=True) == Place(2, 5)


def test_the_place_of_what_is_missing_is_that_of_what_is_there() -> None:
    root = read_document("a:\n  b: 1\n", "f").root
    assert place_of(root, ("a", "c", "d")) == Place(2, 3)


def test_a_merge_key_gives_what_is_not_given() -> None:
    document = "base: &b {x: 1, y: 1}\nother: &o {y: 2, z: 2}\nuse: {<<: [*b, *o], x: 0}\n"
    assert [text_at(document, "use", key) for key in "xyz"] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param("a: 1\nb: 2\na: 3\n", 'f:3:1: the key "a" is given twice (first on line 1)', id="twice"),
        pytest.param("? [a]\n: b\n", "f:1:3: a key must be a text", id="key-is-a-list"),
        pytest.param("a: !!python/name:os.system x", "f:1:4: the tag", id="python-tag"),
        pytest.param("a: *b", "f:1:4: the alias *b has no anchor before it", id="alias"),
        pytest.param("a: &a [*a]", "f:1:8: the alias *a has no anchor before it", id="alias-of-itself"),
        pytest.param("<<: [a]", "f:1:5: the merge key", id="merge-of-a-text"),
        pytest.param("a: b\n---\nc: d\n", "f:2:1: a second document begins here", id="two-documents"),
        pytest.param("a:\n \t- b\n", "f:2:2: is not valid YAML: a tab cannot indent", id="tab"),
        pytest.param("a: b: c\n", "f:1:5: is not valid YAML", id="syntax"),
        pytest.param("a: 'b", "f:1:6: is not valid YAML", id="open-quote"),
        pytest.param(b"a: \xfc\n", "f:1:4: is not UTF-8 text (byte 0xfc)", id="latin-1"),
        pytest.param("a: 1\n".encode("utf-16"), "f:1:1: is not UTF-8 text (byte 0xff)", id="utf-16"),
        pytest.param("é: \ud800", "f:1:4: is not UTF-8 text", id="half-a-surrogate"),
        pytest.param("a: \x07\n", "f:1:4: the character U+0007 is not allowed", id="bell"),
        pytest.param("[" * 100, f"f:1:{DEEPEST + 2}: is nested more than {DEEPEST} levels deep", id="deep"),
        pytest.param("a" * (LARGEST + 1), "f: is larger than 4 MB", id="large"),
    ],
)
def test_a_mistake_has_its_place(document: str | bytes, expected: str) -> None:
    assert [told[: len(expected)] for told in mistakes(document)] == [expected]


def test_aliases_cannot_blow_a_document_up() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    (told,) = mistakes("\n".join(lines))
    assert f"holds more than {MOST_NODES} values" in told


def test_what_is_wrong_with_keys_is_told_together() -> None:
    assert len(mistakes("a: 1\na: 2\n[b]: c\nd: !x e\n")) == 3


def test_an_empty_document_has_no_root() -> None:
    assert [read_document(empty, "f").root for empty in ("", "# only a comment\n", "---\n", "~")] == [None] * 4


# Characters that mean something to YAML come up more often than in text at large.
yaml_like = st.text(st.sampled_from("ab:- \n\t'\"|>&*!%#{}[],?<~0") | st.characters(), max_size=60)


# Not every build of PyYAML has the fast parser.
@pytest.mark.parametrize("loader", [getattr(yaml, "CSafeLoader", yaml.SafeLoader), yaml.SafeLoader])
@given(document=yaml_like | st.binary(max_size=60))
@example(document='"\\ud800"')
@example(document='"\\UFFFFFFFF"')
def test_nothing_but_a_document_error_is_raised(document: str | bytes, loader: type[yaml.SafeLoader]) -> None:
    with suppress(DocumentError):
        str(read_document(document, "f", loader=loader)).encode()
