"""The loop of one target, scrape by scrape."""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import count

import pytest

from monitor.model.instant import HOUR, MINUTE, Instant
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import equal
from monitor.model.relabel import Action, RelabelConfig
from monitor.model.sample import MetricType, is_stale
from monitor.model.target import Target
from monitor.scrape.errors import Reason, ScrapeError
from monitor.scrape.labels import LabelLimits
from monitor.scrape.options import MEBIBYTE, ScrapeOptions
from monitor.scrape.target import REPORT, Answer, Health, ScrapeLoop, ScrapeResult
from monitor.storage.window import Window

TARGET = Target("vllm", "http://a:1/metrics", Labels.of(job="vllm", instance="a:1"), Labels())
REFUSED = ScrapeError("connection refused", reason=Reason.REFUSED)

Given = str | bytes | Answer | Exception


@dataclass
class FakeFetch:
    """Gives each of `answers` in turn: a page of the text format, an answer, or an error to raise."""

    answers: list[Given] = field(default_factory=list)

    def __call__(self) -> Answer:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Answer):
            return answer
        return Answer(answer if isinstance(answer, bytes) else answer.encode(), "text/plain")


class Life:
    """A target's scrapes, one a second from second 1 on; its clock makes every scrape last 0.25 s."""

    def __init__(
        self, *answers: Given, options: ScrapeOptions | None = None, wanted: Collection[str] | None = None
    ) -> None:
        self.window = Window()
        self.fetch = FakeFetch(list(answers))
        ticks = count()
        self.loop = ScrapeLoop(
            TARGET, options or ScrapeOptions(), self.window, self.fetch, wanted=wanted, seconds=lambda: next(ticks) / 4
        )
        self.results: list[ScrapeResult] = [self.loop.scrape(at * 1000) for at in range(1, len(answers) + 1)]

    def samples(self, name: str, **labels: str) -> dict[Instant, float | str]:
        """Return what is stored of the one series of these labels: by second, `stale` for the marker."""
        matchers = [equal(METRIC_NAME, name), *(equal(label, value) for label, value in labels.items())]
        found = self.window.select(matchers)
        if not found:
            return {}
        (column,) = found
        times, base = column.block.view
        values, first = column.view
        own = times[first - base : first - base + len(values)]
        return {at // 1000: "stale" if is_stale(value) else value for at, value in zip(own, values, strict=True)}

    def line(self, name: str, **labels: str) -> list[float | str]:
        return list(self.samples(name, **labels).values())


def test_a_scrape_writes_the_page_and_what_it_has_to_say_of_itself() -> None:
    life = Life("a 1\nb 2\n", "a 3\nb 4\nc 5\n")
    assert life.samples("a", job="vllm", instance="a:1") == {1: 1, 2: 3}
    assert [life.line(name, job="vllm", instance="a:1") for name in REPORT] == [
        [1, 1],
        [0.25, 0.25],
        [2, 3],
        [2, 3],
        [2, 1],
    ]
    assert life.results[1] == ScrapeResult(2000, 0.25, up=True, scraped=3, added=1)


def test_a_failed_scrape_is_up_0_and_all_series_stale_once() -> None:
    life = Life("a 1\n", REFUSED, REFUSED, "a 2\n")
    assert life.samples("a") == {1: 1, 2: "stale", 3: "stale", 4: 2}
    assert life.line("up") == [1, 0, 0, 1]
    assert life.line("scrape_samples_scraped") == [1, 0, 0, 1]
    assert life.line("scrape_series_added") == [1, 0, 0, 0]


def test_a_target_that_never_answers_still_reports() -> None:
    life = Life(REFUSED, REFUSED)
    assert life.line("up") == [0, 0]
    assert life.window.names() == tuple(sorted(REPORT))


def test_a_series_that_vanishes_is_stale_and_may_come_back() -> None:
    life = Life("a 1\nb 1\n", "a 2\n", "a 3\nb 3\n")
    assert life.line("a") == [1, 2, 3]
    assert life.line("b") == [1, "stale", 3]


@pytest.mark.parametrize("bad", ["a 2\nb 2\n?\n", "?\na 2\nb 2\n", b'a 2\nb 2\nc{d="\xff"} 1\n', "a 2\nb 2\nb"])
def test_nothing_is_kept_of_a_bad_page(bad: str | bytes) -> None:
    life = Life("a 1\nb 1\n", bad, "a 3\nb 3\n")
    assert life.line("a") == [1, "stale", 3]
    assert life.line("b") == [1, "stale", 3]
    assert life.line("up") == [1, 0, 1]
    assert life.results[1].reason is Reason.PARSE
    assert life.results[1].error.startswith("line ")


def test_an_empty_page_is_a_good_page() -> None:
    life = Life("a 1\n", Answer(b"", ""))
    assert life.line("a") == [1, "stale"]
    assert life.line("up") == [1, 1]


def test_the_content_type_decides_the_format() -> None:
    page = b"# TYPE a counter\na_total 1\n# EOF\n"
    life = Life(Answer(page, "application/openmetrics-text"), Answer(page, "text/html"))
    assert life.line("a_total") == [1, "stale"]
    assert life.results[1].reason is Reason.CONTENT_TYPE


def test_a_defect_of_ours_is_that_targets_health_and_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        life = Life("a 1\n", ZeroDivisionError("secret"), "a 3\n")
    assert life.line("a") == [1, "stale", 3]
    assert (life.results[1].reason, life.results[1].error) == (Reason.INTERNAL, "internal error: ZeroDivisionError")
    assert len(caplog.records) == 1


def test_health_is_that_of_the_last_scrape() -> None:
    life = Life()
    assert life.loop.health.health is Health.UNKNOWN
    life.fetch.answers = ["a 1\n", REFUSED]
    life.loop.scrape(1000)
    first = life.loop.health
    life.loop.scrape(2000)
    second = life.loop.health
    assert (first.health, first.last_error, first.last_scrape, first.last_scrape_duration) == ("up", "", 1000, 0.25)
    assert (second.health, second.last_error, second.last_scrape) == ("down", "connection refused", 2000)


def test_only_what_is_wanted_is_stored_but_all_is_counted_and_checked() -> None:
    life = Life("a 1\nb 1\n", "a 2\nb x\n", wanted=frozenset("a"))
    assert life.line("a") == [1, "stale"]
    assert life.line("b") == []
    assert life.line("scrape_samples_scraped") == [2, 1]
    assert life.results[0].scraped == 2


def test_what_is_wanted_may_change_with_a_reload() -> None:
    life = Life("a 1\nb 1\n", wanted=frozenset("a"))
    life.fetch.answers = ["a 2\nb 2\n"]
    life.loop.wanted = frozenset("b")
    life.loop.scrape(2000)
    assert life.line("a") == [1, "stale"]
    assert life.samples("b") == {2: 2}


def test_the_metadata_of_the_last_good_page_is_kept() -> None:
    life = Life("# TYPE a gauge\na 1\n", REFUSED)
    assert life.loop.metadata["a"].type is MetricType.GAUGE


def test_a_page_that_says_up_does_not_speak_for_us() -> None:
    life = Life('up 5\nup{job="other"} 7\n')
    assert life.line("up", exported_job="other") == [7]
    assert life.line("up", exported_job="") == [1]


def test_the_first_of_two_equal_series_wins() -> None:
    life = Life('a{job="x"} 1\na{exported_job="x"} 2\na{job="x"} 3\n')
    assert life.line("a") == [1]
    assert life.line("scrape_samples_scraped") == [3]


def test_counters_are_stored_as_counters() -> None:
    life = Life("# TYPE a_total counter\na_total 5\n", "# TYPE a_total counter\na_total 2\n")
    (column,) = life.window.select([equal(METRIC_NAME, "a_total")])
    assert (column.counter, column.resets) == (True, [1])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (ScrapeOptions(sample_limit=1), "line 3: sample_limit of 1 exceeded by 2 samples"),
        (ScrapeOptions(label_limits=LabelLimits(label_limit=3)), "line 2: label_limit of 3 exceeded by 4 labels in"),
    ],
)
def test_a_limit_fails_the_scrape(options: ScrapeOptions, error: str) -> None:
    life = Life("a 1\n", 'a 1\nb{c="d"} 1\n', options=options)
    assert life.line("up") == [1, 0]
    assert life.line("a") == [1, "stale"]
    assert life.results[1].reason is Reason.LIMIT
    assert life.results[1].error.startswith(error)


