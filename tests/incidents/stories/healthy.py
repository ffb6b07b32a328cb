"""Healthy days: hours of ordinary life in which nothing above info may be said. Sampled every 15 seconds."""

from collections.abc import Iterator
from dataclasses import replace

from monitor.model.instant import HOUR, MINUTE, SECOND, Duration
from monitor.simulator.script import Asleep, Fault, Hang, Lengths, Phase, Restart, Unreachable, exactly
from tests.incidents.hosts import Simulated
from tests.incidents.stories.servers import LONG, SLOW, SMALL, V0, simulated
from tests.incidents.story import Story, Tell

# A day at the office, seen through a few of its hours.
_SLOW_SMALL = replace(SMALL, cost=SLOW.cost, num_gpu_blocks=201)


def _people(at: Duration, duration: Duration, clients: int) -> Phase:
    return Phase(
        at,
        duration,
        clients,
        prompt=Lengths(32, 160),
        output=Lengths(20, 100),
        think=Lengths(5000, 15_000),
        stops=0.6,
        timeout=2 * MINUTE,
    )


def _day(name: str, duration: Duration, summary: str, *hosts: Simulated) -> Story:
    return Story(name, Tell.NOTHING, hosts, duration, interval=15 * SECOND, summary=summary)


def _every(period: Duration, until: Duration, first: Duration = 0) -> Iterator[Duration]:
    yield from range(first or period, until, period)


def _missed(until: Duration) -> Iterator[Fault]:
    """Yield a port that cannot be reached for one scrape, every eleven minutes."""
    for at in _every(11 * MINUTE, until):
        yield Unreachable(at - SECOND, 2 * SECOND)


