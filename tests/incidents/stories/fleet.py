"""Servers that differ, capacity that fell, efficiency that collapsed, hardware, exposure, and the daemon itself."""

from dataclasses import dataclass, replace

from monitor.model.instant import DAY, HOUR, MINUTE, SECOND, Duration
from monitor.simulator.script import Killed, Lengths, Phase, RankGone, Rejecting, Restart, Skewed, Slowdown
from tests.incidents.hosts import Edited, Written
from tests.incidents.rulesets import OLD_NAMES
from tests.incidents.stories.servers import ROOMY, SLOW, SMALL, people, simulated
from tests.incidents.story import Story, Tell, probed, soon

_TWO_RANKS = replace(ROOMY, data_parallel_size=2, num_gpu_blocks=401)
_ENGINE = 'engine="0",model_name="llama-3.1-8b"'
_GPU = (
    'gpu="0",UUID="GPU-5fd4f087",pci_bus_id="00000000:3B:00.0",device="nvidia0",modelName="NVIDIA H100",'
    'Hostname="gpu-0"'
)


def _steady(at: Duration, duration: Duration, shared: int = 0) -> Phase:
    """Return traffic that is the same all day: four clients who read what they get."""
    return Phase(
        at,
        duration,
        4,
        prompt=Lengths(200, 260),
        output=Lengths(60, 120),
        think=Lengths(2000, 6000),
        shared_prefix=shared,
    )


@dataclass(frozen=True)
class Gpu:
    """The page of dcgm-exporter for one GPU, on which these come up at `since`."""

    xid: int = 0
    temperature: float = 61.0
    double_bit_errors: int = 0
    since: Duration = 5 * MINUTE

    def __call__(self, at: Duration) -> str:
        late = at >= self.since
        values = {
            "DCGM_FI_DEV_SM_CLOCK": 1755.0,
            "DCGM_FI_DEV_GPU_TEMP": self.temperature if late else 61.0,
            "DCGM_FI_DEV_POWER_USAGE": 412.5,
            "DCGM_FI_DEV_GPU_UTIL": 96.0,
            "DCGM_FI_DEV_FB_USED": 74_210.0,
            "DCGM_FI_DEV_XID_ERRORS": self.xid if late else 0,
            "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": self.double_bit_errors if late else 0,
        }
        lines = [
            f"# TYPE {name} {'counter' if name.endswith('TOTAL') else 'gauge'}\n{name}{{{_GPU}}} {value:g}\n"
            for name, value in values.items()
        ]
        return "".join(lines)


