"""What each fault looks like from outside, and that the server comes back from it."""

from dataclasses import astuple, replace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from monitor.model.instant import MINUTE, SECOND, Duration, Instant
from monitor.simulator.script import (
    Asleep,
    BadPage,
    Fault,
    Hang,
    Killed,
    Lengths,
    NoAdmission,
    Phase,
    RankGone,
    Rejecting,
    Restart,
    Server,
    Skewed,
    Slowdown,
    SlowPage,
    Unreachable,
    exactly,
)
from monitor.simulator.simulator import RefusedError, Simulator
from tests.simulator.reading import at, play, readings, value

BUSY = Phase(at=0, duration=10 * MINUTE, clients=10, prompt=Lengths(40, 120), output=Lengths(80, 200))


def timeline(simulator: Simulator, duration: Duration, step: Duration = 10 * SECOND) -> str:
    """Return a letter a step: `-` refused, `H` up but its health is 503, `.` up."""
    letters = ""
    for offset in range(step, duration + 1, step):
        simulator.advance(simulator.start + offset)
        try:
            letters += "." if simulator.health() == 200 else "H"
        except RefusedError:
            letters += "-"
    return letters


def started(simulator: Simulator) -> float:
    return value(simulator.page(), "process_start_time_seconds")


def test_a_hung_engine_stands_still_and_answers_200() -> None:
    simulator = play(BUSY, faults=(Hang(at=MINUTE, duration=6 * MINUTE),))
    before = at(simulator, 55 * SECOND)
    hung = at(simulator, 61 * SECOND)
    assert hung.generation_tokens > before.generation_tokens
    assert hung.running > 0
    for offset in range(2 * MINUTE, 7 * MINUTE, 10 * SECOND):
        assert at(simulator, offset) == hung
        assert simulator.health() == 200
    assert at(simulator, 8 * MINUTE).finished > hung.finished + 10


def test_after_a_hang_everybody_who_still_waits_is_answered() -> None:
    phase = replace(BUSY, duration=30 * SECOND, clients=24)
    end = at(play(phase, faults=(Hang(at=20 * SECOND, duration=MINUTE),)), 5 * MINUTE)
    assert (end.running, end.waiting) == (0, 0)
    assert end.finished == end.first_tokens


def test_in_a_hang_client_timeouts_look_like_success() -> None:
    phase = replace(BUSY, timeout=30 * SECOND)
    simulator = play(phase, faults=(Hang(at=MINUTE, duration=6 * MINUTE),))
    at(simulator, 70 * SECOND)
    before = value(simulator.page(), "http_requests_total", status="2xx")
    hung = at(simulator, 6 * MINUTE)
    assert value(simulator.page(), "http_requests_total", status="2xx") >= before + 10
    assert hung.running > 0
    assert at(simulator, 9 * MINUTE).finished > hung.finished


def test_clients_that_gave_up_in_one_hang_are_forgotten_before_the_next() -> None:
    hangs = (Hang(at=MINUTE, duration=MINUTE), Hang(at=3 * MINUTE, duration=MINUTE))
    simulator = play(replace(BUSY, duration=4 * MINUTE, timeout=20 * SECOND), faults=hangs)
    rows = [at(simulator, offset) for offset in (150 * SECOND, 170 * SECOND, 10 * MINUTE)]
    assert rows[1].finished > rows[0].finished
    assert (rows[2].running, rows[2].waiting, rows[2].kv) == (0, 0, 0)


def test_one_of_two_engines_hangs() -> None:
    simulator = play(
        BUSY, server=Server(data_parallel_size=2), faults=(Hang(at=MINUTE, duration=5 * MINUTE, engine=1),)
    )

    def tokens(engine: str) -> float:
        return value(simulator.page(), "vllm:generation_tokens_total", engine=engine)

    simulator.advance(simulator.start + 2 * MINUTE)
    then = tokens("0"), tokens("1")
    simulator.advance(simulator.start + 5 * MINUTE)
    assert tokens("0") > then[0]
    assert tokens("1") == then[1]
    assert value(simulator.page(), "vllm:num_requests_running", engine="1") > 0


