"""The reader against other readers, and against itself without a memory."""

import gc
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.model.labels import METRIC_NAME, Labels, quoted
from monitor.model.sample import MetricType, format_value
from monitor.scrape.errors import PageError
from monitor.scrape.labels import LabelMaker
from monitor.scrape.openmetrics import OPENMETRICS
from monitor.scrape.page import PageReader
from monitor.scrape.shape import Page, Series
from monitor.scrape.text import TEXT
from monitor.scrape.whole import Format, Ingest
from tests.scrape.pages import (
    PAGES,
    as_openmetrics,
    by_client,
    by_client_openmetrics,
    files,
    real_pages,
    recorded_pages,
    samples,
)

ONE_FILE = [path.name.removesuffix(".txt.gz") for path in files()]
EXPECTED: list[dict[str, Any]] = json.loads((PAGES / "prometheus_3_5_3.json").read_text())
FORMATS: dict[str, Format] = {"text": TEXT, "openmetrics": OPENMETRICS}


def read(text: str, form: Format = TEXT, ingest: Ingest | None = None) -> Page:
    return PageReader(ingest).read(text.encode("utf-8", "surrogateescape"), form)


# --- other readers


def test_real_pages_read_as_prometheus_client_reads_them() -> None:
    for name, text in real_pages().items():
        page = read(text)
        assert samples(page) == by_client(text), name
        assert page.scraped == len(page.values), name


@pytest.mark.parametrize("name", ONE_FILE)
def test_real_pages_read_the_same_in_openmetrics(name: str) -> None:
    text = as_openmetrics(real_pages()[name])
    assert samples(read(text, OPENMETRICS)) == by_client_openmetrics(text)


# Where we differ from Prometheus on purpose.
LINE_FEEDS_IN_QUOTES = {'a{b="x\ny"} 1\n', '{"x\ny"} 1\n', '{"a\nb"} 1\n# EOF\n'}
BLANKS_IN_NAMES = {"  lead 1\n", "\tlead 1\n"}
NOT_THE_END = {"\0a 1\nok 1\n"}
DIFFERENT = LINE_FEEDS_IN_QUOTES | BLANKS_IN_NAMES | NOT_THE_END


@pytest.mark.parametrize(
    "case", [case for case in EXPECTED if case["page"] not in DIFFERENT], ids=lambda case: repr(case["page"])[:50]
)
def test_a_page_reads_as_prometheus_reads_it(case: dict[str, Any]) -> None:
    target = Labels.of(job="j", instance="i")
    ingest = Ingest(LabelMaker(target))
    if not case["page"]:
        return
    if not case["up"]:
        with pytest.raises(PageError):
            read(case["page"], FORMATS[case["format"]], ingest)
        return
    page = read(case["page"], FORMATS[case["format"]], ingest)
    found = [(labels.without(("job", "instance")), format_value(value)) for labels, value in samples(page)]
    assert found == sorted((Labels.of(labels), value) for labels, value in case["samples"])
    assert page.scraped == case["scraped"]


def test_a_line_feed_in_quotes_must_be_escaped() -> None:
    for text in LINE_FEEDS_IN_QUOTES:
        with pytest.raises(PageError, match=r"^line 1, column "):
            read(text)


def test_blanks_before_a_name_are_not_part_of_it() -> None:
    assert [read(text).series[0].labels.name for text in sorted(BLANKS_IN_NAMES)] == ["lead", "lead"]


def test_nothing_ends_a_page_early() -> None:
    with pytest.raises(PageError, match=r"^line 1, column 1: expected a valid start token"):
        read(min(NOT_THE_END))


# --- the memory of the reader


def test_a_reader_with_a_memory_reads_what_one_without_reads() -> None:
    reader = PageReader()
    for k, text in enumerate(recorded_pages()):
        page = reader.read(text.encode(), TEXT)
        if k % 5:
            continue
        fresh = read(text)
        assert (page.series, page.values) == (fresh.series, fresh.values)


LINES = st.sampled_from(
    [
        "a 1", "a 2", "a NaN", "a +Inf", "a 1_0", "a 1e999", "a 1 5", "a  1", "a 1 ", "a\t1", "a", "", " ", "a{} 1",
        'b{c="d"} 1', 'b{c="d"} 2', 'b{c="d",} 3', 'b{c="e"} 1', 'b{c="e 1"} 1', 'b{c="e 2"} 1', 'b{c="d"} \u0661',
        "# TYPE b counter", "# TYPE b gauge", "# TYPE h histogram", "# HELP b x", "# HELP b x 5", "# HELP b x 6",
        'h_bucket{le="1"} 1', 'h_bucket{le="1.0"} 2', "h_bucket 1", "h_count 5", "# TYPE b", "# x", "# x 1", "# x 2",
    ]
)  # fmt: skip
SOME_PAGES = st.lists(st.lists(LINES, max_size=6).map("\n".join), min_size=1, max_size=6)


