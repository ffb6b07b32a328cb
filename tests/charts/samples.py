"""Charts for tests."""

from monitor.charts.chart import Chart, Line
from monitor.model.instant import HOUR, SECOND
from tests.notify.samples import NOW

TIMES = tuple(range(NOW - HOUR, NOW + 1, 30 * SECOND))


def chart(title: str = "CRITICAL: vLLM's queue is long", *names: str) -> Chart:
    """Return a chart of an hour, with a gap in its lines."""
    values = tuple(None if 30 < index < 40 else 5.0 + index / 4 for index in range(len(TIMES)))
    lines = tuple(Line(name, TIMES, values) for name in names or ("llama-3-8b @ 10.0.0.1:8000",))
    return Chart(title, "vllm_engine:requests_waiting:p50_1m", lines, 10.0, TIMES[0], TIMES[-1])
