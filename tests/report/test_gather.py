"""What a server may answer that no report can be made of."""

from collections.abc import Sequence
from datetime import UTC

import pytest

from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import Labels
from monitor.report.figures import report_of
from monitor.report.gather import Points, gather
from monitor.report.period import whole_minutes
from monitor.report.texts import rows

START: Instant = 1_793_577_600_000
PERIOD = whole_minutes(START, START + 30 * MINUTE)


@pytest.mark.parametrize("value", [1e308, -1e308, float("inf"), float("nan")])
def test_a_value_that_nothing_ever_had_is_left_out_and_the_others_are_told(value: float) -> None:
    def ask(_expr: str, start: Instant, end: Instant, step: Duration, /) -> Sequence[Points]:
        times = range(start, end + 1, step)
        of_one = Labels.of(job="vllm", model_name="llama", le="10")
        return [Points(of_one, times, [value if place == 3 else 0.5 for place in range(len(times))])]

    (one,) = report_of(gather(ask, PERIOD)).models
    assert one.minutes_seen == 29
    assert ("KV cache", "peak 50% (Mon 02 Nov 00:00)") in list(rows(one, UTC))


@pytest.mark.parametrize("edge", ["", "ten", "1_0x"])
def test_a_bucket_whose_edge_is_no_number_is_left_out(edge: str) -> None:
    def ask(_expr: str, start: Instant, end: Instant, step: Duration, /) -> Sequence[Points]:
        times = range(start, end + 1, step)
        return [Points(Labels.of(job="vllm", model_name="llama", le=edge), times, [1.0] * len(times))]

    found = gather(ask, PERIOD)
    assert all(counts == {} for of in found.distributions.values() for counts in of.values())
    assert report_of(found).models
