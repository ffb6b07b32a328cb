"""Places inside a value: for every way of writing it, each character is found where it stands in the document."""

import textwrap
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.yamldoc.compose import read_document
from monitor.yamldoc.locate import place_inside
from monitor.yamldoc.mistake import Place
from monitor.yamldoc.node import Scalar, find


def scalar_of(document: str) -> Scalar:
    node = find(read_document(document, "f").root, ("expr",))
    assert isinstance(node, Scalar)
    return node


def character_at(document: str, place: Place) -> str:
    return document.split("\n")[place.line - 1][place.column - 1]


BLOCK = "expr: |{}\n{}\nnext: x\n"
WRITTEN = [
    pytest.param(lambda lines: BLOCK.format("", textwrap.indent("\n".join(lines), "    ")), id="literal"),
    pytest.param(lambda lines: BLOCK.format("2-", textwrap.indent("\n".join(lines), "  ")), id="literal-indented"),
    pytest.param(lambda lines: "expr: >-\n" + textwrap.indent("\n".join(lines), "  ") + "\n", id="folded"),
    pytest.param(lambda lines: "expr: '" + "\n  ".join(lines).replace("'", "''") + "'\n", id="single"),
    pytest.param(lambda lines: 'expr: "' + "\\n".join(lines).replace('"', '\\"') + '"\n', id="double"),
    pytest.param(lambda lines: 'expr: "' + "\\\n  ".join(lines).replace('"', "\\x22") + '"\n', id="double-escaped"),
    pytest.param(lambda lines: "expr: v" + "\n  ".join(lines) + "\n", id="plain"),
]
words = st.text("abcé'\"()+", min_size=1, max_size=6)
lines_of_words = st.lists(st.lists(words, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=4)


@pytest.mark.parametrize("write", WRITTEN)
@given(lines=lines_of_words)
def test_every_character_is_found(write: Callable[[list[str]], str], lines: list[str]) -> None:
    document = write(lines)
    scalar = scalar_of(document)
    # A quote may be written with an escape, which is found by its backslash.
    pieces = {"\\": '"'}
    for number, line in enumerate(scalar.text.split("\n"), 1):
        for column, char in enumerate(line, 1):
            if not char.isspace():
                found = character_at(document, place_inside(document, scalar, number, column))
                assert pieces.get(found, found) == char


def test_what_is_behind_the_end_is_behind_the_last_character() -> None:
    document = "expr: |\n  sum(\n    up\n\n"
    assert place_inside(document, scalar_of(document), 9, 1) == Place(3, 7)


def test_an_empty_value_is_where_it_stands() -> None:
    document = 'expr: ""\n'
    assert place_inside(document, scalar_of(document), 1, 1) == Place(1, 7)
