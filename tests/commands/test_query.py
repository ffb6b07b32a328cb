"""`vllm-monitor query`, from its arguments to what stands in the terminal."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from typer.testing import CliRunner, Result

from monitor.cli import cli
from monitor.storage.window import Window
from tests.differential.remote_write import push
from tests.differential.server import prometheus
from tests.engines import engine
from tests.notify.endpoint import endpoint
from tests.slackstub.faults import Answer
from tests.web.samples import fill, series
from tests.web.serving import Served, serve

AT = "1700000300"
END = "1700000600"
PAGES = Path(__file__).parent.parent / "data" / "pages"
BACKFILL = """\
# TYPE a counter
a_total{x="1"} 1 1700000000
a_total{x="1"} 7 1700000030
a_total{x="1"} 16 1700000060.5
a_total{x="2"} 5 1700000060.5
# EOF
"""


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    window = Window()
    fill(window, series())
    with serve(window) as ours:
        yield ours


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["query", *arguments], input=stdin)


def test_labels_that_differ_are_columns_and_the_rest_stands_above(served: Served) -> None:
    done = run("vllm:num_requests_running", "--url", served.url, "--time", AT)
    assert done.exit_code == 0
    head, columns, _, *rows = done.stdout.splitlines()
    assert head == 'vllm:num_requests_running{job="vllm", model_name="m\\"\\\\\\n<é>&\\u2028"}'
    assert columns.split() == ["instance", "value"]
    assert [row.split() for row in rows] == [["i0", "2"], ["i1", "3"], ["i2", "4"]]


def test_series_of_several_metrics_have_their_name_in_a_column(served: Served) -> None:
    lines = run('{__name__=~"tiny|utf8.name"}', "--url", served.url, "--time", AT).stdout.splitlines()
    assert [line.split() for line in (lines[0], *sorted(lines[2:]))] == [
        ["metric", "job", "my.label", "value"],
        ["tiny", "5e-07"],
        ["utf8.name", "other", "x", "3e+22"],
    ]


def test_a_range_is_summed_up_in_a_row_a_series(served: Served) -> None:
    done = run("ended", "--url", served.url, "--range", "10m", "--end", END, "--step", "30s")
    head, columns, _, row = done.stdout.splitlines()
    assert (head, columns.split(), row.split()) == ("ended", ["points", "min", "max", "last"], ["5", "1", "9", "9"])


@pytest.mark.parametrize(
    ("expr", "words"), [("1 + 1", "2\n"), ('"a\\nb"', "a\\nb\n"), ("nosuch", "no series\n"), ("sum(up)", "3 \n")]
)
def test_what_has_no_labels_is_printed_alone(served: Served, expr: str, words: str) -> None:
    done = run(expr, "--url", served.url)
    assert done.exit_code == 0
    assert done.stdout.endswith(words)


@pytest.mark.parametrize(
    ("options", "path", "parameters"),
    [
        pytest.param(("--time", AT), "query", {"time": AT}, id="instant"),
        pytest.param(
            ("--range", "5m", "--end", END, "--step", "1m"),
            "query_range",
            {"start": "1700000300", "end": END, "step": "60"},
            id="range",
        ),
    ],
)
def test_json_is_what_the_api_answers(
    served: Served, options: tuple[str, ...], path: str, parameters: dict[str, str]
) -> None:
    done = run("rate(up[5m])", "--json", "--url", served.url, *options)
    answer = requests.get(f"{served.url}/api/v1/{path}", {"query": "rate(up[5m])", **parameters}, timeout=60).json()
    assert json.loads(done.stdout) == answer
    assert answer["infos"]


def test_remarks_go_to_standard_error(served: Served) -> None:
    done = run("rate(up[5m])", "--url", served.url, "--time", AT)
    assert done.stderr.startswith("PromQL info: metric might not be a counter")
    assert "might not" not in done.stdout


def test_a_plot_names_its_values_its_times_and_its_series(served: Served) -> None:
    done = run("vllm:num_requests_running", "--plot", "--url", served.url, "--range", "10m", "--end", END)
    lines = done.stdout.splitlines()
    assert [line.split("┤")[0].strip() for line in lines if "┤" in line] == ["6", "4.5", "3", "1.5", "0"]
    assert lines[-4].split() == ["22:13:20", "22:23:20", "UTC"]
    assert lines[-3:] == [f'━━ {{instance="i{number}"}}' for number in range(3)]


def test_a_prometheus_is_asked_in_the_same_way(served: Served, tmp_path: Path) -> None:
    questions = (
        ["up", "--time", AT],
        ["sum by (le) (rate(latency_seconds_bucket[5m]))", "--time", AT],
        ["rate(requests_total[5m])", "--range", "10m", "--end", END, "--step", "1m"],
        ["vllm:num_requests_running", "--range", "10m", "--end", END, "--plot"],
        ["utf8.name{", "--time", AT],
    )
    with prometheus(engine("prometheus", "newer"), tmp_path) as theirs:
        push(theirs.url, series())
        for question in questions:
            mine, other = run(*question, "--url", served.url), run(*question, "--url", theirs.url + "/")
            assert (mine.exit_code, sorted(mine.stdout)) == (other.exit_code, sorted(other.stdout))


def test_a_page_in_a_file_is_asked_at_its_newest_timestamp(tmp_path: Path) -> None:
    page = tmp_path / "page.om"
    page.write_text(BACKFILL)
    answer = json.loads(run("increase(a_total[1m1s])", "--json", "--openmetrics", str(page)).stdout)
    # Three samples in 60.5 s, 15 more; the range reaches half a second beyond the first.
    assert [(one["metric"], one["value"]) for one in answer["data"]["result"]] == [
        ({"x": "1"}, [1700000060.5, "15.12396694214876"])
    ]


def test_samples_without_a_timestamp_are_of_the_time_that_is_asked_for(tmp_path: Path) -> None:
    page = tmp_path / "page.txt"
    page.write_text("a 1\nb 2 1700000000000\n")
    at = ("--openmetrics", str(page), "--json")
    instant = json.loads(run('{__name__=~"a|b"}', "--time", "1700000100", *at).stdout)["data"]["result"]
    assert [one["value"] for one in instant] == [[1700000100, "1"], [1700000100, "2"]]
    steps = json.loads(run("a", "--range", "100s", "--end", "1700000100", "--step", "30s", *at).stdout)
    assert steps["data"]["result"] == [{"metric": {"__name__": "a"}, "values": [[1700000090, "1"]]}]


def test_a_page_of_vllm_can_be_piped_in() -> None:
    text = gzip.decompress((PAGES / "vllm-0.32.0-overload.txt.gz").read_bytes()).decode()
    done = run("sum(vllm:num_requests_waiting)", "--openmetrics", "-", stdin=text)
    assert done.stdout.split() == ["value", "───────", "34"]


def test_what_moves_the_cursor_in_a_label_is_shown_as_an_escape(tmp_path: Path) -> None:
    page = tmp_path / "page.txt"
    page.write_text('a{x="\x1b[2J[red]\u202e",y="1"} 1\na{x="b",y="1"} 1\na{x="\x9b",y="1"} 1\n')
    shown = run("a", "--openmetrics", str(page)).stdout + run("a{x!='b'}", "--openmetrics", str(page)).stdout
    assert "\\x1b[2J[red]\\u202e" in shown
    assert all(char.isprintable() or char == "\n" for char in shown)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(
            ["up", "--url", "http://user:secret@127.0.0.1:1"], "http://127.0.0.1:1 does not answer", id="down"
        ),
        pytest.param(["up{", "--openmetrics", "PAGE"], "bad_data: ", id="expression"),
        pytest.param(["a * on () a", "--openmetrics", "PAGE"], "execution: found duplicate series", id="execution"),
        pytest.param(["a", "--openmetrics", "PAGE.none"], "No such file", id="no-file"),
        pytest.param(["a", "--openmetrics", "."], "Is a directory", id="folder"),
    ],
)
def test_what_prevents_an_answer_is_said_in_one_line(tmp_path: Path, arguments: list[str], words: str) -> None:
    page = tmp_path / "page.txt"
    page.write_text('a{x="1"} 1\na{x="2"} 1\n')
    done = run(*[argument.replace("PAGE", str(page)) for argument in arguments])
    assert done.exit_code == 1
    assert words in done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "secret" not in done.stderr


def test_a_bad_page_is_named_with_its_line(tmp_path: Path) -> None:
    page = tmp_path / "page.txt"
    page.write_text("a 1\nb{ 2\n")
    done = run("a", "--openmetrics", str(page))
    assert (done.exit_code, done.stderr.startswith(f"{page}: line 2, column ")) == (1, True)


def test_errors_of_the_server_are_passed_on(served: Served) -> None:
    done = run("up * on () up", "--url", served.url)
    assert (done.exit_code, done.stderr.partition(":")[0]) == (1, "execution")
    done = run("up", "--url", served.url + "/elsewhere")
    assert (done.exit_code, done.stderr) == (
        1,
        f"{served.url}/elsewhere does not speak the Prometheus HTTP API: it answers 404\n",
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("[1, 2]", id="another JSON"),
        pytest.param("[" * 100_000, id="too deep"),
        pytest.param("9" * 5_000, id="too many digits"),
        pytest.param('{"status": "success"}', id="no data"),
        pytest.param('{"status": "success", "data": null}', id="null"),
        pytest.param('{"status": "success", "data": {"resultType": "vector", "result": null}}', id="no result"),
        *[
            pytest.param(f'{{"status": "success", "data": {{"resultType": "vector", "result": [{one}]}}}}', id=one)
            for one in (
                "7",
                '{"value": [1, "2"]}',
                '{"metric": {"job": 7}, "value": [1, "2"]}',
                '{"metric": {}, "value": [1]}',
                '{"metric": {}, "value": [1, "two"]}',
                '{"metric": {}, "value": [1, null]}',
                '{"metric": {}, "value": ["one", "2"]}',
                '{"metric": {}, "value": [Infinity, "2"]}',
            )
        ],
    ],
)
@pytest.mark.parametrize("command", [["query", "up"], ["report"]], ids=["query", "report"])
def test_a_server_that_answers_something_else_is_named_in_one_line(command: list[str], body: str) -> None:
    with endpoint(lambda _: Answer(200, body=body)) as server:
        done = CliRunner().invoke(cli, [*command, "--url", server.url])
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"{server.url} does not speak the Prometheus HTTP API: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["up", "--step", "15s"],
        ["up", "--end", AT],
        ["up", "--time", AT, "--range", "1h"],
        ["up", "--time", "noon"],
        ["up", "--range", "1 hour"],
        ["up", "--range", "0"],
        ["up", "--range", "1h", "--step", "0"],
        ["up", "--range", "1d", "--step", "1s"],
        ["up", "--plot"],
        ["up", "--plot", "--json", "--range", "1h"],
        ["up", "--url", "127.0.0.1:9109"],
        ["up", "--url", "http://[::1"],
        ["up", "--url", "http://127.0.0.1:99999"],
        ["up", "--url", "http://127.0.0.1:9109", "--openmetrics", "page.txt"],
        [],
    ],
)
def test_options_that_make_no_sense_are_usage_errors(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith("Usage:")
