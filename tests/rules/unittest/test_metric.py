import pytest

from monitor.model.labels import Labels
from monitor.rules.unittest.errors import NotationError
from monitor.rules.unittest.metric import parse_metric


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("", {}),
        ("{}", {}),
        (" x { } # the end", {"__name__": "x"}),
        (":a:b", {"__name__": ":a:b"}),
        ('{a="b"}', {"a": "b"}),
        ("x{a='1', b=`\\n`,}", {"__name__": "x", "a": "1", "b": "\\n"}),
        ('x{a=""}', {"__name__": "x"}),
        ('{__name__="x"}', {"__name__": "x"}),
        ('{"a name", "a.label" = "1"}', {"__name__": "a name", "a.label": "1"}),
        ('sum{by="1", bool="2"}', {"__name__": "sum", "by": "1", "bool": "2"}),
        (r'{a="\n\t\\\"\x41\101\u00e9\U0001F600"}', {"a": '\n\t\\"AAé😀'}),
        (r'{a="\xc3\xa9"}', {"a": "é"}),
    ],
)
def test_labels_are_read(text: str, labels: dict[str, str]) -> None:
    assert parse_metric(text) == Labels.of(labels)


@pytest.mark.parametrize(
    ("text", "column", "what"),
    [
        ("x{", 3, "the name of a label is missing"),
        ("x{,}", 3, "the name of a label is missing"),
        ('x{a:b="1"}', 3, "the name of a label is missing"),
        ("x{a}", 4, '"=" is missing behind a'),
        ('x{a=~"1"}', 5, "a text in quotes is missing"),
        ("x{a=1}", 5, "a text in quotes is missing"),
        ('x{a="1}', 5, "a text in quotes is missing"),
        ('x{a="1" b="2"}', 9, 'a "," or "}" is missing'),
        ('x{a="1", a="2"}', 10, 'the label "a" is given twice'),
        ('x{"y"}', 3, 'the label "__name__" is given twice'),
        (r'x{a="\q"}', 5, r"the escape \q is not known"),
        (r'x{a="\777"}', 5, r"the escape \777 is not known"),
        (r'x{a="\'"}', 5, r"the escape \' is not known"),
        (r'x{a="\xff"}', 5, "the text is not UTF-8"),
        ("x 5", 3, '"5" is too much'),
        ("x-y", 2, '"-y" is too much'),
        ("On", 1, '"On" cannot be the name of a metric'),
    ],
)
def test_what_is_no_series_is_told_with_its_column(text: str, column: int, what: str) -> None:
    with pytest.raises(NotationError) as caught:
        parse_metric(text)
    assert (str(caught.value), caught.value.column) == (what, column)


def test_in_an_input_series_a_blank_ends_the_name() -> None:
    assert parse_metric(' x{ a = "1" } ', blank_before_brace=False) == Labels.of({"__name__": "x", "a": "1"})
    with pytest.raises(NotationError, match="a blank stands before the brace"):
        parse_metric("x {}", blank_before_brace=False)
