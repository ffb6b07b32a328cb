"""What probing costs beside the scrapes: CPU of a round of questions, and of the rows of a fleet."""

import multiprocessing
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import process_time
from typing import Any

from monitor.model.instant import SECOND
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.target import Target
from monitor.probe.client import Client
from monitor.probe.loop import ProbeLoop
from monitor.probe.options import ProbeOptions
from monitor.probe.questions import Questions
from monitor.scrape.options import ScrapeOptions
from monitor.scrape.shape import Page, Series
from monitor.storage.window import Window

TARGETS, SLOTS = 100, 6
_ANSWERS = {
    "/load": b'{"server_load":5}',
    "/version": b'{"version":"0.32.0"}',
    "/v1/models": b'{"data":[{"id":"tiny-llama","max_model_len":512}]}',
}
_CONFIG = {"block_size": "32", "num_gpu_blocks": "100", "engine": "0"} | {f"other_{k}": "None" for k in range(33)}
PAGE = Page([Series(Labels.of({METRIC_NAME: "vllm:cache_config_info", **_CONFIG}), counter=False)], [1.0])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # One segment an answer, as uvicorn sends it.
    wbufsize = -1

    def do_GET(self) -> None:
        body = _ANSWERS.get(self.path, b"")
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Stay quiet."""


def _serve(ports: Any) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    ports.put(server.server_address[1])
    server.serve_forever()


def _loops(port: int) -> list[ProbeLoop]:
    options = ProbeOptions(ScrapeOptions(scrape_interval=5 * SECOND), exposure=None)
    url, window = f"http://127.0.0.1:{port}/metrics", Window()
    ask = Questions(partial(Client, url, options.scrape, options.timeout))
    targets = [Target("vllm", url, Labels.of(job="vllm", instance=f"{k}:8000"), Labels()) for k in range(TARGETS)]
    return [ProbeLoop(target, options, window, ask, page=lambda: PAGE) for target in targets]


def _measured(port: int) -> tuple[float, float]:
    """Return the CPU seconds of a round of health and load, and of the rows of all targets."""
    loops = _loops(port)
    asking = writing = 0.0
    for slot in range(SLOTS):
        at, began = (slot + 1) * 5 * SECOND, process_time()
        for loop in loops:
            loop.probe(at)
        asked = process_time()
        for loop in loops:
            loop.write(at)
        # The first slot makes what the others use: connections to know the way, columns to write to.
        asking += (asked - began) * bool(slot)
        writing += (process_time() - asked) * bool(slot)
    return asking / (SLOTS - 1) / TARGETS, writing / (SLOTS - 1)


def rows() -> list[tuple[str, str, str]]:
    """Return what was measured, the figure and its budget."""
    context = multiprocessing.get_context("spawn")
    ports: Any = context.Queue()
    server = context.Process(target=_serve, args=(ports,), daemon=True)
    server.start()
    try:
        asking, writing = _measured(ports.get(timeout=30))
    finally:
        server.terminate()
        server.join()
    return [
        ("probes: process CPU of a round, health and load", f"{asking * 1000:.2f} ms", "≤ 1 ms"),
        (f"probes: process CPU of a row for each of {TARGETS} targets", f"{writing * 1000:.1f} ms", "≤ 5 ms"),
    ]
