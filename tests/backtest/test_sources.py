"""One history from four sources: the recording, two kinds of dump, a real Prometheus. All come to the same."""

import json
import subprocess
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from monitor.backtest.dump import Dump
from monitor.backtest.feed import SeriesFeed
from monitor.backtest.prometheus import History, Server
from monitor.backtest.recording import scrapes
from monitor.backtest.source import Samples, SourceError
from monitor.cli import cli
from monitor.model.instant import MINUTE
from monitor.model.labels import Labels
from monitor.model.sample import STALE, is_stale
from monitor.storage.window import Window
from tests.backtest.histories import HANG, InMemory, Recorded, samples_of, write_dump, write_openmetrics
from tests.differential.server import prometheus
from tests.engines import engine
from tests.notify.endpoint import endpoint
from tests.slackstub.faults import Answer


@pytest.fixture(scope="module")
def hang() -> list[Samples]:
    return samples_of(Recorded([HANG]).window())


@pytest.fixture(scope="module")
def openmetrics(hang: list[Samples], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("history") / "history.om"
    write_openmetrics(path, hang)
    return path


@pytest.fixture(scope="module")
def told(openmetrics: Path) -> dict[str, Any]:
    """What the backtest of the dump says."""
    return told_by("--openmetrics", str(openmetrics))


def told_by(*options: str) -> dict[str, Any]:
    result = CliRunner().invoke(cli, ["backtest", "--json", "--interval", "5s", *options])
    assert result.exit_code == 0, result.output
    (outcome,) = json.loads(result.stdout)["outcomes"]
    # What a rule finds nothing of is another matter: of a dump only that is read which rules ask for.
    return {key: outcome[key] for key in ("from", "to", "fired", "quiet", "messages")}


def test_a_dump_says_what_the_recording_says(told: dict[str, Any]) -> None:
    recorded = told_by("--recording", str(HANG))
    assert told["fired"] == recorded["fired"]
    assert [one["labels"]["alertname"] for one in told["fired"]] == ["VLLMEngineStuck"]
    assert told["messages"] == recorded["messages"]


def test_both_kinds_of_dump_say_the_same(told: dict[str, Any], hang: list[Samples], tmp_path: Path) -> None:
    write_dump(tmp_path / "history.txt", hang)
    assert told_by("--openmetrics", str(tmp_path / "history.txt")) == told


def test_a_real_prometheus_that_holds_the_dump_says_the_same(
    told: dict[str, Any], openmetrics: Path, tmp_path: Path
) -> None:
    promtool = engine("promtool", "newer")
    create = [promtool, "tsdb", "create-blocks-from", "openmetrics", str(openmetrics), str(tmp_path / "data")]
    subprocess.run(create, check=True, capture_output=True)
    with prometheus(engine("prometheus", "newer"), tmp_path) as server:
        found = told_by("--prometheus", server.url, "--from", told["from"], "--to", told["to"])
    assert found == told


def test_what_promtool_dumps_is_read(openmetrics: Path, hang: list[Samples], tmp_path: Path) -> None:
    promtool = engine("promtool", "newer")
    data = str(tmp_path / "data")
    (tmp_path / "data" / "wal").mkdir(parents=True)
    subprocess.run(
        [promtool, "tsdb", "create-blocks-from", "openmetrics", str(openmetrics), data], check=True, capture_output=True
    )
    for kind in ("dump-openmetrics", "dump"):
        path = tmp_path / kind
        with path.open("wb") as file:
            subprocess.run([promtool, "tsdb", kind, data], check=True, stdout=file)
        found = {one.labels: (list(one.times), list(one.values)) for one in Dump(path, None).read(0, 10**15)}
        assert found == {one.labels: (list(one.times), list(one.values)) for one in hang}


def lines(*text: str) -> str:
    return "\n".join([*text, "# EOF", ""])


def test_lines_in_any_order_are_put_together(tmp_path: Path) -> None:
    path = tmp_path / "history.om"
    path.write_text(
        lines(
            "# TYPE x gauge",
            'x{a="1"} 1 10',
            'x{a="2"} 5 10',
            'x{a="1"} 2 20.5',
            'x{a="1"} 3 30 # {trace_id="x y"} 0.5 29',
            "up 1 10.0",
            "up 0 20",
            'x{a="2"} NaN 20',
            'other{a="1"} 1 10',
            'x{a="1"} 9 5',
            r'x{b="say \"hi\" \\ {now} \n"} +Inf 1e1',
        )
    )
    found = {str(one.labels): (list(one.times), list(one.values)) for one in Dump(path, {"x", "up"}).read(0, 10**15)}
    assert found.pop('x{a="2"}')[0] == [10_000, 20_000]
    assert found == {
        'x{a="1"}': ([5_000, 10_000, 20_500, 30_000], [9.0, 1.0, 2.0, 3.0]),
        "up": ([10_000, 20_000], [1.0, 0.0]),
        r'x{b="say \"hi\" \\ {now} \n"}': ([10_000], [float("inf")]),
    }


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("x 1", "history.om:1: a sample without a timestamp: a backtest needs one at each"),
        ("# TYPE x gauge\nx one 10", "history.om:2: no number where one must be"),
        ("x 1 inf", "history.om:1: no number where one must be"),
        ("x 1 1e300", "history.om:1: no number where one must be"),
        ("x{a=1} 1 10", "history.om:1: labels that cannot be read"),
        ("hello", "history.om:1: neither a sample nor a comment"),
        ("y 1 10", "history.om: no sample in it that any rule reads"),
    ],
)
def test_a_file_that_is_no_history_is_refused_with_its_line(text: str, error: str, tmp_path: Path) -> None:
    path = tmp_path / "history.om"
    path.write_text(lines(text))
    with pytest.raises(SourceError) as raised:
        Dump(path, {"x"})
    assert str(raised.value) == f"{tmp_path}/{error}"


