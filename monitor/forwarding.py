"""
Alerts on their way to real Alertmanagers, each of which has a queue and a thread of its own.

One that is dead delays neither the others nor an evaluation. Nothing is tried again: what still fires is sent anew.
"""

import logging
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from prometheus_client import CollectorRegistry

from monitor.alertmanagers import Alertmanagers, Place
from monitor.clock import monotonic_seconds
from monitor.config.config import Config
from monitor.dispatch.notification import NotifyError
from monitor.forwardmetrics import ForwardMetrics
from monitor.model.alert import Alert
from monitor.model.instant import Duration, Instant
from monitor.model.relabel import RelabelConfig, relabelled
from monitor.notify.alertmanager import Sendings, body
from monitor.notify.http import Address
from monitor.notify.secret import Secret

log = logging.getLogger(__name__)

CAPACITY = 10_000
BATCH = 64
_HEADERS = {"Content-Type": "application/json"}


class Line:
    """What goes to one Alertmanager; `name` is what it is called in metrics."""

    def __init__(self, name: str, address: Address, metrics: ForwardMetrics, capacity: int = CAPACITY) -> None:
        self.name = name
        self._address = address
        self._metrics = metrics
        self._capacity = capacity
        self._waiting: deque[Alert] = deque()
        self._changed = threading.Condition()
        self._stopping = False
        self._failed = False
        self.external_url = ""
        self._thread = threading.Thread(target=self._work, name=f"alertmanager {name}", daemon=True)
        metrics.begin(name)

    def start(self) -> None:
        self._thread.start()

    def put(self, alerts: Sequence[Alert]) -> None:
        """Let the alerts wait; of more than there is room for the newest are kept."""
        with self._changed:
            self._waiting.extend(alerts)
            dropped = max(len(self._waiting) - self._capacity, 0)
            for _ in range(dropped):
                self._waiting.popleft()
            self._metrics.queue.labels(self.name).set(len(self._waiting))
            self._changed.notify()
        if dropped:
            self._metrics.dropped.labels(self.name).inc(dropped)
            log.warning("alerts dropped, the queue is full", extra={"alertmanager": self.name, "alerts": dropped})

    def finish(self) -> None:
        """Send what waits, as long as that goes well, and then no more."""
        with self._changed:
            self._stopping = True
            self._changed.notify()

    @property
    def works(self) -> bool:
        """Whether it may still send something."""
        return self._thread.is_alive()

    def join(self, seconds: float) -> None:
        """Wait for the end; what waits then is never sent."""
        self._thread.join(seconds)

    def _work(self) -> None:
        while (batch := self._next()) is not None:
            self._send(batch)
        self._metrics.end(self.name)

    def _next(self) -> list[Alert] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._stopping)
            if self._stopping and self._failed:
                # Of one that is dead each batch would take the whole timeout.
                self._waiting.clear()
            batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
            self._metrics.queue.labels(self.name).set(len(self._waiting))
            return batch or None

    def _send(self, batch: Sequence[Alert]) -> None:
        metrics, began, error = self._metrics, monotonic_seconds(), ""
        try:
            self._address.post(body(batch, self.external_url), _HEADERS)
        except NotifyError as err:
            error = str(err)
        except Exception as err:  # whatever it is, the next batch is another matter
            log.exception("sending failed unexpectedly", extra={"alertmanager": self.name})
            error = type(err).__name__
        metrics.latency.labels(self.name).observe(monotonic_seconds() - began)
        metrics.sent.labels(self.name).inc(len(batch))
        if error:
            metrics.errors.labels(self.name).inc(len(batch))
            metrics.dropped.labels(self.name).inc(len(batch))
            # Once until it goes well again: the counter has the rest.
            level = logging.DEBUG if self._failed else logging.ERROR
            log.log(level, "alerts not sent: %s", error, extra={"alertmanager": self.name, "alerts": len(batch)})
        self._failed = bool(error)


class Forwarding:
    """
    All Alertmanagers of the configuration, over reloads; without one there is neither a thread nor a metric.

    `hear` is called from the thread that evaluates, and waits for nobody.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self._metrics: ForwardMetrics | None = None
        self._lines: dict[Place, Line] = {}
        self._leaving: list[Line] = []
        self._known = Alertmanagers(self._sync)
        self._external_url = ""
        self._sendings = Sendings()
        self._relabel: tuple[RelabelConfig, ...] = ()
        self._lock = threading.Lock()

    def begin(self, config: Config) -> None:
        """Go over to the Alertmanagers of a configuration; those that stay go on with what waits for them."""
        configs = config.alerting.alertmanagers
        with self._lock:
            if configs:
                self._counted()
            self._known.begin(configs)
            self._relabel = tuple(rule.built() for rule in config.alerting.alert_relabel_configs)
            self._external_url = config.web.external_url or f"http://{config.web.listen}"
        self._sync()

    def _counted(self) -> ForwardMetrics:
        if self._metrics is None:
            self._metrics = ForwardMetrics(self._registry)
            self._metrics.capacity.set(CAPACITY)
        return self._metrics

    def _sync(self) -> None:
        """Have a line to each Alertmanager that is known now, and to no other."""
        with self._lock:
            wanted = self._known.places()
            gone = [self._lines.pop(place) for place in self._lines.keys() - wanted]
            for line in gone:
                line.finish()
            self._leaving = [line for line in [*self._leaving, *gone] if line.works]
            new = sorted(wanted - self._lines.keys(), key=lambda place: place.name)
            for place in new:
                self._lines[place] = _line(place, self._counted())
                self._lines[place].start()
            if new:
                self._sendings.begin_anew()
            for line in self._lines.values():
                line.external_url = self._external_url

    def hear(self, alerts: Sequence[Alert], at: Instant, interval: Duration) -> None:
        """Send what is due of the alerts of an evaluation."""
        with self._lock:
            if not self._lines:
                return
            due = list(_relabelled(self._sendings.due(alerts, at, interval), self._relabel))
            self._sendings.forget(at)
            # Before another thread lets go of a line: what is put there afterwards nobody would send.
            for line in self._lines.values() if due else ():
                line.put(due)

    def shift(self, by: Duration) -> None:
        """The clock was set by so much."""
        with self._lock:
            self._sendings.shift(by)

    def stop(self, seconds: float) -> None:
        """Let what waits go out, for at most so long: also to those that a reload has just let go."""
        with self._lock:
            self._known.begin(())
            lines = [*self._leaving, *self._lines.values()]
            self._leaving.clear()
            self._lines.clear()
        for line in lines:
            line.finish()
        until = monotonic_seconds() + seconds
        for line in lines:
            line.join(max(0.0, until - monotonic_seconds()))


def _line(place: Place, metrics: ForwardMetrics) -> Line:
    options = place.config.options(place.config.timeout)
    return Line(place.name, Address(Secret(place.url), options), metrics)


def _relabelled(alerts: Iterable[Alert], rules: Sequence[RelabelConfig]) -> Iterator[Alert]:
    """Yield the alerts as Alertmanagers hear of them, without those that are dropped."""
    for alert in alerts:
        labels = relabelled(alert.labels, rules) if rules else alert.labels
        if labels:
            yield replace(alert, labels=labels)
