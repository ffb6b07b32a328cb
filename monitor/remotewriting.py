"""From the configuration to what is written where."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from monitor.clock import Clock
from monitor.config.config import Config
from monitor.config.secret import held
from monitor.model.instant import Duration, Instant
from monitor.model.matcher import Matcher
from monitor.notify.http import Address
from monitor.remotemetrics import RemoteWriteMetrics
from monitor.remotewrite.positions import Positions
from monitor.remotewrite.remotes import Remotes
from monitor.remotewrite.writer import Counts, Remote, Writer
from monitor.storage.history.history import History
from monitor.storage.history.reading import Stored


class Remoting:
    """What is written by the present configuration. From the state folder alone it goes on where it stood."""

    def __init__(self, history: History, folder: Path, clock: Clock, metrics: RemoteWriteMetrics) -> None:
        self._history = history
        self._positions = Positions(folder)
        self._metrics = metrics
        self._remotes = Remotes(clock.now, metrics.show_behind)

    def begin(self, config: Config) -> None:
        """Go over to a configuration."""
        self._remotes.leave()
        self._metrics.forget()
        self._remotes.begin(writers_of(config, self._history, self._positions, self._metrics))

    def shift(self, by: Duration) -> None:
        """The clock was set by so much."""
        self._remotes.shift(by)

    def stop(self) -> None:
        self._remotes.stop()


class _Kept:
    """The history, as a writer asks it."""

    def __init__(self, history: History) -> None:
        self._history = history

    def kept_until(self) -> Instant | None:
        return self._history.written_until

    def select(self, matchers: Sequence[Matcher], after: Instant, until: Instant, most: int) -> Sequence[Stored]:
        return self._history.reader.select(matchers, after, until, most)


def writers_of(config: Config, history: History, positions: Positions, counts: Counts) -> Iterator[Writer]:
    """Yield what writes to each receiver of `remote_write`, from where it stood."""
    for given in config.remote_write:
        name = given.called
        queue = given.queue_config
        remote = Remote(
            name,
            config.global_.external_labels,
            tuple(one.built() for one in given.write_relabel_configs),
            queue.max_samples_per_send,
            queue.sample_age_limit,
            queue.min_backoff,
            queue.max_backoff,
            {header: secret.reveal() for header, secret in given.headers.items()},
        )
        address = Address(held(given.url, None), given.options(given.remote_timeout))

        def noted(position: Instant, name: str = name) -> None:
            positions.put(name, position)

        yield Writer(remote, _Kept(history), address.post, counts, noted, positions.get(name))
