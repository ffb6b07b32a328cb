"""Dispatch as a whole: what goes on over a reload, and what a configuration decides."""

from collections.abc import Callable, Mapping, Sequence

from monitor.config.alertmanager import as_alertmanager
from monitor.config.config import Config
from monitor.dispatch.alerting import Alerting
from monitor.dispatch.dispatcher import Dispatcher, Integration
from monitor.dispatch.inhibit import Inhibitor
from monitor.dispatch.muting import Muting, Suppression, unheard
from monitor.dispatch.nflog import NotificationLog
from monitor.dispatch.silence import Silences
from monitor.dispatch.store import AlertStore
from monitor.model.instant import Instant


class Dispatching:
    """The dispatcher of a configuration, with everything that mutes; `suppressed` hears of what was muted."""

    def __init__(
        self,
        config: Config,
        receivers: Mapping[str, Sequence[Integration]],
        log: NotificationLog | None = None,
        silences: Silences | None = None,
        suppressed: Callable[[Suppression, int], None] = unheard,
    ) -> None:
        self._suppressed = suppressed
        self._store = AlertStore()
        self._silences = silences if silences is not None else Silences()
        self._config = config
        self.muting = self._mute(config)
        self.dispatcher = Dispatcher(config.route, receivers, self.muting.stages, log, self._store)

    def reconfigure(self, config: Config, receivers: Mapping[str, Sequence[Integration]], now: Instant) -> None:
        """Go over to another configuration; alerts, silences and the log go on."""
        self._config, self.muting = config, self._mute(config)
        self.dispatcher.reconfigure(config.route, receivers, self.muting.stages, now)

    def alerting(self, changed: Callable[[], None]) -> Alerting:
        """Return what the HTTP side shows; it calls `changed` when it has inserted alerts."""
        config = self._config
        return Alerting(
            self.dispatcher,
            self._store,
            self.muting,
            config.route,
            tuple(receiver.name for receiver in config.receivers),
            config.global_.resolve_timeout,
            lambda: as_alertmanager(config),
            changed,
        )

    def _mute(self, config: Config) -> Muting:
        inhibitor = Inhibitor(config.inhibit_rules, self._store)
        return Muting(inhibitor, config.time_intervals, self._silences, self._suppressed)
