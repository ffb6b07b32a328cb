from math import inf, nan, nextafter

import pytest

from monitor.model.labels import Labels
from monitor.rules.unittest.compare import Line, compare_alerts, compare_samples
from monitor.rules.unittest.spec import ExpectedAlert


def alert(summary: str = "", **labels: str) -> ExpectedAlert:
    annotations = Labels.of(summary=summary)
    return ExpectedAlert(Labels.of({"alertname": "A", **labels}), annotations)


def series(name: str, **labels: str) -> Labels:
    return Labels.of({"__name__": name, **labels})


def test_vectors_are_compared_in_no_order() -> None:
    one, other = (series("x", a="1"), 1.0), (series("x", a="2"), 2.0)
    assert compare_samples([one, other], [other, one], fuzzy=False) == ()


@pytest.mark.parametrize(
    ("expected", "got", "exact", "fuzzy"),
    [
        (0.3, 0.1 + 0.2, False, True),
        (0.3, nextafter(nextafter(0.3, inf), inf), False, False),
        (0.3, nextafter(0.3, -inf), False, True),
        (0.0, -0.0, True, True),
        (inf, inf, True, True),
        (nan, nan, False, False),
    ],
)
def test_a_fuzzy_comparison_passes_over_the_last_bit(expected: float, got: float, exact: bool, fuzzy: bool) -> None:  # noqa: FBT001 - columns of a table
    for is_fuzzy, same in ((False, exact), (True, fuzzy)):
        assert (compare_samples([(Labels(), expected)], [(Labels(), got)], fuzzy=is_fuzzy) == ()) is same


def test_samples_stand_side_by_side() -> None:
    expected = [(series("x", a="1"), 1.0), (series("x", a="2"), 2.0), (series("x", a="3"), 3.0)]
    got = [(series("x", a="4"), 4.0), (series("x", a="3"), 30.0), (series("x", a="1"), 1.0)]
    assert compare_samples(expected, got, fuzzy=False) == (
        Line("=", 'x{a="1"}', "1", "1"),
        Line("-", 'x{a="2"}', "2", "-"),
        Line("!", 'x{a="3"}', "3", "30"),
        Line("+", 'x{a="4"}', "-", "4"),
    )


def test_nan_is_told_to_be_equal_to_nothing() -> None:
    lines = compare_samples([(Labels(), nan)], [(Labels(), nan)], fuzzy=True)
    assert lines[0] == Line("!", "{}", "NaN", "NaN")
    assert "expr != expr" in lines[1].what


def test_alerts_are_compared_in_no_order_but_each_counts() -> None:
    assert compare_alerts([alert(a="1"), alert(a="2")], [alert(a="2"), alert(a="1")]) == ()
    assert compare_alerts([alert(a="1")], [alert(a="1"), alert(a="1")]) == (
        Line("=", "1 as expected"),
        Line("+", '{a="1"}', "-", "firing"),
    )


def test_an_alert_stands_beside_the_one_that_is_most_like_it() -> None:
    expected = [alert("full", a="1", zone="x"), alert("gone", a="9")]
    firing = [alert("gone", a="8"), alert("fuller", a="1", zone="y"), alert("x", a="3", zone="x", other="1")]
    assert compare_alerts(expected, firing, pending=[expected[1].labels]) == (
        Line("!", '{a="1", zone="x"}'),
        Line("", "label zone", '"x"', '"y"'),
        Line("", "annotation summary", '"full"', '"fuller"'),
        Line("-", '{a="9"}', "firing", "pending"),
        Line("", "annotation summary", '"gone"', "-"),
        Line("+", '{a="8"}', "-", "firing"),
        Line("", "annotation summary", "-", '"gone"'),
        Line("+", '{a="3", other="1", zone="x"}', "-", "firing"),
        Line("", "annotation summary", "-", '"x"'),
    )
