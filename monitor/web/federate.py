"""
`/federate`: the newest samples of what is selected, for a Prometheus to scrape.

reference: Prometheus 3, web/federate.go, and prometheus/common, expfmt/text_create.go.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from flask import Blueprint, Response, request

from monitor.clock import Clock
from monitor.model.instant import Instant
from monitor.model.labels import INSTANCE, METRIC_NAME, Labels, quoted
from monitor.model.matcher import Matcher
from monitor.promql.quantile import shortest
from monitor.web.error import ApiError
from monitor.web.gate import Gate
from monitor.web.queries import LOOKBACK, TIMEOUT_SECONDS
from monitor.web.routes import text
from monitor.web.series import Storage, in_time, selectors_of

_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8; escaping={}"
_ANY_NAME = re.compile(r"escaping\s*=\s*allow-utf-8")
_METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_NOT_METRIC, _NOT_LABEL = re.compile(r"[^a-zA-Z0-9_:]"), re.compile(r"[^a-zA-Z0-9_]")


class Newest(NamedTuple):
    labels: Labels
    at: Instant
    value: float


@dataclass(frozen=True)
class Federation:
    """
    One path. `external_labels` returns those of now: they stand beside what has no label of that name.

    `gate` is that of the queries: a page of thousands of series takes as long as one of them.
    """

    storage: Storage
    clock: Clock
    external_labels: Callable[[], Labels]
    gate: Gate = field(default_factory=Gate)

    def blueprint(self) -> Blueprint:
        """Return the path, for an application to register."""
        blueprint = Blueprint("federate", __name__)
        blueprint.add_url_rule("/federate", "federate", self.federate, methods=["GET"])
        return blueprint

    def federate(self) -> Response:
        try:
            selectors = selectors_of(request.values.getlist("match[]"))
        except ApiError as err:
            return text(f"{err}\n", 400)
        plain = _ANY_NAME.search(request.headers.get("Accept", "")) is None
        with self.gate.passed(TIMEOUT_SECONDS) as left:
            found = newest(self.storage, in_time(selectors, left), self.clock.now())
            page = page_of(found, self.external_labels(), plain=plain)
        kind = _CONTENT_TYPE.format("underscores" if plain else "allow-utf-8")
        return Response(page, content_type=kind)


def newest(storage: Storage, selectors: Iterable[Sequence[Matcher]], now: Instant) -> list[Newest]:
    """Return the newest sample of each series that is selected, of the last five minutes, ended series left out."""
    found: dict[Labels, Newest] = {}
    for matchers in selectors:
        for column in storage.select(matchers):
            sample = column.newest(now - LOOKBACK, now)
            if sample is not None:
                found[column.labels] = Newest(column.labels, *sample)
    return list(found.values())


def page_of(samples: Iterable[Newest], external_labels: Labels, *, plain: bool) -> str:
    """
    Return the page, families in the order of their names.

    With `plain` there are no names but those of old: what else stands in one becomes an underscore. A series without
    an instance says so, so that it does not get that of the daemon.
    """
    beside = {INSTANCE: "", **external_labels.as_dict()}
    lines: list[str] = []
    family = None
    for one in sorted(samples, key=lambda one: (one.labels.name, one.labels)):
        if not one.labels.name:
            continue
        if one.labels.name != family:
            family = one.labels.name
            lines.append(f"# TYPE {_family(family, plain=plain)} untyped")
        lines.append(f"{_series(one.labels, beside, plain=plain)} {shortest(one.value)} {one.at}")
    return "".join(f"{line}\n" for line in lines)


def _family(name: str, *, plain: bool) -> str:
    if _METRIC.fullmatch(name):
        return name
    return _escaped(name, _NOT_METRIC) if plain else quoted(name)


def _series(labels: Labels, beside: dict[str, str], *, plain: bool) -> str:
    own = {name: value for name, value in labels if name != METRIC_NAME}
    written: dict[str, str] = {}
    for label, value in (*own.items(), *((label, beside[label]) for label in sorted(beside) if label not in own)):
        # Two may become one by their underscores, and a Prometheus refuses a whole page for a label that comes twice.
        written.setdefault(_label(label, plain=plain), value)
    pairs = [f"{label}={quoted(value)}" for label, value in written.items()]
    name = _family(labels.name, plain=plain)
    if name.startswith('"'):
        return f"{{{','.join((name, *pairs))}}}"
    return f"{name}{{{','.join(pairs)}}}"


def _label(name: str, *, plain: bool) -> str:
    if _LABEL.fullmatch(name):
        return name
    return _escaped(name, _NOT_LABEL) if plain else quoted(name)


def _escaped(name: str, others: re.Pattern[str]) -> str:
    changed = others.sub("_", name)
    return f"_{changed[1:]}" if changed[:1].isdigit() else changed
