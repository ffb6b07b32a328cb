"""What clients feel, and what they send: latency, errors, aborts, input."""

from dataclasses import replace

from monitor.model.instant import HOUR, MINUTE, SECOND
from monitor.simulator.script import Cost, Errors, Lengths, Phase, Restart, Slowdown, exactly
from tests.incidents.stories.servers import OLDER, ROOMY, SLOW, people, simulated
from tests.incidents.story import Story, Tell, soon

_LATE = frozenset(
    {"VLLMTTFTHigh", "VLLMTTFTCritical", "VLLMInterTokenLatencyHigh", "VLLMTTFTBudgetBurn", "VLLMInterTokenBudgetBurn"}
)
_FAILING = frozenset({"VLLMErrorRateHigh", "VLLMErrorRateCritical", "VLLMAvailabilityBudgetBurn"})

SERVICE = (
    Story(
        "slow first token",
        Tell.TICKET,
        (
            simulated(
                ROOMY,
                30 * MINUTE,
                people(0, 30 * MINUTE, 8),
                Restart(
                    8 * MINUTE,
                    60 * SECOND,
                    server=replace(ROOMY, cost=Cost(base=14, per_sequence=0.9, per_prefill_token=30)),
                ),
            ),
        ),
        30 * MINUTE,
        cause=9 * MINUTE,
        expects=(soon("VLLMTTFTHigh", within=15 * MINUTE),),
        switched_on=("VLLMTTFTHigh", "VLLMTTFTCritical"),
        may=_LATE,
        summary="after an upgrade a prompt takes thirty times as long",
    ),
    Story(
        "slow tokens",
        Tell.TICKET,
        (simulated(ROOMY, 30 * MINUTE, people(0, 30 * MINUTE, 8), Slowdown(8 * MINUTE, 20 * MINUTE, factor=9)),),
        30 * MINUTE,
        cause=8 * MINUTE,
        over=28 * MINUTE,
        expects=(soon("VLLMInterTokenLatencyHigh", within=17 * MINUTE),),
        switched_on=("VLLMInterTokenLatencyHigh",),
        may=_LATE | {"VLLMThroughputCollapsed"},
        summary="every step takes nine times as long: 0.2 s a token",
    ),
    Story(
        "errors inside the engine",
        Tell.TICKET,
        (simulated(ROOMY, 30 * MINUTE, people(0, 30 * MINUTE, 20), Errors(5 * MINUTE, 22 * MINUTE, share=0.03)),),
        30 * MINUTE,
        cause=5 * MINUTE,
        over=27 * MINUTE,
        expects=(soon("VLLMErrorRateHigh", within=17 * MINUTE),),
        may=frozenset({"VLLMAvailabilityBudgetBurn"}),
        summary="three in a hundred requests end with an error",
    ),
    Story(
        "every other request fails",
        Tell.PAGE,
        (simulated(ROOMY, 20 * MINUTE, people(0, 20 * MINUTE, 20), Errors(5 * MINUTE, 12 * MINUTE, share=0.5)),),
        20 * MINUTE,
        cause=5 * MINUTE,
        over=17 * MINUTE,
        expects=(soon("VLLMErrorRateCritical", within=8 * MINUTE),),
        may=_FAILING,
        summary="half of all requests end with an error",
    ),
    Story(
        "clients give up",
        Tell.TICKET,
        (
            simulated(
                replace(ROOMY, counts_aborts=True),
                30 * MINUTE,
                people(0, 30 * MINUTE, 8),
                Phase(5 * MINUTE, 22 * MINUTE, 4, prompt=exactly(64), output=exactly(400), timeout=2 * SECOND),
            ),
        ),
        30 * MINUTE,
        cause=5 * MINUTE,
        over=27 * MINUTE,
        expects=(soon("VLLMAbortsHigh", within=17 * MINUTE),),
        summary="one client in three hangs up before its answer, on a version that counts it",
    ),
    Story(
        "bad input 0.11.2",
        Tell.TICKET,
        (
            simulated(
                OLDER,
                25 * MINUTE,
                people(0, 25 * MINUTE, 4),
                Phase(5 * MINUTE, 18 * MINUTE, rate=0.6, prompt=exactly(400), output=exactly(200)),
            ),
        ),
        25 * MINUTE,
        cause=5 * MINUTE,
        over=23 * MINUTE,
        expects=(soon("VLLMClientErrorsHigh", within=15 * MINUTE),),
        summary="prompt and max_tokens together exceed the context: refused up to 0.11",
    ),
    Story(
        "inputs above 15,000 tokens",
        Tell.NOTE,
        (
            simulated(
                replace(ROOMY, max_model_len=32_768, num_gpu_blocks=8001, cost=Cost(base=14, per_prefill_token=0.02)),
                40 * MINUTE,
                people(0, 40 * MINUTE, 6),
                Phase(
                    5 * MINUTE,
                    30 * MINUTE,
                    2,
                    prompt=Lengths(20_500, 24_000),
                    output=exactly(100),
                    think=exactly(15_000),
                ),
            ),
        ),
        40 * MINUTE,
        cause=5 * MINUTE,
        over=35 * MINUTE,
        expects=(soon("VLLMPromptsTooLong", within=20 * MINUTE),),
        may=frozenset({"VLLMPromptsNearLimit"}),
        summary="prompts of 20,500 to 24,000 tokens where 15,000 were agreed",
    ),
    Story(
        "prompts near the limit",
        Tell.NOTE,
        (
            simulated(
                replace(ROOMY, max_model_len=512, num_gpu_blocks=801),
                40 * MINUTE,
                Phase(0, 40 * MINUTE, 6, prompt=Lengths(503, 506), output=exactly(5), think=exactly(3000)),
            ),
        ),
        40 * MINUTE,
        expects=(soon("VLLMPromptsNearLimit", within=30 * MINUTE),),
        switched_on=("VLLMPromptsNearLimit",),
        summary="nearly every prompt fills the context",
    ),
    Story(
        "answers cut off",
        Tell.NOTE,
        (
            simulated(
                SLOW,
                10 * HOUR,
                Phase(0, 7 * HOUR, 3, prompt=Lengths(32, 160), output=exactly(60), stops=0.95, think=exactly(6000)),
                Phase(7 * HOUR, 3 * HOUR, 3, prompt=Lengths(32, 160), output=exactly(20), think=exactly(6000)),
            ),
        ),
        10 * HOUR,
        cause=7 * HOUR,
        interval=30 * SECOND,
        evaluation=MINUTE,
        expects=(soon("VLLMLengthLimitedHigh", within=2 * HOUR),),
        summary="max_tokens was lowered by a client: every answer ends at its limit",
    ),
    Story(
        "first token late for a few",
        Tell.PAGE,
        (
            simulated(
                replace(ROOMY, max_model_len=65_536, num_gpu_blocks=8001, cost=Cost(base=14, per_prefill_token=0.5)),
                100 * MINUTE,
                people(0, 100 * MINUTE, 8),
                Phase(
                    20 * MINUTE, 80 * MINUTE, 2, prompt=Lengths(9000, 12_000), output=exactly(20), think=exactly(1000)
                ),
            ),
        ),
        100 * MINUTE,
        cause=20 * MINUTE,
        interval=15 * SECOND,
        expects=(soon("VLLMTTFTBudgetBurn", within=70 * MINUTE),),
        switched_on=("VLLMTTFTBudgetBurn",),
        may=_LATE | {"VLLMTimeInQueueHigh"},
        summary="one request in ten waits for more than 2.5 s: the budget of a month burns within days",
    ),
    Story(
        "first token after ten seconds",
        Tell.PAGE,
        (
            simulated(
                replace(ROOMY, cost=Cost(base=14, per_sequence=0.9, per_prefill_token=12)),
                30 * MINUTE,
                Phase(5 * MINUTE, 23 * MINUTE, 10, prompt=exactly(160), output=exactly(3), think=exactly(100)),
            ),
        ),
        30 * MINUTE,
        cause=5 * MINUTE,
        over=28 * MINUTE,
        expects=(soon("VLLMTTFTCritical", within=15 * MINUTE),),
        switched_on=("VLLMTTFTHigh", "VLLMTTFTCritical"),
        may=_LATE | {"VLLMTimeInQueueHigh"},
        summary="prompts are computed so slowly that the 99th percentile is beyond ten seconds",
    ),
    Story(
        "availability burns",
        Tell.PAGE,
        (simulated(ROOMY, 80 * MINUTE, people(0, 80 * MINUTE, 20), Errors(30 * MINUTE, 45 * MINUTE, share=0.2)),),
        80 * MINUTE,
        cause=30 * MINUTE,
        over=75 * MINUTE,
        interval=15 * SECOND,
        expects=(soon("VLLMAvailabilityBudgetBurn", within=30 * MINUTE),),
        may=_FAILING,
        summary="a fifth of the requests fails: two days' budget in an hour",
    ),
    Story(
        "gaps between tokens burn",
        Tell.PAGE,
        (simulated(ROOMY, 80 * MINUTE, people(0, 80 * MINUTE, 8), Slowdown(30 * MINUTE, 45 * MINUTE, factor=9)),),
        80 * MINUTE,
        cause=30 * MINUTE,
        over=75 * MINUTE,
        interval=15 * SECOND,
        expects=(soon("VLLMInterTokenBudgetBurn", within=45 * MINUTE),),
        switched_on=("VLLMInterTokenBudgetBurn",),
        may=_LATE,
        summary="every token is later than 0.1 s: the budget of a month in two days",
    ),
    Story(
        "whole answers burn",
        Tell.PAGE,
        (
            simulated(
                ROOMY,
                80 * MINUTE,
                people(0, 80 * MINUTE, 1),
                people(30 * MINUTE, 50 * MINUTE, 20),
                Slowdown(30 * MINUTE, 45 * MINUTE, factor=30),
            ),
        ),
        80 * MINUTE,
        cause=30 * MINUTE,
        over=75 * MINUTE,
        interval=15 * SECOND,
        expects=(soon("VLLMEndToEndBudgetBurn", within=45 * MINUTE),),
        switched_on=("VLLMEndToEndBudgetBurn",),
        may=_LATE | {"VLLMThroughputCollapsed"},
        summary="most answers take longer than half a minute",
    ),
)