@settings(max_examples=400)
@given(texts=SOME_PAGES, wanted=st.sampled_from([None, frozenset(("b", "h_bucket"))]))
def test_whatever_came_before_a_page_reads_the_same(texts: list[str], wanted: frozenset[str] | None) -> None:
    reader = PageReader(Ingest(wanted=wanted))
    for text in texts:
        assert outcome(reader, text) == outcome(PageReader(Ingest(wanted=wanted)), text)


def outcome(reader: PageReader, text: str) -> object:
    try:
        page = reader.read(text.encode(), TEXT)
    except PageError as err:
        return str(err)
    values = [repr(value) for value in page.values]
    return page.series, values, page.timed, page.families, page.scraped


def test_the_same_series_list_comes_back_while_the_wanted_series_stay() -> None:
    reader = PageReader(Ingest(wanted={"a", "b"}))
    first = reader.read(b"a 1\nb 1\n", TEXT)
    assert reader.read(b"a 2\nb 1\n", TEXT).series is first.series
    assert reader.read(b"a 2\nunwanted 5\nb 1\n", TEXT).series is first.series
    assert first.values == [1, 1]
    fewer = reader.read(b"a 2\nunwanted 5\n", TEXT)
    assert [series.labels.name for series in fewer.series] == ["a"]


def test_added_counts_the_series_that_were_not_in_the_page_before() -> None:
    reader = PageReader()
    pages = (b"a 1\nb 1\n", b"a 2\nb 2\n", b"a 3\n", b"a 3\nb 3\nc 3\n")
    assert [reader.read(page, TEXT).added for page in pages] == [2, 0, 0, 2]


def test_a_bad_page_is_not_what_the_next_is_compared_with() -> None:
    reader = PageReader()
    good = reader.read(b"a 1\nb 1\n", TEXT)
    with pytest.raises(PageError) as caught:
        reader.read(b"a 2\nc 2\n?\n", TEXT)
    assert (caught.value.scraped, caught.value.added) == (2, 1)
    again = reader.read(b"a 3\nb 3\n", TEXT)
    assert again.series is good.series
    assert (again.values, again.added) == ([3, 3], 0)


def test_what_is_wanted_may_change() -> None:
    reader = PageReader(Ingest(wanted={"a"}))
    names = []
    for wanted in ({"a"}, {"b"}, None):
        reader.want(wanted)
        names.append([series.labels.name for series in reader.read(b"a 1\nb 1\n", TEXT).series])
    assert names == [["a"], ["b"], ["a", "b"]]


def test_a_series_is_held_once_whatever_is_wanted_and_whoever_says_it_again() -> None:
    def held() -> int:
        gc.collect()
        return sum(type(one) is Series for one in gc.get_objects())

    before = held()
    reader = PageReader(Ingest(wanted={"a"}))
    first = reader.read(b"a 1\nb 1\n", TEXT)
    alone = held() - before
    reader.want({"a"})
    assert reader.read(b"a 2\nb 1\n", TEXT).series is first.series
    del first
    for wanted in ({"a", "c"}, {"a", "d"}):
        reader.want(wanted)
        reader.read(b"a 3\nb 1\n", TEXT)
        assert held() - before == alone


def test_a_page_may_change_its_format() -> None:
    reader = PageReader()
    text = b"# TYPE a counter\na_total 1\n# EOF\n"
    assert reader.read(text, OPENMETRICS).values == reader.read(text, TEXT).values
    with pytest.raises(PageError):
        reader.read(b"# TYPE a untyped\na_total 1\n# EOF\n", OPENMETRICS)
    reader.read(b"# TYPE a untyped\na_total 1\n# EOF\n", TEXT)


# --- the values


def test_counters_are_known_by_their_type() -> None:
    text = (
        "# TYPE c_total counter\nc_total 1\n# TYPE c_created gauge\nc_created 1\n"
        '# TYPE h histogram\nh_bucket{le="+Inf"} 1\nh_count 1\nh_sum 1\nh_other 1\n'
        '# TYPE s summary\ns{quantile="0.5"} 1\ns_count 1\ns_sum 1\n'
        "# TYPE odd counter\nodd 1\nodd_total 1\n# TYPE g gauge\ng 1\ng_total 1\n# TYPE u untyped\nu_total 1\n"
    )
    counters = [series.labels.name for series in read(text).series if series.counter]
    assert counters == ["c_total", "h_bucket", "h_count", "h_sum", "s_count", "s_sum", "odd", "odd_total"]


def test_openmetrics_names_counters_differently() -> None:
    text = "# TYPE c counter\nc_total 1\nc_created 1\n# TYPE h gaugehistogram\nh_bucket 1\n# EOF\n"
    assert [series.counter for series in read(text, OPENMETRICS).series] == [True, False, False]


def test_the_families_are_kept() -> None:
    text = r"""# HELP a one \\ two\n\"three\"
# TYPE a gauge
# HELP b only help
# EOF
"""
    families = read(text).families
    assert (families["a"].type, families["a"].help) == (MetricType.GAUGE, 'one \\ two\n\\"three\\"')
    assert (families["b"].type, families["b"].help) == (MetricType.UNKNOWN, "only help")
    assert read(text, OPENMETRICS).families["a"].help == 'one \\ two\n"three"'