HEALTHY = (
    _day(
        "bursts all day",
        3 * HOUR,
        "forty clients at once for twenty seconds, every ten minutes",
        simulated(
            SMALL,
            3 * HOUR,
            _people(0, 3 * HOUR, 3),
            *(
                Phase(at, 20 * SECOND, 40, prompt=Lengths(32, 128), output=Lengths(60, 120))
                for at in _every(10 * MINUTE, 3 * HOUR)
            ),
        ),
    ),
    _day(
        "prefills of ten minutes",
        3 * HOUR,
        "prompts of 300,000 tokens, each ten minutes long: only the KV gauge moves",
        simulated(
            LONG,
            3 * HOUR,
            *(
                Phase(at, SECOND, 1, prompt=Lengths(280_000, 320_000), output=exactly(200))
                for at in _every(25 * MINUTE, 3 * HOUR)
            ),
        ),
    ),
    _day(
        "rollouts",
        4 * HOUR,
        "three restarts an hour apart, the port refused for 70 s",
        simulated(
            SLOW,
            4 * HOUR,
            _people(0, 4 * HOUR, 4),
            *(Restart(at, 70 * SECOND) for at in (40 * MINUTE, 105 * MINUTE, 170 * MINUTE)),
        ),
    ),
    _day(
        "three servers in turn",
        2 * HOUR,
        "a rolling update of three servers of one model",
        *(
            simulated(
                SLOW,
                2 * HOUR,
                _people(0, 2 * HOUR, 3),
                Restart(HOUR + number * 3 * MINUTE, 70 * SECOND),
                name=f"vllm-{number}:8000",
                seed=number + 1,
            )
            for number in range(3)
        ),
    ),
    _day(
        "asleep at noon",
        4 * HOUR,
        "the engine sleeps for an hour, twice, as it is told to",
        simulated(
            SLOW,
            4 * HOUR,
            _people(0, 50 * MINUTE, 3),
            Asleep(HOUR, HOUR),
            _people(2 * HOUR, 20 * MINUTE, 3),
            Asleep(150 * MINUTE, HOUR, level=2),
            _people(215 * MINUTE, 20 * MINUTE, 3),
        ),
    ),
    _day(
        "idle night",
        6 * HOUR,
        "traffic till late, hours of nothing, then a morning",
        simulated(SLOW, 6 * HOUR, _people(0, HOUR, 3), _people(5 * HOUR, HOUR, 3)),
    ),
    _day(
        "KV full without a queue",
        2 * HOUR,
        "four long requests hold the pool above 95 % for an hour",
        simulated(
            replace(SMALL, max_model_len=6144, num_gpu_blocks=658, cost=SLOW.cost),
            2 * HOUR,
            *(
                Phase(20 * MINUTE + at * SECOND, HOUR, 1, prompt=exactly(5000), output=exactly(240))
                for at in (0, 2, 4, 6)
            ),
        ),
    ),
    _day(
        "a scrape missed now and then",
        3 * HOUR,
        "the port cannot be reached for one scrape, every eleven minutes",
        simulated(SLOW, 3 * HOUR, _people(0, 3 * HOUR, 4), *_missed(3 * HOUR)),
    ),
    _day(
        "first request after idle",
        4 * HOUR,
        "after an idle hour the first request takes twenty seconds",
        simulated(
            SLOW,
            4 * HOUR,
            *(_people(at, 10 * MINUTE, 2) for at in _every(HOUR, 4 * HOUR)),
            *(Hang(at - SECOND, 20 * SECOND) for at in _every(HOUR, 4 * HOUR)),
        ),
    ),
    _day(
        "batch job at night",
        4 * HOUR,
        "every place in the batch taken for three hours, and a few who wait",
        simulated(_SLOW_SMALL, 4 * HOUR, Phase(30 * MINUTE, 3 * HOUR, 12, prompt=exactly(64), output=exactly(300))),
    ),
    _day(
        "LoRA adapters come and go",
        3 * HOUR,
        "five adapters, of which four fit: label sets that were never seen before",
        simulated(
            replace(SLOW, max_loras=4),
            3 * HOUR,
            *(
                replace(_people(at, 25 * MINUTE, 1), lora=f"tenant-{number % 5}")
                for number, at in enumerate(_every(20 * MINUTE, 3 * HOUR))
            ),
        ),
    ),
    _day(
        "two API servers before a request",
        3 * HOUR,
        "no gauge has a sample for an hour; then there is traffic",
        simulated(replace(SLOW, multiprocess=True), 3 * HOUR, _people(HOUR, 2 * HOUR, 3)),
    ),
    _day(
        "impatient clients",
        3 * HOUR,
        "one in twenty hangs up; no server of today counts it",
        simulated(
            SLOW,
            3 * HOUR,
            _people(0, 3 * HOUR, 6),
            Phase(0, 3 * HOUR, rate=0.02, prompt=exactly(64), output=exactly(300), timeout=3 * SECOND),
        ),
    ),
    _day(
        "a few bad requests",
        3 * HOUR,
        "three in a hundred prompts are too long",
        simulated(
            SLOW,
            3 * HOUR,
            _people(0, 3 * HOUR, 6),
            Phase(0, 3 * HOUR, rate=0.012, prompt=exactly(600), output=exactly(10)),
        ),
    ),
    _day(
        "two ranks, uneven",
        3 * HOUR,
        "two data-parallel ranks with one, two or no request each",
        simulated(replace(SLOW, data_parallel_size=2, multiprocess=True), 3 * HOUR, _people(0, 3 * HOUR, 5)),
    ),
    _day(
        "the old engine",
        3 * HOUR,
        "0.9.0.1 with V0: no engine label, families that appear with the first request",
        simulated(replace(V0, num_gpu_blocks=801, cost=SLOW.cost), 3 * HOUR, _people(20 * MINUTE, 2 * HOUR, 4)),
    ),
    _day(
        "speculation that pays",
        3 * HOUR,
        "seven in ten proposed tokens are taken",
        simulated(replace(SLOW, num_speculative_tokens=3), 3 * HOUR, _people(0, 3 * HOUR, 4)),
    ),
    _day(
        "a day of ups and downs",
        6 * HOUR,
        "from nobody to a busy noon and back, twice",
        simulated(
            SLOW,
            6 * HOUR,
            *(
                replace(_people(0, 0, 0), at=at, duration=HOUR, rate=low, rate_to=high)
                for at, low, high in (
                    (HOUR // 2, 0.01, 0.6),
                    (3 * HOUR // 2, 0.6, 0.02),
                    (3 * HOUR, 0.02, 0.9),
                    (4 * HOUR, 0.9, 0.01),
                )
            ),
        ),
    ),
)
