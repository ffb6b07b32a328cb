"""All paths in one WSGI application, and what it answers when something is wrong."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flask import Blueprint, Flask, Response, request
from werkzeug.exceptions import HTTPException

from monitor.web.access import CHALLENGE, Access, BusyError
from monitor.web.answer import failure
from monitor.web.error import ApiError, ErrorType
from monitor.web.information import Information
from monitor.web.origin import Guard, Refusal
from monitor.web.queries import Queries
from monitor.web.routes import Routes, text
from monitor.yamldoc.mistake import shown

log = logging.getLogger(__name__)

# Nothing that this API takes is large; where a path takes more, it says so itself.
LARGEST_BODY_BYTES = 1 << 20
_API = "/api/v1"
_GET = ("GET",)
_BOTH = ("GET", "POST")

View = Callable[..., Response]


@dataclass(frozen=True, slots=True)
class Guarding:
    """`guard` and `access` return who judges requests now; `refused` hears of those that are turned away."""

    guard: Callable[[], Guard] = Guard
    refused: Callable[[Refusal], None] = lambda _: None
    access: Callable[[], Access] = Access


def create_app(
    routes: Routes, queries: Queries, information: Information, *more: Blueprint, guarding: Guarding = Guarding()
) -> Flask:
    """Return the WSGI application; `more` are paths that answer for themselves."""
    app = Flask("vllm-monitor", static_folder=None)
    app.before_request(lambda: _judge(guarding))
    app.config["MAX_CONTENT_LENGTH"] = app.config["MAX_FORM_MEMORY_SIZE"] = LARGEST_BODY_BYTES
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.url_map.merge_slashes = False
    for path, methods, view in _paths(routes, queries, information):
        app.add_url_rule(path, path, view, methods=methods)
    for blueprint in more:
        app.register_blueprint(blueprint)
    app.register_error_handler(ApiError, failure)
    app.register_error_handler(HTTPException, _refused)
    app.register_error_handler(Exception, _broken)
    return app


def _paths(routes: Routes, queries: Queries, information: Information) -> Iterator[tuple[str, tuple[str, ...], View]]:
    yield "/metrics", _GET, routes.metrics
    yield "/-/healthy", _GET, routes.healthy
    yield "/-/ready", _GET, routes.ready
    yield "/-/active", _GET, routes.active
    yield "/-/reload", ("POST",), routes.reload
    api: tuple[tuple[str, tuple[str, ...], View], ...] = (
        ("/alerts", _GET, routes.alerts),
        ("/rules", _GET, routes.rules),
        ("/targets", _GET, routes.targets),
        ("/scrape_pools", _GET, routes.scrape_pools),
        ("/query", _BOTH, queries.query),
        ("/query_range", _BOTH, queries.query_range),
        ("/query_exemplars", _BOTH, queries.query_exemplars),
        ("/format_query", _BOTH, queries.format_query),
        ("/series", _BOTH, queries.series),
        ("/labels", _BOTH, queries.labels),
        ("/label/<name>/values", _GET, queries.label_values),
        ("/metadata", _GET, information.metadata),
        ("/status/buildinfo", _GET, information.buildinfo),
        ("/status/flags", _GET, information.flags),
        ("/status/runtimeinfo", _GET, information.runtimeinfo),
        ("/status/tsdb", _GET, information.tsdb),
    )
    for path, methods, view in api:
        yield _API + path, methods, view


def _judge(guarding: Guarding) -> Response | None:
    headers = request.headers
    host = headers.get("Host", "")
    refusal = guarding.guard().refusal(request.method, host, headers.get("Origin"), headers.get("Sec-Fetch-Site"))
    if refusal is None:
        return _admit(guarding, request.path, headers.get("Authorization"))
    guarding.refused(refusal)
    if refusal is Refusal.ORIGIN:
        return text("403 forbidden: a page of somebody else asks for this (see web.external_url)\n", 403)
    return text(f"403 forbidden: not known as {shown(host)} (see web.external_url and web.allowed_hosts)\n", 403)


def _admit(guarding: Guarding, path: str, authorization: str | None) -> Response | None:
    try:
        if guarding.access().lets_in(path, authorization):
            return None
    except BusyError:
        guarding.refused(Refusal.BUSY)
        return text("503 too many passwords at once\n", 503)
    guarding.refused(Refusal.CREDENTIALS)
    return _challenge()


def _challenge() -> Response:
    """Answer as Prometheus does; a browser asks for name and password then."""
    response = text("401 unauthorized\n", 401)
    response.headers["WWW-Authenticate"] = CHALLENGE
    return response


def _refused(err: HTTPException) -> Response:
    """Answer as Prometheus does for a path or a method that there is not: in plain text."""
    if err.code == 404:  # noqa: PLR2004 - the code is its own name
        return text("404 page not found\n", 404)
    response = text(f"{err.name}\n", err.code or 500)
    valid = getattr(err, "valid_methods", None)
    if valid:
        response.headers["Allow"] = ", ".join(sorted(valid))
    return response


def _broken(err: Exception) -> Response:
    """Answer for a defect of ours: whoever asked is told so, and the log has the rest."""
    log.error("request failed", exc_info=err, extra={"path": request.path})
    return failure(ApiError(f"internal error: {type(err).__name__}", ErrorType.INTERNAL))