@dataclass(frozen=True)
class Rising:
    """Adds a counter to a page that rises by one in five seconds from `since` on."""

    counter: str
    since: Duration = 5 * MINUTE

    def __call__(self, at: Duration, page: str) -> str:
        count = max(0, (at - self.since) // (5 * SECOND))
        return f"{page}# TYPE {self.counter} counter\n{self.counter}{{{_ENGINE}}} {count}\n" if page else page


def _dcgm(gpu: Gpu) -> Written:
    return Written(gpu, "gpu-0:9400", "dcgm")


FLEET = (
    Story(
        "rank missing",
        Tell.TICKET,
        (simulated(_TWO_RANKS, 30 * MINUTE, people(0, 30 * MINUTE, 10), RankGone(10 * MINUTE, 18 * MINUTE)),),
        30 * MINUTE,
        cause=10 * MINUTE,
        over=28 * MINUTE,
        expects=(soon("VLLMEngineRankMissing", "VLLMSeriesVanished", within=12 * MINUTE),),
        may=frozenset({"VLLMSeriesVanished"}),
        summary="one of two data-parallel ranks is not on the page any more",
    ),
    Story(
        "skewed ranks",
        Tell.TICKET,
        (simulated(_TWO_RANKS, 30 * MINUTE, people(0, 30 * MINUTE, 16), Skewed(5 * MINUTE, 23 * MINUTE)),),
        30 * MINUTE,
        cause=5 * MINUTE,
        over=28 * MINUTE,
        expects=(soon("VLLMEngineRankSkewed", within=17 * MINUTE),),
        summary="one rank gets everything, the other nothing",
    ),
    Story(
        "version mix",
        Tell.TICKET,
        (
            simulated(ROOMY, 50 * MINUTE, people(0, 50 * MINUTE, 2)),
            simulated(replace(ROOMY, version="0.28.0"), 50 * MINUTE, people(0, 50 * MINUTE, 2), name="vllm-1:8000"),
        ),
        50 * MINUTE,
        interval=15 * SECOND,
        expects=(probed("VLLMVersionMix", within=40 * MINUTE),),
        may=frozenset({"VLLMConfigDrift"}),
        summary="0.32.0 and 0.28.0 serve the same model for an hour",
    ),
    Story(
        "config drift",
        Tell.TICKET,
        (
            simulated(ROOMY, 50 * MINUTE, people(0, 50 * MINUTE, 2)),
            simulated(
                replace(ROOMY, enable_prefix_caching=False, num_gpu_blocks=401),
                50 * MINUTE,
                people(0, 50 * MINUTE, 2),
                name="vllm-1:8000",
            ),
        ),
        50 * MINUTE,
        interval=15 * SECOND,
        expects=(soon("VLLMConfigDrift", within=40 * MINUTE),),
        summary="one of two servers of a model runs without prefix caching and with half the pool",
    ),
    Story(
        "capacity fell after an upgrade",
        Tell.TICKET,
        (
            simulated(
                ROOMY,
                60 * MINUTE,
                people(0, 60 * MINUTE, 4),
                Restart(35 * MINUTE, 60 * SECOND, server=replace(ROOMY, num_gpu_blocks=301)),
            ),
        ),
        60 * MINUTE,
        cause=35 * MINUTE,
        expects=(
            probed("VLLMMaxConcurrencyFell", within=15 * MINUTE),
            probed("VLLMCapacityChanged", within=5 * MINUTE),
        ),
        switched_on=("VLLMCapacityChanged",),
        summary="the same flags, and the KV pool holds 38 % of what it held before",
    ),
    Story(
        "concurrency below the floor",
        Tell.TICKET,
        (simulated(replace(SMALL, max_model_len=2048), 20 * MINUTE, people(0, 20 * MINUTE, 2)),),
        20 * MINUTE,
        expects=(probed("VLLMMaxConcurrencyBelowFloor", within=12 * MINUTE),),
        summary="room for 1.6 requests of full length where 2.5 are asked for",
    ),
    Story(
        "pool below one request",
        Tell.TICKET,
        (simulated(replace(SMALL, max_model_len=8192), 20 * MINUTE, people(0, 20 * MINUTE, 2)),),
        20 * MINUTE,
        expects=(probed("VLLMKVPoolBelowOneRequest", within=12 * MINUTE),),
        may=frozenset({"VLLMMaxConcurrencyBelowFloor"}),
        summary="3,200 tokens of KV cache, requests of up to 8,192: one may block the queue some day",
    ),
    Story(
        "prefix hits collapse",
        Tell.NOTE,
        (simulated(SLOW, DAY + 4 * HOUR, _steady(0, DAY + HOUR, shared=160), _steady(DAY + HOUR, 3 * HOUR)),),
        DAY + 4 * HOUR,
        cause=DAY + HOUR,
        interval=30 * SECOND,
        evaluation=MINUTE,
        expects=(soon("VLLMPrefixHitsCollapsed", within=2 * HOUR),),
        summary="a day of 60 % hits, then a prompt template begins with the time of day",
    ),
    Story(
        "throughput collapses",
        Tell.TICKET,
        (simulated(SLOW, DAY + 4 * HOUR, _steady(0, DAY + 4 * HOUR), Slowdown(DAY + HOUR, 3 * HOUR, factor=5)),),
        DAY + 4 * HOUR,
        cause=DAY + HOUR,
        interval=30 * SECOND,
        evaluation=MINUTE,
        expects=(soon("VLLMThroughputCollapsed", within=2 * HOUR),),
        may=frozenset({"VLLMInterTokenLatencyHigh", "VLLMInterTokenBudgetBurn"}),
        summary="after a day at one pace each request gets a fifth of the tokens",
    ),
    Story(
        "speculation in vain",
        Tell.NOTE,
        (
            simulated(
                replace(ROOMY, num_speculative_tokens=3),
                50 * MINUTE,
                people(0, 50 * MINUTE, 8),
                Rejecting(5 * MINUTE, 43 * MINUTE, acceptance=0.12),
            ),
        ),
        50 * MINUTE,
        cause=5 * MINUTE,
        over=48 * MINUTE,
        expects=(soon("VLLMSpecDecodeAcceptanceLow", within=35 * MINUTE),),
        summary="of what the draft model proposes 12 % is taken",
    ),
    Story(
        "drafts that fit no more",
        Tell.NOTE,
        (
            simulated(
                replace(SLOW, num_speculative_tokens=3),
                10 * HOUR,
                _steady(0, 10 * HOUR),
                Rejecting(7 * HOUR, 3 * HOUR, acceptance=0.4),
            ),
        ),
        10 * HOUR,
        cause=7 * HOUR,
        interval=30 * SECOND,
        evaluation=MINUTE,
        expects=(soon("VLLMSpecDecodeAcceptanceFell", within=90 * MINUTE),),
        summary="the model was tuned, its draft model was not: 40 % of the drafts are taken instead of 70 %",
    ),
    Story(
        "corrupted answers",
        Tell.PAGE,
        (Edited(simulated(ROOMY, 15 * MINUTE, people(0, 15 * MINUTE, 6)), Rising("vllm:corrupted_requests_total")),),
        15 * MINUTE,
        cause=5 * MINUTE,
        expects=(soon("VLLMCorruptedRequests", within=5 * MINUTE),),
        summary="NaN in the logits, where the server counts it",
    ),
    Story(
        "KV transfers fail",
        Tell.TICKET,
        (
            Edited(
                simulated(ROOMY, 20 * MINUTE, people(0, 20 * MINUTE, 6)), Rising("vllm:nixl_num_failed_transfers_total")
            ),
        ),
        20 * MINUTE,
        cause=5 * MINUTE,
        expects=(soon("VLLMKVTransferFailing", within=12 * MINUTE),),
        summary="disaggregated prefill: blocks do not arrive",
    ),
    Story(
        "GPU XID",
        Tell.PAGE,
        (simulated(ROOMY, 15 * MINUTE, people(0, 15 * MINUTE, 4)), _dcgm(Gpu(xid=79))),
        15 * MINUTE,
        cause=5 * MINUTE,
        expects=(soon("VLLMGPUXidError", within=5 * MINUTE),),
        summary="XID 79: the GPU has fallen off the bus",
    ),
    Story(
        "GPU too hot",
        Tell.TICKET,
        (simulated(ROOMY, 20 * MINUTE, people(0, 20 * MINUTE, 4)), _dcgm(Gpu(temperature=88))),
        20 * MINUTE,
        cause=5 * MINUTE,
        expects=(soon("VLLMGPUTemperatureHigh", within=10 * MINUTE),),
        summary="88 °C",
    ),
    Story(
        "GPU memory errors",
        Tell.PAGE,
        (simulated(ROOMY, 15 * MINUTE, people(0, 15 * MINUTE, 4)), _dcgm(Gpu(double_bit_errors=2))),
        15 * MINUTE,
        cause=5 * MINUTE,
        expects=(soon("VLLMGPUEccErrors", within=5 * MINUTE),),
        summary="two double-bit errors",
    ),
    Story(
        "open to anybody",
        Tell.TICKET,
        (simulated(replace(ROOMY, dev_mode=True), 40 * MINUTE, people(0, 40 * MINUTE, 2)),),
        40 * MINUTE,
        interval=15 * SECOND,
        expects=(probed("VLLMExposedWithoutKey", within=20 * MINUTE),),
        summary="development mode: whoever reaches the port can put the server to sleep",
    ),
    Story(
        "rules gone blind with an upgrade",
        Tell.TICKET,
        (
            simulated(
                replace(ROOMY, version="0.9.2"),
                50 * MINUTE,
                people(0, 50 * MINUTE, 4),
                Restart(10 * MINUTE, 60 * SECOND, server=ROOMY),
            ),
        ),
        50 * MINUTE,
        cause=10 * MINUTE,
        rules=(OLD_NAMES,),
        expects=(probed("VLLMMonitorRuleBlind", within=25 * MINUTE),),
        # The foreign set itself: a cache above 90 % is not what this is about.
        may=frozenset({"KvCacheHigh"}),
        summary="a public rule set reads gpu_cache_usage_perc; since 0.12 nothing is called so",
    ),
    Story(
        "Slack does not answer",
        Tell.TICKET,
        (simulated(ROOMY, 20 * MINUTE, people(0, 20 * MINUTE, 4), Killed(5 * MINUTE, 13 * MINUTE)),),
        20 * MINUTE,
        cause=5 * MINUTE,
        deaf_from=4 * MINUTE,
        expects=(probed("VLLMMonitorNotificationsFailing", within=10 * MINUTE),),
        may=frozenset({"VLLMTargetDown", "VLLMSeriesVanished", "VLLMEngineDead"}),
        summary="a server dies, and nobody can be told",
    ),
)
