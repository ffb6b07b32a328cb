"""
The bar: fourteen short stories in the shape of recordings of real servers, seven of which are pages.

source: 4 to 20 minutes each, a scrape every 5 s, of vLLM 0.32.0, 0.11.2 and 0.9.0.1; what they showed is told by each.
"""

import re
from dataclasses import replace

from monitor.model.instant import MINUTE, SECOND, Duration
from monitor.simulator.script import Hang, Killed, Lengths, Phase, Restart, Server, exactly
from tests.incidents.hosts import Edited, Recorded
from tests.incidents.stories.servers import LONG, OLDER, ROOMY, SLOW, SMALL, batch, people, simulated
from tests.incidents.story import Story, Tell, probed, soon

# What is true as well while more arrives than the server can finish.
JAM = frozenset(
    {
        "VLLMRequestsWaiting",
        "VLLMQueueGrowing",
        "VLLMTimeInQueueHigh",
        "VLLMTimeInQueueCritical",
        "VLLMKVCacheFull",
        "VLLMKVCacheFillingUp",
        "VLLMPreemptionsHigh",
        "VLLMPreemptionStorm",
        "VLLMTTFTHigh",
        "VLLMTTFTCritical",
        "VLLMInterTokenLatencyHigh",
        "VLLMTTFTBudgetBurn",
        "VLLMInterTokenBudgetBurn",
        "VLLMKVPoolBelowOneRequest",
    }
)

DEAD = Story(
    "dead engine",
    Tell.PAGE,
    (
        simulated(
            SMALL, 8 * MINUTE, people(0, 8 * MINUTE, 6), Killed(at=3 * MINUTE, duration=30 * MINUTE, stale=2 * SECOND)
        ),
    ),
    8 * MINUTE,
    cause=3 * MINUTE,
    expects=(soon("VLLMTargetDown", "VLLMEngineDead", within=120 * SECOND),),
    may=frozenset({"VLLMTargetDown", "VLLMEngineDead", "VLLMSeriesVanished"}),
    summary="killed with requests in flight: one page more with old gauges (/health 503), then refused",
    bar=True,
)


_JAMMED = 13 * MINUTE
_WAITING = re.compile(r"^(vllm:num_requests_waiting(?:\{.*\})?) \S+$", re.MULTILINE)


