"""More comes than the server can serve, or soon will."""

import re
from dataclasses import replace

from monitor.model.instant import MINUTE, SECOND, Duration
from monitor.simulator.script import Cost, Lengths, Phase, exactly
from tests.incidents.hosts import Edited, Recorded
from tests.incidents.stories.bar import JAM
from tests.incidents.stories.servers import ROOMY, SLOW, SMALL, V0, batch, people, simulated
from tests.incidents.story import Story, Tell, soon

_DEFERRED = re.compile(r'^(vllm:num_requests_waiting_by_reason\{.*reason="deferred".*\}) \S+$', re.MULTILINE)
_WAITING = re.compile(r"^(vllm:num_requests_waiting(?:\{.*\})?) \S+$", re.MULTILINE)
_CALM = frozenset(
    {"VLLMRequestsWaiting", "VLLMQueueGrowing", "VLLMTimeInQueueHigh", "VLLMTTFTHigh", "VLLMTTFTBudgetBurn"}
)


def _deferred(at: Duration, page: str) -> str:
    """Return the page with four requests that wait for something else than room, from the fifth minute on."""
    if at < 5 * MINUTE:
        return page
    return _DEFERRED.sub(r"\g<1> 4.0", _WAITING.sub(r"\g<1> 4.0", page))


