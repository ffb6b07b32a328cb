"""The server, or its page, is not there."""

from dataclasses import replace

from monitor.model.instant import MINUTE, SECOND
from monitor.simulator.script import BadPage, Killed, Restart, SlowPage, Unreachable
from tests.incidents.stories.servers import ROOMY, V0, people, simulated
from tests.incidents.story import Story, Tell, probed, soon

_GONE = frozenset({"VLLMTargetDown", "VLLMSeriesVanished"})

AVAILABILITY = (
    Story(
        "dead engine V0",
        Tell.PAGE,
        (simulated(V0, 8 * MINUTE, people(0, 8 * MINUTE, 6), Killed(3 * MINUTE, 30 * MINUTE, stale=9 * SECOND)),),
        8 * MINUTE,
        cause=3 * MINUTE,
        expects=(soon("VLLMTargetDown", "VLLMEngineDead"),),
        may=_GONE,
        summary="the old engine dies: page and /health answer 200 for nine seconds more, then refused",
    ),
    Story(
        "dead engine, page stays",
        Tell.PAGE,
        (simulated(ROOMY, 12 * MINUTE, people(0, 12 * MINUTE, 6), Killed(3 * MINUTE, 30 * MINUTE, stale=20 * MINUTE)),),
        12 * MINUTE,
        cause=3 * MINUTE,
        expects=(probed("VLLMEngineDead", within=60 * SECOND), soon("VLLMEngineStuck")),
        may=frozenset({"VLLMErrorRateHigh", "VLLMErrorRateCritical", "VLLMAvailabilityBudgetBurn"}),
        summary="VLLM_KEEP_ALIVE_ON_ENGINE_DEATH: /health 503, the page stands still, clients get 500",
    ),
    Story(
        "crash loop",
        Tell.PAGE,
        (
            simulated(
                ROOMY,
                40 * MINUTE,
                people(0, 40 * MINUTE, 6),
                *(Killed(at * MINUTE, 85 * SECOND) for at in (5, 12, 19, 26)),
            ),
        ),
        40 * MINUTE,
        cause=5 * MINUTE,
        expects=(soon("VLLMRestartLoop", within=25 * MINUTE),),
        may=_GONE | {"VLLMEngineDead"},
        summary="four deaths in half an hour, each mended by a restart within 85 s",
    ),
    Story(
        "never came up",
        Tell.PAGE,
        (simulated(ROOMY, 15 * MINUTE, Restart(0, 14 * MINUTE)),),
        15 * MINUTE,
        expects=(soon("VLLMTargetDown", within=6 * MINUTE),),
        may=_GONE,
        summary="refused from the first scrape on, for 14 minutes",
    ),
    Story(
        "page answers 500",
        Tell.PAGE,
        (simulated(ROOMY, 15 * MINUTE, people(0, 15 * MINUTE, 6), BadPage(3 * MINUTE, 9 * MINUTE, status=500)),),
        15 * MINUTE,
        cause=3 * MINUTE,
        over=12 * MINUTE,
        expects=(soon("VLLMTargetDown"),),
        may=_GONE | {"VLLMMonitorScrapeFailing"},
        summary="/metrics answers 500 while requests are served",
    ),
    Story(
        "page empty",
        Tell.TICKET,
        (simulated(ROOMY, 20 * MINUTE, people(0, 20 * MINUTE, 6), BadPage(3 * MINUTE, 14 * MINUTE, body="")),),
        20 * MINUTE,
        cause=3 * MINUTE,
        over=17 * MINUTE,
        expects=(soon("VLLMSeriesVanished", "VLLMStatsHidden", within=11 * MINUTE),),
        may=frozenset({"VLLMSeriesVanished", "VLLMStatsHidden"}),
        summary="/metrics answers 200 and nothing: up is 1, every alert on vLLM's series is silent",
    ),
    Story(
        "scrapes time out",
        Tell.PAGE,
        (
            simulated(
                ROOMY, 15 * MINUTE, people(0, 15 * MINUTE, 6), SlowPage(3 * MINUTE, 9 * MINUTE, delay=20 * SECOND)
            ),
        ),
        15 * MINUTE,
        cause=3 * MINUTE,
        over=12 * MINUTE,
        expects=(soon("VLLMTargetDown"),),
        may=_GONE | {"VLLMScrapeSlow"},
        summary="the event loop is blocked: no page within the timeout",
    ),
    Story(
        "scrapes slow",
        Tell.TICKET,
        (simulated(ROOMY, 20 * MINUTE, people(0, 20 * MINUTE, 6), SlowPage(3 * MINUTE, 14 * MINUTE, delay=4600)),),
        20 * MINUTE,
        cause=3 * MINUTE,
        over=17 * MINUTE,
        expects=(soon("VLLMScrapeSlow", within=11 * MINUTE),),
        summary="the page takes 4.6 s of the 5 that it may take",
    ),
    Story(
        "network gone",
        Tell.PAGE,
        (simulated(ROOMY, 15 * MINUTE, people(0, 15 * MINUTE, 6), Unreachable(3 * MINUTE, 9 * MINUTE)),),
        15 * MINUTE,
        cause=3 * MINUTE,
        over=12 * MINUTE,
        expects=(soon("VLLMTargetDown"),),
        may=_GONE,
        summary="the port cannot be reached, the process lives on",
    ),
    Story(
        "one of three servers dies",
        Tell.PAGE,
        (
            simulated(ROOMY, 10 * MINUTE, people(0, 10 * MINUTE, 6)),
            simulated(
                ROOMY,
                10 * MINUTE,
                people(0, 10 * MINUTE, 6),
                Killed(3 * MINUTE, 30 * MINUTE, stale=0),
                name="vllm-1:8000",
            ),
            simulated(ROOMY, 10 * MINUTE, people(0, 10 * MINUTE, 6), name="vllm-2:8000", seed=3),
        ),
        10 * MINUTE,
        cause=3 * MINUTE,
        expects=(soon("VLLMTargetDown", instance="vllm-1:8000"),),
        may=_GONE,
        summary="the others serve on, and nothing is said of them",
    ),
    Story(
        "restarted",
        Tell.NOTE,
        (simulated(ROOMY, 20 * MINUTE, people(0, 20 * MINUTE, 6), Restart(10 * MINUTE, 50 * SECOND)),),
        20 * MINUTE,
        cause=10 * MINUTE,
        over=11 * MINUTE,
        expects=(soon("VLLMRestarted", within=5 * MINUTE),),
        summary="a restart within a minute: somebody may want to know, nobody is woken",
    ),
    Story(
        "stats vanish with an upgrade",
        Tell.TICKET,
        (
            simulated(
                ROOMY,
                25 * MINUTE,
                people(0, 25 * MINUTE, 6),
                Restart(5 * MINUTE, 60 * SECOND, server=replace(ROOMY, disable_log_stats=True)),
            ),
        ),
        25 * MINUTE,
        cause=5 * MINUTE,
        expects=(soon("VLLMStatsHidden", "VLLMSeriesVanished", within=12 * MINUTE),),
        may=frozenset({"VLLMSeriesVanished", "VLLMStatsHidden"}),
        summary="restarted with --disable-log-stats: what was there an hour ago is not",
    ),
)