def test_a_killed_engine_leaves_a_stale_page_then_silence_then_a_fresh_process() -> None:
    simulator = play(BUSY, faults=(Killed(at=MINUTE, duration=2 * MINUTE, stale=15 * SECOND),))
    before = at(simulator, 59 * SECOND)
    process = started(simulator)
    stale = at(simulator, 61 * SECOND)
    assert stale.running == before.running == 10
    assert at(simulator, 70 * SECOND) == stale
    assert simulator.health() == 503
    simulator.advance(simulator.start + 76 * SECOND)
    with pytest.raises(RefusedError):
        simulator.page()
    fresh = at(simulator, 3 * MINUTE + 5 * SECOND)
    assert 0 < fresh.generation_tokens < before.generation_tokens
    assert fresh.running >= 9
    assert started(simulator) > process + 60


def test_a_dead_v0_engine_leaves_health_at_200() -> None:
    server = Server(version="0.9.0.1", v1=False, multiprocess=True)
    assert timeline(play(BUSY, server=server, faults=(Killed(30 * SECOND, MINUTE, 15 * SECOND),)), 120_000) == (
        "...." + "-" * 4 + "...."
    )


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        pytest.param(Killed(at=25 * SECOND, duration=50 * SECOND, stale=8 * SECOND), "..H----...", id="killed"),
        pytest.param(Restart(at=25 * SECOND, duration=50 * SECOND), "..-----...", id="restart"),
        pytest.param(Restart(at=0, duration=65 * SECOND), "------....", id="slow start"),
        pytest.param(Unreachable(at=25 * SECOND, duration=10 * SECOND), "..-.......", id="unreachable"),
        pytest.param(Hang(at=25 * SECOND, duration=50 * SECOND), "..........", id="hang"),
    ],
)
def test_the_port_in_time(fault: Fault, seen: str) -> None:
    assert timeline(play(BUSY, faults=(fault,)), 100 * SECOND) == seen


def test_an_unreachable_server_goes_on_working() -> None:
    simulator = play(BUSY, faults=(Unreachable(at=MINUTE, duration=MINUTE),))
    before, process = at(simulator, 59 * SECOND), started(simulator)
    assert at(simulator, 121 * SECOND).generation_tokens > 1.5 * before.generation_tokens
    assert started(simulator) == process


def test_a_process_starts_after_the_end_of_the_one_before() -> None:
    later = replace(BUSY, at=100 * SECOND)
    simulator = play(later, faults=(Restart(at=MINUTE, duration=30 * SECOND),))
    simulator.advance(simulator.start + 2 * MINUTE)
    assert started(simulator) == simulator.start // SECOND + 60
    page = simulator.page()
    assert value(page, "vllm:generation_tokens_created") == simulator.start // SECOND + 90
    # What has labels is made when it is first needed.
    assert value(page, "http_requests_created") == pytest.approx(simulator.start / SECOND + 102, abs=2)


def test_a_restart_can_bring_another_version_and_other_flags() -> None:
    old = Server(version="0.9.0.1", v1=False, multiprocess=True)
    new = Server(version="0.32.0", max_model_len=1024, num_gpu_blocks=200)
    simulator = play(BUSY, server=old, faults=(Restart(at=MINUTE, duration=MINUTE, server=new),))
    simulator.advance(simulator.start + 50 * SECOND)
    assert "vllm:gpu_cache_usage_perc" in simulator.page()
    assert simulator.answer("/version").body == '{"version": "0.9.0.1"}'
    at(simulator, 130 * SECOND)
    assert "vllm:gpu_cache_usage_perc" not in simulator.page()
    assert simulator.answer("/version").body == '{"version": "0.32.0"}'
    assert '"max_model_len": 1024' in simulator.answer("/v1/models").body