SATURATION = (
    Story(
        "overload, recorded",
        Tell.TICKET,
        (Recorded("vllm-0.32.0-overload-1s"),),
        320 * SECOND,
        cause=110 * SECOND,
        over=216 * SECOND,
        expects=(soon("VLLMKVCacheFull", within=120 * SECOND),),
        may=JAM | {"VLLMOverloaded"},
        summary="vLLM 0.32.0: 100 s of 50 clients on a pool for seven",
    ),
    Story(
        "overload V0",
        Tell.PAGE,
        (simulated(V0, 13 * MINUTE, people(0, 13 * MINUTE, 2), batch(2 * MINUTE, 9 * MINUTE, 50)),),
        13 * MINUTE,
        cause=2 * MINUTE,
        over=11 * MINUTE,
        expects=(soon("VLLMOverloaded"),),
        may=JAM,
        summary="the old engine: recomputed prompts count again",
    ),
    Story(
        "overload behind KServe",
        Tell.PAGE,
        (
            simulated(
                replace(SMALL, metric_prefix="kserve_vllm:"),
                13 * MINUTE,
                people(0, 13 * MINUTE, 2),
                batch(2 * MINUTE, 9 * MINUTE, 50),
            ),
        ),
        13 * MINUTE,
        cause=2 * MINUTE,
        over=11 * MINUTE,
        expects=(soon("VLLMOverloaded"),),
        may=JAM,
        summary="every name begins with kserve_vllm:",
    ),
    Story(
        "rejected requests",
        Tell.TICKET,
        (
            simulated(
                replace(SMALL, max_num_queued_reqs=15),
                20 * MINUTE,
                people(0, 20 * MINUTE, 2),
                batch(3 * MINUTE, 14 * MINUTE, 40),
            ),
        ),
        20 * MINUTE,
        cause=3 * MINUTE,
        over=17 * MINUTE,
        expects=(soon("VLLMRequestsRejected", within=11 * MINUTE),),
        may=JAM | {"VLLMErrorRateHigh", "VLLMErrorRateCritical", "VLLMAvailabilityBudgetBurn"},
        summary="--max-num-queued-reqs 15 keeps waiting low; two in three clients get a 503",
    ),
    Story(
        "preemption storm with a queue",
        Tell.PAGE,
        (
            simulated(
                replace(SMALL, max_num_seqs=24),
                20 * MINUTE,
                people(0, 20 * MINUTE, 1),
                batch(3 * MINUTE, 14 * MINUTE, 30),
            ),
        ),
        20 * MINUTE,
        cause=3 * MINUTE,
        over=17 * MINUTE,
        expects=(soon("VLLMPreemptionStorm", "VLLMOverloaded", within=12 * MINUTE),),
        may=JAM | {"VLLMOverloaded"},
        summary="requests are computed again and again, and twenty wait",
    ),
    Story(
        "KV full with a queue",
        Tell.TICKET,
        (
            simulated(
                replace(SMALL, max_model_len=1536, num_gpu_blocks=157, max_num_seqs=4, cost=SLOW.cost),
                20 * MINUTE,
                *(Phase(at * SECOND, 15 * MINUTE, 1, prompt=exactly(1200), output=exactly(48)) for at in range(60, 69)),
            ),
        ),
        20 * MINUTE,
        cause=MINUTE,
        over=16 * MINUTE,
        expects=(soon("VLLMKVCacheFull", within=12 * MINUTE),),
        may=JAM,
        summary="four requests fill the pool to the last block, five wait for it",
    ),
    Story(
        "long queue, larger batch",
        Tell.TICKET,
        (simulated(replace(ROOMY, max_num_seqs=32), 20 * MINUTE, batch(2 * MINUTE, 15 * MINUTE, 50)),),
        20 * MINUTE,
        cause=2 * MINUTE,
        over=17 * MINUTE,
        expects=(soon("VLLMRequestsWaiting", within=7 * MINUTE),),
        may=_CALM | {"VLLMTTFTCritical", "VLLMTimeInQueueHigh"},
        summary="18 wait behind 32 that run, for a quarter of an hour: slow, but it is served",
    ),
    Story(
        "queue growing",
        Tell.TICKET,
        (
            simulated(
                replace(ROOMY, max_num_seqs=48),
                40 * MINUTE,
                Phase(0, 5 * MINUTE, rate=3.0, prompt=exactly(64), output=exactly(200)),
                Phase(5 * MINUTE, 30 * MINUTE, rate=4.25, prompt=exactly(64), output=exactly(200)),
            ),
        ),
        40 * MINUTE,
        cause=5 * MINUTE,
        over=35 * MINUTE,
        expects=(soon("VLLMQueueGrowing", within=25 * MINUTE),),
        switched_on=("VLLMQueueGrowing",),
        may=JAM | {"VLLMOverloaded"},
        summary="a little more arrives than is finished, for half an hour",
    ),
    Story(
        "time in queue",
        Tell.TICKET,
        (
            simulated(
                replace(ROOMY, max_num_seqs=8),
                30 * MINUTE,
                Phase(2 * MINUTE, 25 * MINUTE, 16, prompt=exactly(64), output=exactly(400)),
            ),
        ),
        30 * MINUTE,
        cause=2 * MINUTE,
        over=27 * MINUTE,
        expects=(soon("VLLMTimeInQueueHigh", within=17 * MINUTE),),
        may=_CALM | {"VLLMTTFTCritical"},
        summary="eight wait behind eight, ten seconds each: the queue is short and slow",
    ),
    Story(
        "half a minute in the queue",
        Tell.PAGE,
        (
            simulated(
                replace(ROOMY, max_num_seqs=8),
                30 * MINUTE,
                Phase(2 * MINUTE, 25 * MINUTE, 60, prompt=exactly(64), output=exactly(400)),
            ),
        ),
        30 * MINUTE,
        cause=2 * MINUTE,
        over=27 * MINUTE,
        expects=(soon("VLLMTimeInQueueCritical", within=17 * MINUTE),),
        may=JAM | {"VLLMOverloaded"},
        summary="fifty wait behind eight, for longer than anybody reads",
    ),
    Story(
        "KV cache filling up",
        Tell.NOTE,
        (
            simulated(
                replace(ROOMY, max_model_len=24_000, num_gpu_blocks=4001, cost=Cost(base=150.0, per_sequence=0.1)),
                65 * MINUTE,
                # Long conversations that come and stay: 400 tokens a minute each.
                *(
                    Phase(at * MINUTE, SECOND, 1, prompt=Lengths(1000, 1400), output=exactly(22_000))
                    for at in range(1, 7)
                ),
            ),
        ),
        65 * MINUTE,
        cause=7 * MINUTE,
        interval=15 * SECOND,
        expects=(soon("VLLMKVCacheFillingUp", within=45 * MINUTE),),
        switched_on=("VLLMKVCacheFillingUp",),
        may=JAM,
        summary="the pool fills slowly and surely: somebody can act before it is full",
    ),
    Story(
        "waiting for something else",
        Tell.NOTE,
        (Edited(simulated(ROOMY, 25 * MINUTE, people(0, 25 * MINUTE, 8)), _deferred),),
        25 * MINUTE,
        cause=5 * MINUTE,
        expects=(soon("VLLMWaitingDeferred", within=13 * MINUTE),),
        summary="four deferred (a LoRA slot, a KV transfer): more replicas would not help",
    ),
    Story(
        "three adapters for two slots",
        Tell.NOTE,
        (
            simulated(
                replace(ROOMY, max_loras=2, max_num_seqs=4),
                25 * MINUTE,
                *(replace(batch(0, 25 * MINUTE, 3), output=exactly(60), lora=name) for name in ("sql", "law")),
                replace(batch(5 * MINUTE, 20 * MINUTE, 3), output=exactly(60), lora="chat"),
            ),
        ),
        25 * MINUTE,
        cause=5 * MINUTE,
        expects=(soon("VLLMLoRASlotsExhausted", within=13 * MINUTE),),
        summary="two adapters are served side by side, then a third is asked for as well",
    ),
)