def test_time_never_runs_backwards() -> None:
    life = Life("a 1\n", "a 2\n")
    life.fetch.answers = ["a 3\n", "a 4\n"]
    late = life.loop.scrape(2000)
    assert (late.dropped, late.up) == (1, True)
    assert life.loop.health.last_error.startswith("1 samples not stored: their time is not after the newest, or far")
    good = life.loop.scrape(3000)
    assert (good.dropped, life.loop.health.last_error) == (0, "")
    assert life.samples("a") == {1: 1, 2: 2, 3: 4}


def test_a_target_that_is_gone_leaves_only_stale_series() -> None:
    life = Life("a 1\nb 1 500\n")
    life.loop.stop(5000)
    assert life.samples("a") == {1: 1, 5: "stale"}
    assert life.samples("up") == {1: 1, 5: "stale"}
    assert life.samples("b") == {0: 1, 5: "stale"}


@dataclass
class InterruptedFetch:
    """Something else happens while the page is on its way."""

    page: str
    interrupt: Callable[[], None]
    closed: int = 0

    def __call__(self) -> Answer:
        self.interrupt()
        return Answer(self.page.encode(), "text/plain")

    def close(self) -> None:
        self.closed += 1


def test_a_target_that_is_removed_while_its_page_is_on_its_way_stays_ended_and_its_connection_closed() -> None:
    window = Window()
    fetch = InterruptedFetch("a 1\nb 1 500\n", lambda: None)
    loop = ScrapeLoop(TARGET, ScrapeOptions(), window, fetch)
    loop.scrape(1000)
    fetch.page, fetch.interrupt = "a 2\nb 2 7000\nc 1 7000\n", lambda: loop.stop(5000)
    result = loop.scrape(4000)
    assert result.dropped == 0
    assert fetch.closed == 2
    assert "c" not in window.names()
    window.prune(10 * HOUR)
    assert (window.size(), window.owners()) == ((0, 0), ())


