"""Dispatch as the HTTP side sees it."""

from collections.abc import Callable
from dataclasses import dataclass

from monitor.dispatch.dispatcher import Dispatcher
from monitor.dispatch.muting import Muting
from monitor.dispatch.route import Route
from monitor.dispatch.store import AlertStore
from monitor.model.instant import Duration


@dataclass(frozen=True, slots=True)
class Alerting:
    """
    What the API shows: the parts of one configuration.

    `config` returns that configuration in Alertmanager's words; `changed` is called when alerts were inserted.
    """

    dispatcher: Dispatcher
    store: AlertStore
    muting: Muting
    route: Route
    receivers: tuple[str, ...]
    resolve_timeout: Duration
    config: Callable[[], str]
    changed: Callable[[], None]