@pytest.mark.parametrize(
    ("second", "error"),
    [
        ('{"time": 99, "status": null}', ":2: is older than the line before it: sort them by time"),
        ('{"time": 105, "status": 200, "body": 5}', ":2: no line of a recording (TypeError)"),
        ('{"time": 1e400, "status": null}', ":2: no line of a recording (OverflowError)"),
        ("[" * 30_000, ":2: no line of a recording (RecursionError)"),
    ],
)
def test_a_recording_that_cannot_be_played_is_refused_with_its_line(second: str, error: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(f'{{"time": 100, "status": null}}\n{second}\n')
    with pytest.raises(SourceError) as raised:
        list(scrapes(path))
    assert str(raised.value) == f"{path}{error}"


def matrix(result: str) -> str:
    return f'{{"status": "success", "data": {{"resultType": "matrix", "result": {result}}}}}'


NO_SERIES = "answers a matrix with what is no series in it"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("[" * 30_000, "does not speak the Prometheus HTTP API: it answers 200"),
        ('{"status": "success", "data": null}', "answers a range with no matrix"),
        ('{"status": "success", "data": [[[]]]}', "answers a range with no matrix"),
        (matrix('[{"metric": {}, "values": [[1, "x"]]}]'), f"{NO_SERIES} (ValueError)"),
        (matrix('[{"metric": {}, "values": [[1e999, "1"]]}]'), f"{NO_SERIES} (OverflowError)"),
        (matrix('[{"values": [[1, "1"]]}]'), f"{NO_SERIES} (KeyError)"),
        (matrix("[7]"), f"{NO_SERIES} (AttributeError)"),
    ],
)
def test_an_answer_that_no_prometheus_gives_is_told_as_such(body: str, error: str) -> None:
    with endpoint(lambda _: Answer(200, body)) as server, pytest.raises(SourceError) as raised:
        list(History(Server(server.url), {"up"}).read(0, MINUTE))
    assert str(raised.value) == f"{server.url} {error}"


def _series(name: str, *samples: tuple[int, float]) -> Samples:
    labels = Labels.of(__name__=name, job="vllm", instance="a")
    return Samples(labels, array("q", [at for at, _ in samples]), array("d", [value for _, value in samples]))


@pytest.mark.parametrize("page", [0, 15], ids=["at once", "in pages"])
def test_a_series_that_a_page_lacks_ends_at_that_scrape(page: int) -> None:
    """The API tells no staleness markers; times of its own have none anyway."""
    up = _series("up", (10, 1.0), (20, 1.0), (30, 1.0), (40, 1.0))
    short = _series("short", (10, 5.0), (20, 6.0))
    own = _series("own", (11, 7.0), (19, 8.0))
    history = InMemory([up, short, own], Recorded([HANG]).period)
    window = Window(10**15)
    feed = SeriesFeed(window, history, 0, page)
    for until in (25, 40) if page else (40,):
        feed.feed(until)
    columns = {column.labels.name: column for column in _columns(window)}
    assert columns["short"].newest(0, 20) == (20, 6.0)
    assert columns["short"].newest(0, 30) is None
    assert [is_stale(value) for value in columns["short"].view[0]] == [False, False, True]
    assert columns["own"].newest(0, 40) == (19, 8.0)
    assert list(columns["up"].view[0]) == [1.0] * 4


def _columns(window: Window) -> Iterator[Any]:
    for _, block in window.blocks():
        yield from block.columns.values()


def test_a_marker_in_a_dump_is_one(tmp_path: Path) -> None:
    path = tmp_path / "history.om"
    path.write_text(lines("x 1 10", "x NaN 20", "x 2 30"))
    (found,) = Dump(path, {"x"}).read(0, 10**15)
    assert [is_stale(value) for value in found.values] == [is_stale(value) for value in (1.0, STALE, 2.0)]
