"""The HTTP server: Flask's routes on waitress' threads."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import waitress
from flask import Flask, Response, jsonify, request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from monitor.rules.group import Group
from monitor.scrape.target import ScrapeLoop
from monitor.web import views

# Nothing that this API takes is large.
LARGEST_BODY_BYTES = 1 << 20
THREADS = 4


class Daemon(Protocol):
    """What the HTTP side needs of the daemon."""

    def snapshot(self) -> "Snapshot":
        """Return what the daemon consists of now."""
        ...

    def reload(self) -> str:
        """Load the configuration again; returns what is wrong with it, or "" when it was accepted."""
        ...


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`ready`: the first round of scrapes and rules is behind it."""

    groups: list[Group]
    loops: list[ScrapeLoop]
    ready: bool


def create_app(daemon: Daemon, registry: CollectorRegistry, prepare: Callable[[], None]) -> Flask:
    """Return the routes; `prepare` is called before /metrics is read."""
    app = Flask("vllm-monitor", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY_BYTES
    app.json.sort_keys = False  # type: ignore[attr-defined]  # the default provider has it, its base class does not

    def metrics() -> Response:
        prepare()
        return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)

    def healthy() -> Response:
        return _text("vllm-monitor is healthy.\n")

    def ready() -> Response:
        if daemon.snapshot().ready:
            return _text("vllm-monitor is ready.\n")
        return _text("vllm-monitor has not finished its first round.\n", 503)

    def reload() -> Response:
        mistakes = daemon.reload()
        return _text(mistakes + "\n", 400) if mistakes else _text("")

    def alerts() -> Response:
        return _success(views.alerts(daemon.snapshot().groups))

    def rules() -> Response:
        kind = request.args.get("type", "")
        if kind not in ("", "alert", "record"):
            return _bad_data(f"not supported value {kind!r}")
        return _success(views.rules(daemon.snapshot().groups, kind))

    def targets() -> Response:
        return _success(views.targets(daemon.snapshot().loops))

    for path, view, method in (
        ("/metrics", metrics, "GET"),
        ("/-/healthy", healthy, "GET"),
        ("/-/ready", ready, "GET"),
        ("/-/reload", reload, "POST"),
        ("/api/v1/alerts", alerts, "GET"),
        ("/api/v1/rules", rules, "GET"),
        ("/api/v1/targets", targets, "GET"),
    ):
        app.add_url_rule(path, view.__name__, view, methods=[method])
    return app


class Server:
    """Serves the routes on one address until stopped. Raises OSError when the address cannot be bound."""

    def __init__(self, app: Flask, host: str, port: int) -> None:
        self._server: Any = waitress.create_server(
            app, host=host, port=port, threads=THREADS, max_request_body_size=LARGEST_BODY_BYTES, ident="vllm-monitor"
        )
        self.port: int = self._server.effective_port
        self._thread = threading.Thread(target=self._server.run, name="web", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.close()


def _text(text: str, status: int = 200) -> Response:
    return Response(text, status=status, content_type="text/plain; charset=utf-8")


def _success(data: views.Json) -> Response:
    return jsonify({"status": "success", "data": data})


def _bad_data(message: str) -> Response:
    response = jsonify({"status": "error", "errorType": "bad_data", "error": message})
    response.status_code = 400
    return response