def test_a_slowed_engine_makes_every_token_late() -> None:
    simulator = play(BUSY, faults=(Slowdown(at=MINUTE, duration=2 * MINUTE, factor=8),))
    rows = list(readings(simulator, 4 * MINUTE, step=MINUTE))
    first, slow, slower, after = (b.generation_tokens for b in rows)
    assert slow - first == pytest.approx(first / 8, rel=0.2)
    assert slower - slow == pytest.approx(first / 8, rel=0.2)
    assert after - slower == pytest.approx(first, rel=0.2)


def test_without_admission_what_runs_ends_and_what_waits_waits() -> None:
    simulator = play(BUSY, faults=(NoAdmission(at=MINUTE, duration=3 * MINUTE),))
    assert at(simulator, 59 * SECOND).waiting == 0
    stuck = at(simulator, 2 * MINUTE)
    assert (stuck.running, stuck.waiting, stuck.kv) == (0, 10, 0)
    assert at(simulator, 3 * MINUTE) == stuck
    assert at(simulator, 5 * MINUTE).running > 0


def test_without_admission_the_queue_shrinks_when_clients_give_up() -> None:
    phase = replace(BUSY, duration=90 * SECOND, timeout=20 * SECOND)
    simulator = play(phase, faults=(NoAdmission(at=MINUTE, duration=5 * MINUTE),))
    assert at(simulator, 90 * SECOND).waiting == 10
    assert at(simulator, 2 * MINUTE).waiting == 0


def test_a_sleeping_engine_says_so() -> None:
    simulator = play(BUSY, faults=(Asleep(at=MINUTE, duration=MINUTE, level=2), Asleep(at=3 * MINUTE, duration=MINUTE)))
    states = []
    for offset in (59 * SECOND, 90 * SECOND, 150 * SECOND, 210 * SECOND):
        simulator.advance(simulator.start + offset)
        page = simulator.page()
        states += [
            state
            for state in ("awake", "weights_offloaded", "discard_all")
            if value(page, "vllm:engine_sleep_state", sleep_state=state)
        ]
    assert states == ["awake", "discard_all", "awake", "weights_offloaded"]


def test_bad_pages_cannot_be_read_and_pass() -> None:
    faults = (
        BadPage(at=10 * SECOND, duration=10 * SECOND),
        BadPage(at=30 * SECOND, duration=10 * SECOND, body=None),
        BadPage(at=50 * SECOND, duration=10 * SECOND, status=500, body="Internal Server Error"),
    )
    simulator = play(BUSY, faults=faults)

    def readable(seconds: int) -> bool:
        simulator.advance(simulator.start + seconds * SECOND)
        answer = simulator.answer("/metrics")
        try:
            families = list(text_string_to_metric_families(answer.body))
        except ValueError:
            families = []
        return answer.status == 200 and bool(families)

    assert [readable(second) for second in (5, 15, 25, 35, 45, 55, 65)] == [True, False] * 3 + [True]
    assert simulator.health() == 200


def test_a_slow_page_says_how_slow() -> None:
    simulator = play(BUSY, faults=(SlowPage(at=10 * SECOND, duration=10 * SECOND, delay=500, drip=300),))
    answers = []
    for second in (5, 15, 25):
        simulator.advance(simulator.start + second * SECOND)
        answers.append(simulator.answer("/metrics"))
    assert [(answer.delay, answer.drip) for answer in answers] == [(0, 0), (500, 300), (0, 0)]
    assert simulator.answer("/health").delay == 0


