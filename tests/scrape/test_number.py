"""Numbers: what a float of a page may look like, and how a bucket's bound is written."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model.sample import MetricType, format_value
from monitor.scrape.number import are_decimals, format_bound, normal_bound, parse_value


@given(st.floats())
def test_a_value_that_was_written_is_read(value: float) -> None:
    for text in (format_value(value), repr(value)):
        assert repr(parse_value(text)) == repr(value)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "1 ", " 1", "1_0", "0x10", "0x1p4", "1e", ".", "+", "--1", "1e999", "-1e999", "-nan", "+NaN", "infin",
        "true", "1,5", "1\r", "1\x0b", "1\u00a0", "\u0661", "\uff11", "nan ", "1e5.5", "1+1", "1e+5e", "∞",
    ],
)  # fmt: skip
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"number"):
        parse_value(text)


@given(st.lists(st.text("0123456789.eE+-_xnN\r", max_size=6), max_size=4))
def test_a_look_at_all_of_them_never_accepts_what_one_look_each_refuses(texts: list[str]) -> None:
    try:
        values = [float(text) for text in texts]
    except ValueError:
        return
    if are_decimals(texts, values):
        assert [parse_value(text) for text in texts] == values


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"), (-0.0, "0.0"), (1.0, "1.0"), (-1.0, "-1.0"), (0.5, "0.5"), (0.0001, "0.0001"), (1e-5, "1e-05"),
        (0.000025, "2.5e-05"), (100000.0, "100000.0"), (262144.0, "262144.0"), (1e6, "1e+06"), (-1e6, "-1e+06"),
        (1048576.0, "1.048576e+06"), (999999.5, "999999.5"), (1234567.5, "1.2345675e+06"), (1e22, "1e+22"),
        (123456789012345678901234567890.0, "1.2345678901234568e+29"), (1e100, "1e+100"), (0.1, "0.1"),
        (math.inf, "+Inf"), (-math.inf, "-Inf"), (math.nan, "NaN"),
    ],
)  # fmt: skip
def test_a_bound_is_written_as_go_writes_it(value: float, text: str) -> None:
    assert format_bound(value) == text


@given(st.floats(allow_nan=False))
def test_a_bound_keeps_its_value(value: float) -> None:
    assert float(format_bound(value)) == value


@pytest.mark.parametrize(
    ("kind", "label", "value", "normal"),
    [
        (MetricType.HISTOGRAM, "le", "1", "1.0"),
        (MetricType.HISTOGRAM, "le", "inf", "+Inf"),
        (MetricType.HISTOGRAM, "le", "a lot", "a lot"),
        (MetricType.HISTOGRAM, "quantile", "1", "1"),
        (MetricType.SUMMARY, "quantile", "1", "1.0"),
        (MetricType.SUMMARY, "le", "1", "1"),
        (MetricType.GAUGE_HISTOGRAM, "le", "1", "1"),
        (MetricType.GAUGE, "le", "1", "1"),
    ],
)
def test_only_the_bounds_of_histograms_and_summaries_are_normalised(
    kind: MetricType, label: str, value: str, normal: str
) -> None:
    assert normal_bound(kind, label, value) == normal
