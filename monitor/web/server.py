"""The HTTP server: Flask's routes on waitress' threads."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import waitress
from flask import Flask, Response, jsonify, request
from flask.json.provider import DefaultJSONProvider
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


class _InOrder(DefaultJSONProvider):
    # As Prometheus: the status first.
    sort_keys = False


class Routes:
    """One method a path; `prepare` is called before /metrics is read."""

    def __init__(self, daemon: Daemon, registry: CollectorRegistry, prepare: Callable[[], None]) -> None:
        self._daemon = daemon
        self._registry = registry
        self._prepare = prepare

    def metrics(self) -> Response:
        self._prepare()
        return Response(generate_latest(self._registry), content_type=CONTENT_TYPE_LATEST)

    def healthy(self) -> Response:
        return _text("vllm-monitor is healthy.\n")

    def ready(self) -> Response:
        if self._daemon.snapshot().ready:
            return _text("vllm-monitor is ready.\n")
        return _text("vllm-monitor has not finished its first round.\n", 503)

    def reload(self) -> Response:
        mistakes = self._daemon.reload()
        return _text(mistakes + "\n", 400) if mistakes else _text("")

    def alerts(self) -> Response:
        return _success(views.alerts(self._daemon.snapshot().groups))

    def rules(self) -> Response:
        kind = request.args.get("type", "")
        if kind not in ("", "alert", "record"):
            return _bad_data(f"not supported value {kind!r}")
        return _success(views.rules(self._daemon.snapshot().groups, kind))

    def targets(self) -> Response:
        return _success(views.targets(self._daemon.snapshot().loops))


def create_app(routes: Routes) -> Flask:
    """Return the WSGI application."""
    app = Flask("vllm-monitor", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY_BYTES
    app.json = _InOrder(app)
    for path, view, method in (
        ("/metrics", routes.metrics, "GET"),
        ("/-/healthy", routes.healthy, "GET"),
        ("/-/ready", routes.ready, "GET"),
        ("/-/reload", routes.reload, "POST"),
        ("/api/v1/alerts", routes.alerts, "GET"),
        ("/api/v1/rules", routes.rules, "GET"),
        ("/api/v1/targets", routes.targets, "GET"),
    ):
        app.add_url_rule(path, path, view, methods=[method])
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