def _dip(at: Duration, page: str) -> str:
    """Return the page with a queue of 9 or 0 in one scrape of eleven, as recorded: preemption and admission at once."""
    number, rest = divmod(at // (5 * SECOND), 11)
    if rest != 7:
        return page
    return _WAITING.sub(rf"\g<1> {9.0 if number % 2 else 0.0}", page)


def _overload(name: str, server: Server, summary: str) -> Story:
    traffic = (
        people(0, _JAMMED, 2),
        # From here on more ask than fit: 50 requests of 444 tokens each, into a pool of 3,168, for nine minutes.
        batch(2 * MINUTE, 9 * MINUTE, 50),
    )
    return Story(
        name,
        Tell.PAGE,
        (Edited(simulated(server, _JAMMED, *traffic), _dip),),
        _JAMMED,
        cause=2 * MINUTE,
        over=11 * MINUTE,
        expects=(soon("VLLMOverloaded"),),
        may=JAM,
        summary=summary,
        bar=True,
    )


OVERLOADS = (
    _overload(
        "overload 0.32", SMALL, "50 clients on a pool for seven; KV swings, and the queue dips for single scrapes"
    ),
    _overload("overload 0.11.2", OLDER, "the same of an older release"),
)

HUNG = Story(
    "hung engine",
    Tell.PAGE,
    (
        simulated(
            replace(SMALL, num_gpu_blocks=201),
            11 * MINUTE,
            Phase(0, 590 * SECOND, 5, prompt=Lengths(64, 200), output=Lengths(100, 300), timeout=2 * MINUTE),
            Phase(0, 590 * SECOND, 5, prompt=Lengths(64, 200), output=Lengths(100, 300)),
            Hang(at=130 * SECOND, duration=6 * MINUTE),
        ),
    ),
    11 * MINUTE,
    cause=130 * SECOND,
    over=490 * SECOND,
    expects=(soon("VLLMEngineStuck"),),
    may=frozenset({"VLLMTTFTHigh", "VLLMTTFTCritical", "VLLMInterTokenLatencyHigh", "VLLMTTFTBudgetBurn"}),
    summary="gauges frozen, waiting 0, /health 200, 2xx still rise as clients give up",
    bar=True,
)

HUNG_RANK = Story(
    "hung rank",
    Tell.PAGE,
    (
        simulated(
            replace(SMALL, data_parallel_size=2, multiprocess=True, num_gpu_blocks=201),
            10 * MINUTE,
            Phase(0, 9 * MINUTE, 10, prompt=Lengths(64, 200), output=Lengths(100, 300), timeout=MINUTE),
            Hang(at=3 * MINUTE, duration=5 * MINUTE, engine=1),
        ),
    ),
    10 * MINUTE,
    cause=3 * MINUTE,
    over=8 * MINUTE,
    expects=(soon("VLLMEngineStuck"),),
    may=frozenset({"VLLMEngineRankSkewed", "VLLMTTFTHigh", "VLLMTTFTCritical", "VLLMTTFTBudgetBurn"}),
    summary="one of two data-parallel ranks stands still, its clients gone; the totals look normal",
    bar=True,
)

SLOW_RESTART = Story(
    "slow restart",
    Tell.PAGE,
    (simulated(SMALL, 22 * MINUTE, people(0, 22 * MINUTE, 4), Restart(at=2 * MINUTE, duration=17 * MINUTE)),),
    22 * MINUTE,
    cause=2 * MINUTE,
    over=19 * MINUTE,
    expects=(soon("VLLMTargetDown", within=6 * MINUTE),),
    may=frozenset({"VLLMSeriesVanished"}),
    summary="a rollout whose new process needs 17 minutes: beyond what any start may take",
    bar=True,
)

STORM = Story(
    "preemption storm",
    Tell.TICKET,
    (
        simulated(
            replace(SMALL, max_num_seqs=24),
            20 * MINUTE,
            people(0, 20 * MINUTE, 1),
            batch(3 * MINUTE, 14 * MINUTE, 15),
        ),
    ),
    20 * MINUTE,
    cause=3 * MINUTE,
    over=17 * MINUTE,
    expects=(soon("VLLMPreemptionStorm", "VLLMPreemptionsHigh", within=10 * MINUTE),),
    may=JAM - {"VLLMPreemptionStorm", "VLLMPreemptionsHigh", "VLLMTTFTCritical", "VLLMTimeInQueueCritical"},
    summary="more in the batch than the pool holds, hardly a queue: tokens are paid twice, users notice little",
    bar=True,
)

FULL = Story(
    "full KV, no queue",
    Tell.NOTHING,
    (
        simulated(
            replace(SMALL, max_model_len=6144, num_gpu_blocks=658, cost=SLOW.cost),
            15 * MINUTE,
            # Four requests that end just where the pool does.
            *(Phase(at * SECOND, 10 * MINUTE, 1, prompt=exactly(5000), output=exactly(240)) for at in (30, 32, 34, 36)),
        ),
    ),
    15 * MINUTE,
    summary="a few long requests fill the pool to the last block and are served well",
    bar=True,
)

PREFILLS = Story(
    "long prefills",
    Tell.NOTHING,
    (
        simulated(
            LONG,
            20 * MINUTE,
            Phase(MINUTE, 4 * MINUTE, 1, prompt=exactly(33_000), output=exactly(64), think=exactly(40_000)),
            Phase(7 * MINUTE, 9 * MINUTE, 1, prompt=exactly(84_000), output=exactly(64), think=exactly(60_000)),
        ),
    ),
    20 * MINUTE,
    summary="a lone prompt of 33k to 84k tokens: no counter moves for minutes, the KV gauge does",
    bar=True,
)

BAD_INPUT = Story(
    "bad input",
    Tell.TICKET,
    (
        simulated(
            ROOMY,
            20 * MINUTE,
            people(0, 20 * MINUTE, 6),
            Phase(2 * MINUTE, 16 * MINUTE, rate=0.8, prompt=exactly(600), output=exactly(10)),
        ),
    ),
    20 * MINUTE,
    cause=2 * MINUTE,
    over=18 * MINUTE,
    expects=(soon("VLLMClientErrorsHigh", within=15 * MINUTE),),
    summary="four in ten prompts are too long: 4xx, and no vllm: series shows it",
    bar=True,
)

HIDDEN = Story(
    "hidden stats",
    Tell.TICKET,
    (simulated(replace(ROOMY, disable_log_stats=True), 15 * MINUTE, people(0, 15 * MINUTE, 6)),),
    15 * MINUTE,
    expects=(soon("VLLMStatsHidden", within=11 * MINUTE),),
    summary="--disable-log-stats: no vllm: line at all, everything else normal",
    bar=True,
)

COLD = Story(
    "cold first request",
    Tell.PAGE,
    (
        simulated(
            replace(ROOMY, version="0.11.2"),
            12 * MINUTE,
            Phase(MINUTE, 8 * MINUTE, rate=0.2, prompt=exactly(64), output=exactly(100)),
            Hang(at=50 * SECOND, duration=7 * MINUTE),
        ),
    ),
    12 * MINUTE,
    cause=MINUTE,
    over=8 * MINUTE,
    expects=(probed("VLLMNotReady", within=5 * MINUTE),),
    may=JAM,
    summary="the first request compiles for seven minutes: many in flight, running 0, waiting 0; only /load shows it",
    bar=True,
)

ROLLOUT = Story(
    "quick restart",
    Tell.NOTHING,
    (simulated(SMALL, 12 * MINUTE, people(0, 12 * MINUTE, 4), Restart(at=4 * MINUTE, duration=70 * SECOND)),),
    12 * MINUTE,
    summary="a rollout: the port is refused for 70 s",
    bar=True,
)

BURSTS = Story(
    "bursts",
    Tell.NOTHING,
    (Recorded("vllm-0.32.0-healthy-bursty"),),
    1075 * SECOND,
    summary="recorded: ordinary traffic, bursts with more than 10 waiting for less than a minute, idle gaps",
    bar=True,
)

BAR = (
    DEAD,
    *OVERLOADS,
    HUNG,
    HUNG_RANK,
    SLOW_RESTART,
    STORM,
    BAD_INPUT,
    HIDDEN,
    COLD,
    FULL,
    PREFILLS,
    ROLLOUT,
    BURSTS,
)
