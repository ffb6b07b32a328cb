"""`vllm-monitor backtest`: what it prints, and what it says when it cannot."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from typer.testing import CliRunner

from monitor.cli import cli
from tests.backtest.histories import OVERLOAD

RULES = """\
groups:
  - name: g
    rules:
      - {alert: Busy, expr: vllm:num_requests_running > 5, for: 10s, labels: {severity: warning}}
      - {alert: Never, expr: vllm:num_requests_running > 500}
      - {alert: Blind, expr: vllm:nobody_has_it > 0}
"""
START = 1_790_000_000


def told(*options: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["backtest", *options], terminal_width=200)
    return result.exit_code, result.output


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "mine.rules.yaml"
    path.write_text(RULES)
    return path


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Ten minutes, every five seconds: busy from the second minute to the fourth, and in the sixth."""
    path = tmp_path / "history.om"
    lines = []
    for number in range(121):
        busy = 24 <= number < 48 or 72 <= number < 84
        lines += [
            f'up{{job="vllm",instance="a"}} 1 {START + 5 * number}',
            f'vllm:num_requests_running{{job="vllm",instance="a"}} {9 if busy else 2} {START + 5 * number}',
        ]
    path.write_text("\n".join([*lines, "# EOF", ""]))
    return path


def test_what_would_have_fired_is_a_table(rules: Path, history: Path) -> None:
    code, text = told("--rules", str(rules), "--openmetrics", str(history))
    assert code == 0
    (row,) = [line.split() for line in text.splitlines() if line.strip().startswith("Busy")]
    assert row[:4] == ["Busy", "warning", "a", "2"]
    # It came back before the next message was due: one at its beginning, and one when all was over.
    assert row[-3:] == ["2m40s", "2", "1"]
    assert "quiet: Never" in text
    assert "without any data, so they could not fire: Blind" in text


def test_the_same_as_json_and_beside_other_rules(rules: Path, history: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.rules.yaml"
    other.write_text(RULES.replace("for: 10s", "for: 1m").replace("Never", "Always").replace("> 500", "> 0"))
    arguments = ["--rules", str(rules), "--compare", str(other), "--openmetrics", str(history), "--step", "5s"]
    code, text = told("--json", *arguments)
    assert code == 0
    answer = json.loads(text)
    assert [one["labels"]["alertname"] for one in answer["outcomes"][0]["fired"]] == ["Busy"]
    assert answer["outcomes"][0]["withoutData"] == [{"group": "g", "rule": "Blind", "alert": True}]
    comparison = answer["comparison"]
    assert [one["laterSeconds"] for one in comparison["both"]] == [50]
    assert [one["labels"]["alertname"] for one in comparison["onlySecond"]] == ["Always"]
    code, text = told(*arguments)
    assert "only with the others:" in text
    assert "the others: 50s later" in text


def test_only_the_part_that_is_asked_for_is_played(rules: Path, history: Path) -> None:
    until = str(START + 300)
    code, text = told("--json", "--rules", str(rules), "--openmetrics", str(history), "--to", until)
    assert code == 0
    (outcome,) = json.loads(text)["outcomes"]
    (fired,) = outcome["fired"]
    assert len(fired["episodes"]) == 1
    assert outcome["to"] == "2026-09-21T14:18:20Z"


def test_routes_of_a_configuration_decide_who_is_told(rules: Path, history: Path, tmp_path: Path) -> None:
    config = tmp_path / "monitor.yaml"
    config.write_text(
        f"""\
scrape_configs: [{{job_name: vllm, static_configs: [{{targets: ["127.0.0.1:8000"]}}]}}]
rule_files: ["{rules}"]
route: {{receiver: nobody, routes: [{{receiver: team, matchers: [alertname="Other"]}}]}}
receivers: [{{name: nobody}}, {{name: team, webhook_configs: [{{url: "http://127.0.0.1:1/"}}]}}]
"""
    )
    code, text = told("--json", "--config", str(config), "--openmetrics", str(history))
    assert code == 0, text
    (outcome,) = json.loads(text)["outcomes"]
    assert outcome["messages"] == {}
    assert len(outcome["fired"][0]["episodes"]) == 2


def test_the_shipped_rules_with_other_thresholds(tmp_path: Path) -> None:
    values = tmp_path / "mine.yaml"
    values.write_text("alerts: {VLLMOverloaded: {enabled: false}}\n")
    code, text = told("--json", "--interval", "5s", "--recording", str(OVERLOAD), "--values", str(values))
    assert code == 0, text
    (outcome,) = json.loads(text)["outcomes"]
    names = {one["labels"]["alertname"] for one in outcome["fired"]} | outcome["quiet"].keys()
    assert "VLLMKVCacheFull" in names
    assert "VLLMOverloaded" not in names


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give one of --prometheus, --openmetrics and --recording"),
        (["--openmetrics", "x", "--recording", "y"], "give one of --prometheus, --openmetrics and --recording"),
        (["--openmetrics", "nowhere.om"], "nowhere.om: No such file or directory"),
        (["--recording", "nowhere.jsonl"], "nowhere.jsonl: No such file or directory"),
        (["--prometheus", "localhost:9090"], "is no URL: write http://127.0.0.1:9090"),
        (
            ["--prometheus", "http://127.0.0.1:1"],
            "http://127.0.0.1:1: cannot connect to 127.0.0.1 port 1: connection refused",
        ),
        (["--recording", "x", "--interval", "soon"], "--interval: 'soon' is not a duration"),
        (["--recording", "x", "--from", "20", "--to", "10"], "--from is not before --to"),
        (["--recording", "x", "--rules", "r", "--values", "v"], "--values are those of the shipped rules"),
    ],
)
def test_what_cannot_be_done_is_said_on_one_line(options: list[str], message: str) -> None:
    code, text = told(*options)
    assert code != 0
    assert message in " ".join(text.replace("│", " ").split())


