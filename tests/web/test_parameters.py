"""Times and durations as requests write them."""

import pytest

from monitor.web.escaped import unescaped
from monitor.web.parameters import parse_nanoseconds, parse_time


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("1700000300", 1_700_000_300_000),
        ("1700000300.0015", 1_700_000_300_001),
        ("1700000300.0025", 1_700_000_300_003),
        ("-0.0005", -1),
        ("-1.0006", -1_001),
        ("1.7e9", 1_700_000_000_000),
        (".5", 500),
        ("+5.", 5_000),
        ("2023-11-14T22:18:20Z", 1_700_000_300_000),
        ("2023-11-14T22:18:20.0019Z", 1_700_000_300_001),
        ("2023-11-14T22:18:20.123456789+00:00", 1_700_000_300_123),
        ("2023-11-14T17:18:20-05:00", 1_700_000_300_000),
        ("1969-12-31T23:59:59.999Z", -1),
    ],
)
def test_a_time_is_seconds_or_rfc_3339(text: str, expected: int) -> None:
    assert parse_time(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", " ", "5m", "now", "NaN", "Inf", "1e300", "1_000", "0x10", "٣", "2023-11-14", "2023-11-14T22:18:20",
     "2023-02-30T00:00:00Z", "2023-11-14 22:18:20Z", "2023-11-14T22:18:20Z "],
)  # fmt: skip
def test_what_is_no_time_is_quoted(text: str) -> None:
    with pytest.raises(ValueError, match="to a valid timestamp") as caught:
        parse_time(text)
    assert f'"{text}"' in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("15", 15_000_000_000), ("0.0001", 100_000), ("1m30s", 90_000_000_000), ("-1", -1_000_000_000)],
)
def test_a_duration_is_seconds_or_units(text: str, expected: int) -> None:
    assert parse_nanoseconds(text) == expected


@pytest.mark.parametrize("text", ["", "x", "1.5m", "-5m", "1e300", "99999999999y", "NaN"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="to a valid duration"):
        parse_nanoseconds(text)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("job", "job"),
        ("U__", ""),
        ("U__job", "job"),
        ("U__my_2e_label", "my.label"),
        ("U__a__b", "a_b"),
        ("U___1f600_", "😀"),
        ("U__a_", "U__a_"),
        ("U__a_2e", "U__a_2e"),
        ("U__a_xy_", "U__a_xy_"),
        ("U__a_d800_", "U__a_d800_"),
        ("U__a_1f6000_", "U__a_1f6000_"),
    ],
)
def test_a_name_in_a_path_may_be_escaped(name: str, expected: str) -> None:
    assert unescaped(name) == expected
