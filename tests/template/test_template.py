"""What is ours: errors with their place, bounds, and the functions that promtool cannot show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model.labels import Labels
from monitor.template import Template, TemplateData, TemplateError, parse

DATA = TemplateData(
    Labels.of(__name__="up", instance="a:1"),
    0.5,
    external_url="https://prometheus.example/path",
    query=lambda _: [(Labels.of(instance="a:1"), 1.0)],
    now=1_796_018_705_000,
)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("{{ nofunc }}", 1, 4, 'function "nofunc" not defined'),
        ("a\nbé {{ $x }}", 2, 7, 'undefined variable "$x"'),
        ("{{ if true }}a", 1, 15, "unexpected EOF"),
        ("a {{ 'b", 1, 6, "unterminated character constant"),
        ("{{ $value | humanise }}", 1, 13, 'function "humanise" not defined'),
        ("x\n\n{{ $value ", 3, 1, "unclosed action"),
        ("{{ (1 }}", 1, 7, "unclosed left paren"),
        ("{{" + "(" * 200 + "1" + ")" * 200 + "}}", 1, 103, "nested too deeply"),
        ("{{if 1}}" * 200, 1, 803, "nested too deeply"),
        ("{{if 1}}" + "{{else if 1}}" * 200 + "{{end}}", 1, 1303, "nested too deeply"),
    ],
)
def test_a_mistake_is_found_at_load_with_its_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column, caught.value.message) == (line, column, message)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no braces", "no braces"),
        ("{{ externalURL }}|{{ pathPrefix }}|{{ $externalURL }}", f"{DATA.external_url}|/path|{DATA.external_url}"),
        ("{{ now | humanizeTimestamp }}", "2026-11-30 06:05:05 +0000 UTC"),
        ("{{ toDuration 3661.5 }} {{ (toDuration 90).Minutes }}", "1h1m1.5s 1.5"),
        ("{{ 0.0000015 | toDuration }} {{ toDuration 0 }} {{ toDuration -0.25 }}", "1.5µs 0s -250ms"),
        ("{{ toDuration 90 | humanizeDuration }}", "1m 30s"),
        ('{{ urlQueryEscape "a b&c" }}', "a+b%26c"),
        ("{{ $value | toDuration | printf `%v` }}", "500ms"),
    ],
)
def test_a_template_expands(text: str, expected: str) -> None:
    assert parse(text).expand(DATA) == expected


def broken(_: str) -> list[tuple[Labels, float]]:
    raise RuntimeError("no such engine")


def test_a_query_that_fails_is_told_in_the_text() -> None:
    text = parse('{{ query "up" }}', "__alert_A").expand(TemplateData(Labels(), 0.0, query=broken))
    assert text.startswith("<error expanding template: error executing template __alert_A: ")
    assert "error calling query: no such engine" in text


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("{{ range 1000000000 }}a line of some length{{ end }}", "longer than"),
        ("{{ range 1000000000 }}{{ end }}", "too many steps"),
        ("{{ $x := `a` }}{{ range 64 }}{{ $x = print $x $x }}{{ end }}", "longer than"),
        ("{{ $x := printf `%60000d` 1 }}{{ range 60000 }}{{ $y := toUpper $x }}{{ end }}", "too many steps"),
        ('{{ range 60000 }}{{ $y := query "up" }}{{ end }}', "too many steps"),
        ('{{ define "t" }}{{ template "t" }}{{ end }}{{ template "t" }}', "maximum template depth"),
        ("{{ printf `%999999d` 1 }}", "longer than"),
    ],
)
def test_a_runaway_template_ends_as_an_error_text(text: str, because: str) -> None:
    expanded = parse(text).expand(DATA)
    assert expanded.startswith("<error expanding template: ")
    assert because in expanded


def test_a_template_cannot_reach_what_it_was_not_given() -> None:
    for text in ("{{ .__class__ }}", "{{ $labels.__class__ }}|", "{{ $value.real }}", "{{ (toTime 0).moment }}"):
        expanded = parse(text).expand(DATA)
        assert expanded == "|" or "can't evaluate field" in expanded


WORDS = (
    "{{ }} {{- -}} ( ) | . .Labels $labels $value $x := = , 1 -2.5 'c' \"s\" `r` nil true if else end range with "
    'define template block break continue "t" print printf "%v%d%s" len index slice eq lt and or not query first '
    "value label humanize toTime .Format args sortByLabel {{if {{range {{end}} /* */ text é"
)
PIECES = st.sampled_from([*WORDS.split(), " ", "\n"])
SYNTAX = st.lists(PIECES, max_size=25).map(" ".join)


def read(text: str) -> Template | TemplateError:
    try:
        return parse(text)
    except TemplateError as err:
        return err


@given(text=st.one_of(st.text(max_size=60), SYNTAX, SYNTAX.map(lambda inside: "{{" + inside + "}}")))
def test_any_text_is_a_template_or_a_template_error_and_expansion_never_raises(text: str) -> None:
    outcome = read(text)
    if isinstance(outcome, Template):
        assert isinstance(outcome.expand(DATA), str)
    else:
        lines = text.split("\n")
        assert 1 <= outcome.line <= len(lines)
        assert 1 <= outcome.column <= len(lines[outcome.line - 1]) + 1


def test_plain_text_has_no_tree_to_walk() -> None:
    assert parse("vLLM's queue is long").tree is None


@given(value=st.floats())
def test_the_plain_value_reads_back_as_itself(value: float) -> None:
    text = parse("{{ $value }}").expand(TemplateData(Labels(), value))
    assert float(text) == value or text == "NaN"
