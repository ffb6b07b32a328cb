"""Asks a daemon who acknowledged what; a Prometheus does not know."""

import requests

from monitor.commands.ask import Exchange, request
from monitor.commands.query import TIMEOUT_SECONDS
from monitor.model.instant import to_seconds
from monitor.report.handling import Handling, handlings_of
from monitor.report.period import Period

_OK = 200


def handlings(server: str, period: Period, exchange: Exchange = request) -> list[Handling] | None:
    """Return what the daemon says of a period, None where the server cannot tell."""
    asked = {"start": to_seconds(period.start), "end": to_seconds(period.end)}
    try:
        reply = exchange("GET", f"{server.rstrip('/')}/api/v1/incidents", params=asked, timeout=TIMEOUT_SECONDS)
        listed = reply.json()["data"] if reply.status_code == _OK else None
    except (requests.RequestException, ValueError, KeyError, TypeError):
        return None
    return handlings_of(listed) if isinstance(listed, list) else None
