"""The daemon as a process: memory after a hundred scrapes, CPU, and how fast a scrape becomes a Slack request."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

from monitor.clock import monotonic_seconds
from tests.bench.pages import CONTENT_TYPE, OVERLOAD, pages
from tests.waiting import until

SCRAPES = 100
MEMORY_BUDGET = 75
LATENCY_BUDGET = 50
# What the probes of a slot get.
_PROBED = {
    "/load": b'{"server_load":5}',
    "/version": b'{"version":"0.32.0"}',
    "/v1/models": b'{"data":[{"id":"tiny-llama","max_model_len":512}]}',
}
RULES = """\
groups:
  - name: bench
    rules:
      - {alert: Scraped, expr: bench_scrapes, labels: {number: "{{ $value }}", severity: critical}}
"""


class Line:
    """A page that is another one at each scrape, and a webhook; both note when their part was over or began."""

    def __init__(self) -> None:
        self.landed: list[float] = []
        self.asked: dict[int, float] = {}
        line = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if self.path != "/metrics":
                    self._answer(_PROBED.get(self.path, b""), "application/json")
                    return
                number = len(line.landed)
                body = (
                    pages()[OVERLOAD[number % len(OVERLOAD)]]
                    + b"# TYPE bench_scrapes gauge\nbench_scrapes %d\n" % number
                )
                self._answer(body, CONTENT_TYPE)
                line.landed.append(monotonic_seconds())

            def do_POST(self) -> None:
                at = monotonic_seconds()
                body = json.dumps(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                for number in re.findall(r"number[^0-9]{1,9}(\d+)", body):
                    line.asked.setdefault(int(number), at)
                self._answer(b"ok", "text/plain")

            def _answer(self, body: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Stay quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def latencies(self) -> list[float]:
        """Return the milliseconds from a page's last byte to the arrival of the request that tells of it."""
        return [(at - self.landed[number]) * 1000 for number, at in sorted(self.asked.items())]


@contextmanager
def running(config: str) -> Iterator["subprocess.Popen[bytes]"]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "monitor.yaml"
        path.write_text(config)
        (Path(folder) / "bench.rules.yaml").write_text(RULES)
        command = [str(Path(sys.executable).with_name("vllm-monitor")), "run", "--config", str(path)]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            yield process
        finally:
            process.terminate()
            process.wait()


def resident_megabytes(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def config(line: Line, more: str, interval: str) -> str:
    return f"""\
global: {{scrape_interval: {interval}, scrape_timeout: {interval}}}
scrape_configs: [{{job_name: vllm, static_configs: [{{targets: ["{line.address}"]}}]}}]
route: {{receiver: slack, group_by: [alertname, number], group_wait: 0s}}
receivers: [{{name: slack, slack_configs: [{{api_url: "http://{line.address}/hook"}}]}}]
web: {{listen: "127.0.0.1:0"}}
{more}"""


def rows() -> list[tuple[str, str, str]]:
    """Return what was measured, the figure and its budget."""
    line = Line()
    with running(config(line, "", "200ms")) as process:
        until(lambda: len(line.landed) >= 2, within=30)
        before = cpu_seconds(process.pid)
        until(lambda: len(line.landed) >= SCRAPES, within=60)
        memory = resident_megabytes(process.pid)
        cpu = (cpu_seconds(process.pid) - before) / (SCRAPES - 2)
    told = Line()
    with running(config(told, 'rule_files: ["bench.rules.yaml"]\n', "500ms")):
        until(lambda: len(told.asked) >= 40, within=60)
    latencies = told.latencies()
    return [
        (f"resident memory after {SCRAPES} scrapes, shipped rules", f"{memory:.1f} MB", f"<= {MEMORY_BUDGET} MB"),
        ("process CPU of a scrape with its rules, shipped rules", f"{cpu * 1000:.1f} ms", "<= 41 ms (0.5 s a minute)"),
        (
            "from a scrape's landing to the Slack request, median",
            f"{median(latencies):.1f} ms (max {max(latencies):.1f})",
            f"<= {LATENCY_BUDGET} ms",
        ),
    ]
