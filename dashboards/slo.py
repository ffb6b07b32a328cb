"""The dashboard "vLLM objectives": what was promised, what is left of it, and how fast it goes."""

from dashboards.chosen import models
from dashboards.look import About, Query, Steps
from dashboards.overview import BURN, burn
from dashboards.page import Page
from dashboards.panels import Panel, heat, lines, now
from dashboards.tables import Column, rows
from dashboards.thresholds import burn_rates

LEFT: Steps = {"orange": 0, "yellow": 0.25, "green": 0.5}
OBJECTIVE = "{{slo}} {{model_name}}"


def slo() -> Page:
    return Page(
        "slo",
        "vLLM objectives",
        "Is what was promised kept, and how long does the budget last?",
        {
            "Now": _now(),
            " ": [_objectives()],
            "How fast the budget burns": _burning(),
            "What was good, and what was not": _events(),
            "How latencies are spread": _spread(),
        },
        since="now-24h",
    )


def left() -> str:
    """
    Return what is left of each objective's budget over 30 days: 1 is all of it, below 0 it is overspent.

    Every half hour's count of the day before: a month of minutes would be read sample by sample.
    """
    bad, total = (models(f"vllm_engine:slo_{what}:increase1d") for what in ("bad", "total"))
    share = f"sum_over_time({bad}[30d:30m]) / (sum_over_time({total}[30d:30m]) > 0)"
    return f"1 - {share} / {models('vllm_engine:slo_budget:ratio')}"


def _now() -> list[Panel]:
    least = About(
        "Least budget left",
        "Of the last 30 days, or of what there is of them: the objective that has least. Below 0 it was broken.",
        "percentunit",
    )
    hour = About(
        "Fastest burn, 1 hour", "At 14.4 thirty days' budget is gone in two.", "suffix:x", "VLLMAvailabilityBudgetBurn"
    )
    six = About(
        "Fastest burn, 6 hours", "At 6 thirty days' budget is gone in five.", "suffix:x", "VLLMAvailabilityBudgetBurn"
    )
    days = About("Fastest burn, 3 days", "At 1 it lasts exactly thirty days.", "suffix:x", "VLLMAvailabilityBudgetBurn")
    return [
        now(least, Query(f"min({left()})", "left"), steps=LEFT, base="red"),
        now(hour, Query(f"max({burn('1h')})", "burn"), steps=BURN),
        now(six, Query(f"max({burn('6h')})", "burn"), steps=BURN),
        now(days, Query(f"max({burn('3d')})", "burn"), steps=BURN),
    ]


def _objectives() -> Panel:
    about = About(
        "Objectives by model",
        "Each objective of each model: what is promised, what failed, and what is left of the budget of 30 days.",
        "percentunit",
        "VLLMAvailabilityBudgetBurn",
    )

    def failed(window: str) -> str:
        return models(f"vllm_engine:slo_bad:ratio_{window}")

    by = "by (slo, model_name, job)"
    return rows(
        about,
        ("slo", "model_name", "job"),
        Column("Promised", f"1 - max {by} ({models('vllm_engine:slo_budget:ratio')})", "percentunit"),
        Column("Failed, 1 h", f"max {by} ({failed('1h')})", "percentunit"),
        Column("Failed, 1 d", f"max {by} ({failed('1d')})", "percentunit"),
        Column("Failed, 3 d", f"max {by} ({failed('3d')})", "percentunit"),
        Column("Burn, 1 h", f"max {by} ({burn('1h')})", "suffix:x", steps=BURN),
        Column("Burn, 6 h", f"max {by} ({burn('6h')})", "suffix:x", steps=BURN),
        Column("Burn, 1 d", f"max {by} ({burn('1d')})", "suffix:x", steps=BURN),
        Column("Budget left", f"min {by} ({left()})", "percentunit", steps=LEFT, base="red"),
        lowest_first="Budget left",
    )


def _burning() -> list[Panel]:
    rates = burn_rates()
    told = "An alert wants its long window above the line, and a short one as well."
    return [
        lines(
            About(f"Burn over {window}", f"The line is at {rate:g}. {told}", "suffix:x", "VLLMAvailabilityBudgetBurn"),
            Query(burn(window), OBJECTIVE),
            steps={"red": rate},
        )
        for window, rate in rates.items()
    ]


def _events() -> list[Panel]:
    total, bad = (models(f"vllm_engine:slo_{what}:increase5m") for what in ("total", "bad"))
    return [
        lines(
            About("Judged", "Requests, or gaps between tokens, a second.", "ops"),
            Query(f"{total} / 300", OBJECTIVE),
        ),
        lines(
            About("Failed", "Those that were not as promised, a second.", "ops"),
            Query(f"{bad} / 300", OBJECTIVE),
        ),
        lines(
            About(
                "Budget spent in a day",
                "Of thirty days' budget, by each day before. A thirtieth is even.",
                "percentunit",
            ),
            Query(f"{burn('1d')} / 30", OBJECTIVE),
            steps={"orange": 1 / 30},
        ),
    ]


def _spread() -> list[Panel]:
    told = "How many a second, by how long it took, over all servers of a model, every five minutes; kept for weeks."
    return [
        heat(About(title, told, "s"), f"sum by (le) ({models(f'vllm_engine:{name}_seconds_bucket:increase5m')}) / 300")
        for title, name in (
            ("First tokens by time", "ttft"),
            ("Gaps between tokens by time", "inter_token"),
            ("Whole requests by time", "e2e"),
        )
    ]
