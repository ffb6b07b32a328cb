"""The same overload, reported by the daemon's window, by its history, and by a real Prometheus."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from monitor.cli import cli
from monitor.clock import VirtualClock
from monitor.commands.report import asking
from monitor.config.history import HistoryConfig
from monitor.config.read import load
from monitor.longterm import LongEngine, LongTerm
from monitor.model.instant import HOUR, SECOND, Duration, Instant, slot_at_or_before
from monitor.model.matcher import Matcher, MatchType
from monitor.promql import Engine, Matrix, parse
from monitor.replay import replay
from monitor.report.figures import report_of
from monitor.report.gather import Points, gather
from monitor.report.period import whole_minutes
from monitor.report.report import Report
from monitor.storage.window import Window
from tests.acceptance.stage import Stage, write_config
from tests.differential.remote_write import push
from tests.differential.server import prometheus
from tests.engines import engine
from tests.recorded import RecordedServer, Recording
from tests.slackstub.judge import assert_invariants
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import SCOPES, TOKEN
from tests.storage.history.keeping import Keeper
from tests.web.serving import serve

RECORDING = Recording.load("vllm-0.32.0-overload-1s")
STEP = 5 * SECOND
START: Instant = slot_at_or_before(RECORDING.times[0], STEP) + STEP
END = RECORDING.times[-1]
MINUTES = f"{START // SECOND}/{END // SECOND}"
PERIOD = whole_minutes(START, END)


@dataclass(frozen=True)
class InProcess:
    """Asks an engine of ours."""

    engine: LongEngine

    def __call__(self, expr: str, start: Instant, end: Instant, step: Duration, /) -> Sequence[Points]:
        value = self.engine.range(parse(expr), start, end, step).value
        assert isinstance(value, Matrix)
        return [Points(one.labels, list(one.times), list(one.values)) for one in value.series]


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Window:
    """Return what the daemon has in memory after the overload."""
    clock = VirtualClock(START)
    with SlackStub() as stub, RecordedServer(RECORDING, clock) as server:
        config = load(write_config(tmp_path_factory.mktemp("report"), server.address, stub))
        stage = Stage(config, clock)
        replay(stage.pipeline, clock, list(range(START, END, STEP)))
    return stage.window()


@pytest.fixture(scope="module")
def reported(window: Window) -> Iterator[Report]:
    with serve(window) as daemon:
        yield report_of(gather(asking(daemon.url), PERIOD))


def test_the_overload_is_told(reported: Report) -> None:
    (one,) = reported.models
    assert one.cache.peak is not None
    assert one.cache.peak.value == pytest.approx(1, abs=0.01)
    # The gauge is between 0.24 and 1.00 while it is overloaded.
    assert one.cache.minutes_above_95 == 3
    assert one.queue.peak is not None
    assert one.queue.peak.value == 43
    assert one.throughput.requests is not None
    assert {fired.alert.name for fired in reported.alerts} == {"VLLMKVCacheFull", "VLLMOverloaded"}


def test_the_command_prints_and_draws_it(window: Window, tmp_path: Path) -> None:
    picture = str(tmp_path / "report.png")
    times = ["--from", str(START // SECOND), "--to", str(END // SECOND)]
    with serve(window) as daemon:
        table = CliRunner().invoke(cli, ["report", "--url", daemon.url, *times, "--png", picture])
        plain = CliRunner().invoke(cli, ["report", "--prometheus", daemon.url, *times, "--json"])
        twice = CliRunner().invoke(cli, ["report", "--url", daemon.url, "--compare", *[MINUTES] * 2])
        long_ago = CliRunner().invoke(
            cli, ["report", "--url", daemon.url, "--from", "2020-01-01", "--to", "2020-01-02"]
        )
    assert Path(picture).read_bytes().startswith(b"\x89PNG")
    assert (twice.exit_code, "p95 TTFT" in twice.stdout) == (0, True)
    assert table.exit_code == plain.exit_code == 0
    assert "queue         peak 43 requests" in table.stdout
    assert "who acknowledged them is known to the daemon alone" in table.stdout
    assert json.loads(plain.stdout)["models"][0]["queue"]["waiting_peak_requests"]["value"] == 43
    assert (long_ago.exit_code, long_ago.stdout) == (1, "")
    assert "nothing is recorded of this time" in long_ago.stderr


def test_two_recordings_stand_side_by_side(tmp_path: Path) -> None:
    recordings = Path(__file__).parents[1] / "data" / "recordings"
    overload = str(recordings / "vllm-0.32.0-overload-1s.jsonl.gz")
    done = CliRunner().invoke(cli, ["report", "--compare", overload, overload, "--json"])
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert told["a"] == told["b"]
    (one,) = told["a"]["models"]
    # From its page alone: what the daemon asks beside it is not in a recording.
    assert one["cache"]["max_concurrency_requests"] == 6.25
    assert one["queue"]["waiting_peak_requests"]["value"] == 43
    nothing = CliRunner().invoke(cli, ["report", "--compare", overload, str(tmp_path / "none.jsonl")])
    assert (nothing.exit_code, "No such file" in nothing.stderr) == (1, True)


def test_the_command_posts_it(window: Window, tmp_path: Path) -> None:
    with serve(window) as daemon, SlackStub() as slack:
        slack.workspace.tokens[TOKEN] = frozenset((*SCOPES, "files:write"))
        config = tmp_path / "monitor.yaml"
        write_config(tmp_path, "127.0.0.1:1", slack)
        config.write_text(config.read_text().replace(", graphs: false", ""))
        times = ["--from", str(START // SECOND), "--to", str(END // SECOND)]
        arguments = ["report", "--url", daemon.url, *times, "--slack", "--config", str(config)]
        done = CliRunner().invoke(cli, arguments)
        nobody = CliRunner().invoke(cli, [*arguments, "--receiver", "nobody"], env={"COLUMNS": "200"})
        assert (done.exit_code, done.stderr) == (0, "posted: oncall/slack[0]\n")
        assert nobody.exit_code == 2
        assert "there is no receiver nobody" in nobody.stderr
        (message,) = slack.messages
        (file,) = slack.workspace.files.values()
        assert file.thread_ts == message.ts
        assert "peak 43 requests" in str(message.payload)
        assert "VLLMOverloaded" in str(message.payload)
        assert_invariants(slack)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--week", "--from", "2026-11-01"], "exclude each other"),
        (["--to", "2026-11-01"], "--to goes with --from"),
        (["--compare", "2026-11-01", "2026-11-02"], "is no period"),
        (["--compare", "2026-11-01T10:00/11:00", "2026-11-02T10:00/11:00", "--week"], "has its own times"),
        (["--timezone", "Nowhere/Land"], "is not known"),
        (["--url", "http://a", "--prometheus", "http://b"], "exclude each other"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments: list[str], why: str) -> None:
    done = CliRunner().invoke(cli, ["report", *arguments], env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert why in done.stderr


def test_a_prometheus_with_the_same_series_reports_the_same(reported: Report, window: Window, tmp_path: Path) -> None:
    everything = window.select([Matcher("__name__", MatchType.REGEX, ".+")])
    with prometheus(engine("prometheus", "newer"), tmp_path) as server:
        push(
            server.url,
            [
                (column.labels, list(zip(*_samples(column.block.view, column.view), strict=True)))
                for column in everything
            ],
        )
        assert report_of(gather(asking(server.url), PERIOD)) == reported


def test_the_history_alone_reports_the_same(reported: Report, window: Window, tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, HistoryConfig().keep())
    keeper.history.save(window, END + HOUR)
    long_term = LongTerm(Window(), keeper.history, END + HOUR, END + HOUR)
    ask = InProcess(LongEngine(Engine(Window()), long_term, END + HOUR))
    assert report_of(gather(ask, PERIOD)) == reported
    keeper.history.close()


def _samples(
    rows: tuple[Sequence[Instant], int], column: tuple[Sequence[float], int]
) -> tuple[Sequence[Instant], Sequence[float]]:
    (times, base), (values, first) = rows, column
    return times[first - base : first - base + len(values)], values
