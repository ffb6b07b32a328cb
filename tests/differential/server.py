"""A real Prometheus on a loopback port, filled by remote write and asked over HTTP."""

import http.client
import json
import subprocess
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.ports import free_port
from tests.waiting import until

_PATIENCE_SECONDS = 60


class Server:
    """One connection to a Prometheus."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, path: str, parameters: Mapping[str, str]) -> dict[str, Any]:
        """Return the JSON that the HTTP API answers, for success and for error."""
        self._connection.request(
            "POST",
            f"/api/v1/{path}",
            urllib.parse.urlencode(parameters),
            {"Content-Type": "application/x-www-form-urlencoded"},
        )
        answer: dict[str, Any] = json.loads(self._connection.getresponse().read())
        return answer

    def query(self, query: str, start: int, end: int | None, step: int) -> dict[str, Any]:
        """Return the answer to an instant query at `start`, or to a range query when there is an `end`."""
        if end is None:
            return self.ask("query", {"query": query, "time": str(start / 1000)})
        times = {"start": str(start / 1000), "end": str(end / 1000), "step": str(step / 1000)}
        return self.ask("query_range", {"query": query, **times})

    def ready(self) -> bool:
        try:
            self._connection.request("GET", "/-/ready")
            answer = self._connection.getresponse()
            answer.read()
        except OSError:
            self._connection.close()
            return False
        return answer.status == http.HTTPStatus.OK

    def close(self) -> None:
        self._connection.close()


@contextmanager
def prometheus(program: str, folder: Path, config: str = "global: {evaluation_interval: 1m}\n") -> Iterator[Server]:
    """Run `program` with its data in `folder`; it scrapes nothing unless the `config` says so."""
    (folder / "prometheus.yml").write_text(config)
    port = free_port()
    process = subprocess.Popen(
        [
            program,
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/data",
            "--storage.tsdb.retention.time=100y",
            f"--web.listen-address=127.0.0.1:{port}",
            "--web.enable-remote-write-receiver",
            # Stable since 3.14, and unknown before 3.4.
            "--enable-feature=promql-duration-expr",
            "--log.level=error",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    server = Server(port)
    try:
        until(lambda: _is_up(server, process), within=_PATIENCE_SECONDS)
        yield server
    finally:
        server.close()
        process.terminate()
        process.wait(_PATIENCE_SECONDS)


def _is_up(server: Server, process: "subprocess.Popen[bytes]") -> bool:
    assert process.poll() is None, "Prometheus ended at once"
    return server.ready()
