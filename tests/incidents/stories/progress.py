"""Nothing moves, or hardly anything: /health and /metrics answer 200 all the while."""

import re
from dataclasses import replace

from monitor.model.instant import MINUTE, SECOND, Duration
from monitor.simulator.script import Fault, Hang, Lengths, NoAdmission, Phase, Server, exactly
from tests.incidents.hosts import Edited, Recorded
from tests.incidents.stories.bar import JAM
from tests.incidents.stories.servers import LONG, OLDER, ROOMY, SMALL, V0, batch, people, simulated
from tests.incidents.story import Story, Tell, probed, soon

_RUNNING = re.compile(r"^(vllm:num_requests_running(?:\{.*\})?) \S+$", re.MULTILINE)
_BUSY = Phase(0, 10 * MINUTE, 6, prompt=Lengths(64, 200), output=Lengths(100, 300), timeout=2 * MINUTE)


def _hang(name: str, server: Server, summary: str, *more: Phase | Fault) -> Story:
    return Story(
        name,
        Tell.PAGE,
        (simulated(server, 12 * MINUTE, _BUSY, *more, Hang(4 * MINUTE, 6 * MINUTE)),),
        12 * MINUTE,
        cause=4 * MINUTE,
        over=10 * MINUTE,
        expects=(soon("VLLMEngineStuck"),),
        may=JAM | {"VLLMOverloaded"},
        summary=summary,
    )


def _frozen(at: Duration, page: str) -> str:
    """Return the page with three requests running for ever, as after aborts that the gauge never heard of."""
    return _RUNNING.sub(r"\g<1> 3.0", page) if at >= 5 * MINUTE else page


PROGRESS = (
    Story(
        "hung engine, recorded",
        Tell.PAGE,
        (Recorded("vllm-0.32.0-hang"),),
        655 * SECOND,
        cause=130 * SECOND,
        over=490 * SECOND,
        expects=(soon("VLLMEngineStuck"),),
        may=frozenset({"VLLMTTFTHigh", "VLLMTTFTCritical", "VLLMInterTokenLatencyHigh"}),
        summary="vLLM 0.32.0, its engine process stopped for six minutes",
    ),
    _hang("hung engine 0.11.2", OLDER, "the same on an older release"),
    _hang("hung engine V0", V0, "the old engine: no engine label, the KV gauge under its old name"),
    _hang("hung engine behind Ray", replace(SMALL, metric_prefix="ray_vllm_"), "every name begins with ray_vllm_"),
    _hang(
        "hung engine with a queue",
        SMALL,
        "more clients than places: it looks like overload, and is not",
        batch(3 * MINUTE, 7 * MINUTE, 30),
    ),
    Story(
        "hung while idle",
        Tell.PAGE,
        (
            simulated(
                ROOMY,
                15 * MINUTE,
                people(0, 2 * MINUTE, 3),
                Phase(5 * MINUTE, 8 * MINUTE, 5, prompt=exactly(64), output=exactly(60)),
                Hang(4 * MINUTE, 9 * MINUTE),
            ),
        ),
        15 * MINUTE,
        cause=5 * MINUTE,
        over=13 * MINUTE,
        expects=(probed("VLLMNotReady", within=5 * MINUTE),),
        may=JAM,
        summary="five in flight, running 0, waiting 0, /health 200: only /load shows them",
    ),
    Story(
        "admission deadlock",
        Tell.PAGE,
        (simulated(ROOMY, 15 * MINUTE, people(0, 13 * MINUTE, 5), NoAdmission(4 * MINUTE, 8 * MINUTE)),),
        15 * MINUTE,
        cause=4 * MINUTE + 15 * SECOND,
        over=12 * MINUTE,
        expects=(soon("VLLMAdmissionStalled"),),
        may=JAM,
        summary="running 0, a handful waiting, KV 0 %, for eight minutes",
    ),
    Story(
        "request larger than the pool",
        Tell.PAGE,
        (
            simulated(
                replace(SMALL, max_model_len=8192, max_num_batched_tokens=8192),
                15 * MINUTE,
                people(0, 13 * MINUTE, 5),
                Phase(4 * MINUTE, SECOND, 1, prompt=exactly(4000), output=exactly(60), timeout=8 * MINUTE),
            ),
        ),
        15 * MINUTE,
        cause=4 * MINUTE + 15 * SECOND,
        over=12 * MINUTE,
        expects=(soon("VLLMAdmissionStalled"),),
        may=JAM | {"VLLMMaxConcurrencyBelowFloor"},
        summary="one prompt that never fits blocks the queue until its client gives up",
    ),
    Story(
        "partial stall",
        Tell.PAGE,
        (
            simulated(
                replace(LONG, cost=SMALL.cost),
                25 * MINUTE,
                Phase(0, MINUTE, 1, prompt=exactly(64), output=exactly(90_000)),
                people(0, 20 * MINUTE, 6),
                NoAdmission(4 * MINUTE, 16 * MINUTE),
            ),
        ),
        25 * MINUTE,
        cause=4 * MINUTE + 15 * SECOND,
        over=20 * MINUTE,
        expects=(soon("VLLMPartialStall", within=12 * MINUTE),),
        may=JAM,
        summary="one request runs and brings tokens, six wait for ever at a KV cache that is nearly empty",
    ),
    Story(
        "gauge frozen after aborts",
        Tell.NOTE,
        (Edited(simulated(ROOMY, 40 * MINUTE, people(0, 4 * MINUTE, 4)), _frozen),),
        40 * MINUTE,
        cause=5 * MINUTE,
        expects=(soon("VLLMGaugesFrozen", within=20 * MINUTE),),
        # Nothing on the page tells it from a hang whose clients are patient.
        may=frozenset({"VLLMEngineStuck"}),
        summary="running 3 for ever, no traffic: the gauge is wrong, not the engine",
    ),
)