def test_a_target_that_is_scraped_in_another_way_goes_on_with_its_timed_series_and_ends_them_in_time() -> None:
    window, fetch = Window(), FakeFetch(["a 1\nb 1 500\n"])
    old = ScrapeLoop(TARGET, ScrapeOptions(), window, fetch)
    old.scrape(1000)
    new = ScrapeLoop(TARGET, ScrapeOptions(sample_limit=10), window, FakeFetch(["a 2\n"] * 3))
    new.take_over(old)
    for at in (2000, 6 * MINUTE, 12 * MINUTE):
        new.scrape(at)
        window.prune(at + window.retention)
    assert window.owners() == (new.owner,)


# --- timestamps in the page


def test_a_sample_with_a_timestamp_is_stored_at_it_and_never_stale() -> None:
    life = Life("a 1 500\nb 1\n", "a 1 500\nb 2\n", "a 2 2500\nb 3\n", "b 4\n", REFUSED)
    assert life.samples("a") == {0: 1, 2: 2}
    assert life.line("b") == [1, 2, 3, 4, "stale"]


def test_timestamps_are_ignored_where_they_are_not_honoured() -> None:
    life = Life("a 1 500\n", "a 2 500\n", options=ScrapeOptions(honor_timestamps=False))
    assert life.samples("a") == {1: 1, 2: 2}


def test_a_timestamp_far_ahead_or_out_of_order_is_dropped() -> None:
    ahead = 10 * MINUTE + 3000
    life = Life("a 1 900\n", "a 2 800\n", f"a 3 {ahead}\n", f"a 4 {ahead + 1001}\n", "a 5 99999999999999\n")
    assert life.samples("a") == {0: 1, ahead // 1000: 3}
    assert life.line("up") == [1] * 5
    assert [result.dropped for result in life.results] == [0, 1, 0, 1, 1]


def test_a_sample_that_is_exposed_again_with_the_same_timestamp_is_not_dropped() -> None:
    life = Life("a 1 900\n", "a 1 900\n", "a 1 800\n")
    assert [result.dropped for result in life.results] == [0, 0, 1]


def test_timed_series_that_are_gone_take_no_room_for_ever() -> None:
    life = Life('a{n="1"} 1 500\n', 'a{n="2"} 1 600\n')
    life.fetch.answers = ["b 1\n"] * 3
    for at in (1 * MINUTE, 6 * MINUTE, 12 * MINUTE):
        life.loop.scrape(at)
        life.window.prune(at + life.window.retention)
    assert [owner for owner in life.window.owners() if owner != life.loop.owner] == []


def test_a_small_body_that_is_costly_to_read_fails_the_scrape_before_it_is_read() -> None:
    life = Life("a 1\n", "\n" * MEBIBYTE, "a 2\n", options=ScrapeOptions(body_size_limit=2 * MEBIBYTE))
    assert [result.up for result in life.results] == [True, False, True]
    assert life.results[1].reason is Reason.BODY_TOO_LARGE
    assert life.samples("a") == {1: 1, 2: "stale", 3: 2}


def test_series_are_relabelled_dropped_and_renamed_before_they_are_stored() -> None:
    rules = (
        RelabelConfig(Action.DROP, (METRIC_NAME,), regex="junk_.*"),
        RelabelConfig(source_labels=(METRIC_NAME,), regex="old_(.*)", target_label=METRIC_NAME, replacement="new_$1"),
        RelabelConfig(Action.LABELDROP, regex="pod"),
    )
    pages = 'old_a{pod="x"} 1\njunk_b 2\njunk_c 2\n', 'old_a{pod="x"} 3\njunk_b 3\njunk_c 2\n'
    options = ScrapeOptions(metric_relabel_configs=rules, sample_limit=1)
    life = Life(*pages, 'old_a{pod="x"} 4\njunk_b 3\njunk_d 2\n', options=options, wanted={"new_a", "old_a"})
    assert life.samples("new_a", job="vllm", instance="a:1") == {1: 1, 2: 3, 3: 4}
    assert life.samples("old_a") == {}
    (column,) = life.window.select([equal(METRIC_NAME, "new_a")])
    assert column.labels.value("pod") == ""
    # Counted, but not as what is left; `up` and its like are nobody's to change.
    assert life.line("scrape_samples_scraped", job="vllm", instance="a:1") == [3, 3, 3]
    assert life.line("scrape_samples_post_metric_relabeling", job="vllm", instance="a:1") == [1, 1, 1]
    assert [result.up for result in life.results] == [True, True, True]


def test_a_series_whose_name_relabelling_takes_away_fails_the_scrape() -> None:
    rules = (RelabelConfig(Action.LABELDROP, regex=METRIC_NAME),)
    life = Life("a 1\n", options=ScrapeOptions(metric_relabel_configs=rules))
    assert life.results[0].error == 'line 1: missing metric name (__name__ label) after relabelling in "a 1"'