def test_a_folder_of_recordings_is_several_servers(rules: Path, tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    folder.mkdir()
    for name, running in (("one", 9), ("two", 1)):
        lines = [
            json.dumps({"time": START + 5 * k, "status": 200, "body": f"vllm:num_requests_running {running}\n"})
            for k in range(20)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    code, text = told("--json", "--rules", str(rules), "--recording", str(folder))
    assert code == 0, text
    (fired,) = json.loads(text)["outcomes"][0]["fired"]
    assert fired["labels"]["instance"] == "one"


def test_what_a_recording_says_of_health_becomes_series(tmp_path: Path) -> None:
    rules = tmp_path / "health.rules.yaml"
    rules.write_text("groups: [{name: g, rules: [{alert: Dead, expr: vllm_monitor_target_health_up == 0}]}]")
    recording = tmp_path / "server.jsonl"
    healths = [200] * 10 + [503] * 5 + [None] * 5 + [200] * 5
    recording.write_text(
        "\n".join(
            json.dumps({"time": START + 5 * k, "status": 200, "body": "", "health": one})
            for k, one in enumerate(healths)
        )
    )
    code, text = told("--json", "--rules", str(rules), "--recording", str(recording))
    assert code == 0, text
    (fired,) = json.loads(text)["outcomes"][0]["fired"]
    assert fired["firingSeconds"] == 50


def test_a_line_that_is_no_scrape_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text('{"time": 1790000000, "status": 200, "body": ""}\nnothing\n')
    code, text = told("--recording", str(path))
    assert code == 1
    assert f"{path}:2: no line of a recording" in text.replace("\n", "")


class Api:
    """Answers with samples each five seconds, and only a thousand at a time."""

    def __init__(self, status: int = 200, body: bytes | None = None) -> None:
        self.asked: list[Mapping[str, list[str]]] = []
        self.authorization: list[str | None] = []
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                api.asked.append(form)
                api.authorization.append(self.headers["Authorization"])
                code, answer = (status, body) if body is not None else api.answer(form)
                self.send_response(code)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                """Stay quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def answer(self, form: Mapping[str, list[str]]) -> tuple[int, bytes]:
        until = float(form["time"][0])
        length = int(form["query"][0].rpartition("[")[2].removesuffix("ms]")) / 1000
        times = [at for at in range(START, START + 7201, 5) if until - length < at <= until]
        if len(times) > 500:
            refusal = {"status": "error", "errorType": "execution", "error": "too many samples"}
            return 422, json.dumps(refusal).encode()
        labels = {"job": "vllm", "instance": "a"}
        result = [
            {"metric": {"__name__": "up", **labels}, "values": [[at, "1"] for at in times]},
            {
                "metric": {"__name__": "vllm:num_requests_running", **labels},
                "values": [[at, "9" if START + 600 <= at < START + 1200 else "2"] for at in times],
            },
        ]
        return 200, json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}).encode()


@contextmanager
def served(api: Api) -> Iterator[Api]:
    thread = threading.Thread(target=api.server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield api
    finally:
        api.server.shutdown()
        api.server.server_close()
        thread.join()


def asked(api: Api, rules: Path, *more: str) -> tuple[int, str]:
    period = ["--from", str(START), "--to", str(START + 7200)]
    return told("--json", "--rules", str(rules), "--prometheus", api.url, *period, *more)


def test_a_server_that_refuses_much_at_once_is_asked_for_less(rules: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret\n")
    with served(Api()) as api:
        code, text = asked(api, rules, "--bearer-token-file", str(token))
    assert code == 0, text
    (outcome,) = json.loads(text)["outcomes"]
    assert outcome["fired"][0]["firingSeconds"] == 590
    assert outcome["intervalSeconds"] == 5
    assert set(api.authorization) == {"Bearer secret"}
    # Only what rules read, but not what they record.
    assert api.asked[-1]["query"][0].startswith('{__name__=~"up|vllm:nobody_has_it|vllm:num_requests_running"}[')


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, b"", "answers 401: it wants other credentials: give --bearer-token-file or --basic-auth-file"),
        (200, b"<html>", "does not speak the Prometheus HTTP API: it answers 200"),
        (400, b'{"status": "error", "errorType": "bad_data", "error": "no"}', "no"),
    ],
)
def test_a_server_that_does_not_answer_is_told_in_plain_words(
    status: int, body: bytes, message: str, rules: Path
) -> None:
    with served(Api(status, body)) as api:
        code, text = asked(api, rules)
    assert code == 1
    assert text.strip() == f"{api.url} {message}" or text.strip() == f"{api.url}: {message}"


def test_a_password_comes_from_a_file_and_is_nowhere_said(rules: Path, tmp_path: Path) -> None:
    basic = tmp_path / "basic"
    basic.write_text("user:pass:word\n")
    with served(Api(403, b"")) as api:
        code, text = asked(api, rules, "--basic-auth-file", str(basic))
    assert code == 1
    assert api.authorization == ["Basic dXNlcjpwYXNzOndvcmQ="]
    assert "pass" not in text