def test_openmetrics_has_units() -> None:
    text = "# TYPE a_seconds gauge\n# UNIT a_seconds seconds\na_seconds 1\n# EOF\n"
    assert read(text, OPENMETRICS).families["a_seconds"].unit == "seconds"


def test_timestamps_are_milliseconds_in_one_format_and_seconds_in_the_other() -> None:
    assert [timed.at for timed in read("a 1 1500\n").timed] == [1500]
    assert [timed.at for timed in read("a 1 1.5\n# EOF\n", OPENMETRICS).timed] == [1500]
    assert [timed.at for timed in read('a 1 1.5 # {b="c"} 1 2\n# EOF\n', OPENMETRICS).timed] == [1500]


def test_timestamps_may_be_ignored() -> None:
    page = read("a 1 1500\n", ingest=Ingest(honor_timestamps=False))
    assert (page.values, page.timed) == ([1], [])


def test_a_series_of_the_page_cannot_take_the_place_of_another() -> None:
    page = read("up 1\nother 2\n", ingest=Ingest(taken=[Labels.of({METRIC_NAME: "up"})]))
    assert page.values == [2]


NAMES = st.from_regex(r"\A[a-zA-Z_:][a-zA-Z0-9_:]{0,5}\Z") | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6
)
VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SERIES = st.tuples(NAMES, st.dictionaries(NAMES.filter(lambda name: name != METRIC_NAME), VALUES, max_size=3))


@given(
    series=st.lists(SERIES, max_size=5, unique_by=lambda one: Labels.of({**one[1], METRIC_NAME: one[0]})),
    value=st.floats(),
    form=st.sampled_from([TEXT, OPENMETRICS]),
)
def test_what_was_written_is_read(series: list[tuple[str, dict[str, str]]], value: float, form: Format) -> None:
    lines = []
    for name, labels in series:
        pairs = ",".join(f"{quoted(label)}={quoted(text)}" for label, text in labels.items())
        lines.append(f"{{{quoted(name)},{pairs}}} {format_value(value)}\n")
    page = read("".join([*lines, "# EOF\n"]), form)
    assert [one.labels for one in page.series] == [Labels.of({**labels, METRIC_NAME: name}) for name, labels in series]
    assert [repr(one) for one in page.values] == [repr(value)] * len(series)


@given(body=st.binary() | st.text().map(str.encode) | st.lists(LINES).map("\n".join).map(str.encode))
def test_whatever_is_sent_is_a_page_or_an_error_with_a_line(body: bytes) -> None:
    for form in (TEXT, OPENMETRICS):
        line = 1
        try:
            PageReader().read(body, form)
        except PageError as err:
            line = err.line
        assert 1 <= line <= body.count(b"\n") + 1


# --- the errors


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ok 1\na{b='c'} 1\n", "line 2, column 5: expected label value, got \"'\" in \"a{b='c'} 1\""),
        ("a\n", 'line 1, column 2: expected value after metric, got the end of the line in "a"'),
        ("a true\n", 'line 1, column 3: "true": not a number in "a true"'),
        ("a 1e999\n", 'line 1, column 3: "1e999": number out of range in "a 1e999"'),
        ("# TYPE a bogus\n", 'line 1, column 9: invalid metric type "bogus" in "# TYPE a bogus"'),
        ('{b="c"} 1\n', 'line 1, column 8: metric name not set in "{b=\\"c\\"} 1"'),
        ('a{b="1",b="2"} 1\n', 'line 1: label name "b" is not unique in "a{b=\\"1\\",b=\\"2\\"} 1"'),
        ('a{b="\udcff"} 1\n', 'line 1, column 5: label value is not valid UTF-8 in "a{b=\\"\\xff\\"} 1"'),
        ("# HELP a \udcff\n", 'line 1, column 9: help text is not valid UTF-8 in "# HELP a \\xff"'),
        ("a 1 5 6\n", 'line 1, column 7: expected next entry after timestamp, got "6" in "a 1 5 6"'),
        ("a 1 " + "9" * 5000 + "\n", 'line 1, column 5005: timestamp out of range in "a 1 ' + "9" * 96 + '"…'),
    ],
)  # fmt: skip
def test_an_error_says_where_and_what(text: str, message: str) -> None:
    with pytest.raises(PageError) as caught:
        read(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1\n", "line 1: data does not end with # EOF"),
        ("a 1\n# EOF\nb 1\n", 'line 2, column 1: unexpected data after # EOF in "# EOF"'),
        ("# hello\n# EOF\n", 'line 1, column 3: expected HELP, TYPE, UNIT or EOF, got "h" in "# hello"'),
        ('a 1 # {b="c"}\n# EOF\n', "line 1, column 14: expected value after exemplar labels, got the end of the line"),
        ("a 1 NaN\n# EOF\n", 'line 1, column 8: invalid timestamp "NaN" in "a 1 NaN"'),
    ],
)  # fmt: skip
def test_openmetrics_is_stricter(text: str, message: str) -> None:
    with pytest.raises(PageError) as caught:
        read(text, OPENMETRICS)
    assert str(caught.value).startswith(message)
