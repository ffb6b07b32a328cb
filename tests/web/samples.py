"""The same few series for our window and for a Prometheus."""

from collections.abc import Sequence

from monitor.model.labels import Labels
from monitor.model.sample import STALE
from monitor.storage.window import Window

START = 1_700_000_000_000
_STEP = 15_000
_ROWS = 41
Series = list[tuple[Labels, Sequence[tuple[int, float]]]]
_HOSTILE = 'm"\\\n<é>&\u2028'


def series() -> Series:
    """Return ten minutes of series, one of which ends in the middle."""
    found: Series = []
    for number in range(3):
        own = {"job": "vllm", "instance": f"i{number}", "model_name": _HOSTILE}
        found.append((Labels.of(own, __name__="up"), _samples(1.0, 0.0)))
        found.append((Labels.of(own, __name__="vllm:num_requests_running"), _samples(number, 0.1)))
        found.append((Labels.of(own, __name__="requests_total"), _samples(number, 3e5)))
    for bound, slope in (("0.5", 1.0), ("1.0", 2.0), ("+Inf", 3.0)):
        found.append((Labels.of(__name__="latency_seconds_bucket", le=bound), _samples(0.0, slope)))
    found.append((Labels.of({"__name__": "utf8.name", "my.label": "x", "job": "other"}), _samples(1e22, 1e21)))
    found.append((Labels.of(__name__="tiny"), _samples(5e-7, 0.0)))
    ended = _samples(1.0, 1.0)[:10]
    found.append((Labels.of(__name__="ended"), [*ended, (ended[-1][0] + _STEP, STALE)]))
    return found


def fill(window: Window, samples: Series) -> None:
    """Write each series as a writer of its own."""
    for labels, points in samples:
        block = window.block(labels)
        column = (block.column(labels),)
        for at, value in points:
            if value != value:  # noqa: PLR0124 - the only NaN among them is the stale marker
                block.append(at, (), ())
            else:
                block.append(at, column, (value,))


def _samples(first: float, slope: float) -> list[tuple[int, float]]:
    return [(START + row * _STEP, first + row * slope) for row in range(_ROWS)]