def test_requests_too_long_for_the_context_are_seen_by_http_only() -> None:
    bad = Phase(at=0, duration=MINUTE, rate=2.0, prompt=exactly(600))
    good = Phase(at=0, duration=MINUTE, rate=3.0, output=exactly(20))
    simulator = play(good, bad)
    end = at(simulator, 2 * MINUTE)
    refused = value(simulator.page(), "http_requests_total", status="4xx")
    served = value(simulator.page(), "http_requests_total", status="2xx")
    assert refused / (refused + served) == pytest.approx(0.4, abs=0.1)
    assert end.first_tokens == served


def test_a_stream_ends_at_its_last_rate() -> None:
    simulator = play(Phase(at=0, duration=100 * SECOND, rate=0.0, rate_to=4.0, output=exactly(10)))
    rows = list(readings(simulator, 100 * SECOND, step=50 * SECOND))
    # A ramp has a quarter of its requests in its first half.
    assert rows[0].first_tokens / rows[1].first_tokens == pytest.approx(0.25, abs=0.1)
    assert rows[1].first_tokens == pytest.approx(200, rel=0.2)


def test_the_same_seed_gives_the_same_pages_and_another_seed_others() -> None:
    def pages(seed: int, starts: Instant) -> list[tuple[object, ...]]:
        simulator = play(BUSY, seed=seed)
        simulator.advance(simulator.start + starts)
        return [astuple(row) for row in readings(simulator, 30 * SECOND, 10 * SECOND)]

    assert pages(7, 0) == pages(7, 0)
    # However the time is cut up, what happens in it is the same.
    assert pages(7, 1)[-1] == pages(7, 10_000)[-1] == pages(7, 0)[-1]
    assert pages(7, 0) != pages(8, 0)


def test_time_does_not_run_backwards() -> None:
    simulator = play(BUSY)
    later = at(simulator, MINUTE)
    assert at(simulator, SECOND) == later
    assert simulator.now == simulator.start + MINUTE


def test_a_speculator_whose_tokens_are_refused_still_proposes() -> None:
    server = Server(num_speculative_tokens=3, acceptance=0.8)
    simulator = play(BUSY, server=server, faults=(Rejecting(at=MINUTE, duration=MINUTE, acceptance=0.1),))
    totals = []
    for offset in (MINUTE, 2 * MINUTE, 3 * MINUTE):
        at(simulator, offset)
        names = ("vllm:spec_decode_num_accepted_tokens_total", "vllm:spec_decode_num_draft_tokens_total")
        totals.append([value(simulator.page(), name) for name in names])
    shares = [(a1 - a0) / (d1 - d0) for (a0, d0), (a1, d1) in zip([[0.0, 0.0], *totals], totals, strict=False)]
    assert shares == pytest.approx([0.8, 0.1, 0.8], abs=0.01)


def test_a_skewed_balancer_keeps_one_rank_busy() -> None:
    simulator = play(BUSY, server=Server(data_parallel_size=2), faults=(Skewed(at=MINUTE, duration=2 * MINUTE),))
    at(simulator, 2 * MINUTE)
    assert [value(simulator.page(), "vllm:num_requests_running", engine=rank) for rank in "01"] == [10, 0]


def test_a_rank_that_is_gone_is_not_on_the_page_and_comes_back() -> None:
    simulator = play(BUSY, server=Server(data_parallel_size=2), faults=(RankGone(at=MINUTE, duration=MINUTE),))
    pages = []
    for offset in (55 * SECOND, 65 * SECOND, 3 * MINUTE):
        at(simulator, offset)
        pages.append('engine="1"' in simulator.page())
    assert pages == [True, False, True]


def test_one_that_counts_aborts_counts_each_once() -> None:
    phase = replace(BUSY, duration=MINUTE, clients=24, timeout=2 * SECOND)
    simulator = play(phase, server=Server(counts_aborts=True))
    at(simulator, 2 * MINUTE)
    page = simulator.page()
    aborted = value(page, "vllm:request_success_total", finished_reason="abort")
    assert 0 < aborted == value(page, "http_requests_total", status="2xx") - at(simulator, 2 * MINUTE).finished
