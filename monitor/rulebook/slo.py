"""What a table of the values may not say, although each of its settings is right by itself."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise

from monitor.model.instant import MINUTE
from monitor.rulebook.kinds import Span
from monitor.rulebook.macros import shown
from monitor.vllm.buckets import edges
from monitor.vllm.version import Version
from monitor.yamldoc.section import Section

# What an objective may be of, and of latencies the histogram with the set of its edges.
HISTOGRAMS = {
    "ttft": ("vllm:time_to_first_token_seconds", "ttft"),
    "inter_token": ("vllm:inter_token_latency_seconds", "itl"),
    "time_per_output_token": ("vllm:request_time_per_output_token_seconds", "itl"),
    "e2e": ("vllm:e2e_request_latency_seconds", "latency"),
}
AVAILABILITY = "availability"
NEWEST = Version(0, 33, 0)
# What the rules count requests over, and how often they record it.
INCREASES, INTERVAL = Span(5 * MINUTE), Span(MINUTE)


def objective_problems(slo: Section) -> Iterator[tuple[str, str]]:
    """
    Yield what is wrong with an objective: no such quantity, or an edge that is no bucket.

    A counter says how many were at or below the edge of a bucket, and nothing of what lies between two. A rule with
    another edge would find no series and be silent for ever.
    """
    of, edge, custom, name = (getattr(slo, key) for key in ("of", "edge", "custom_edge", "name"))
    if not name:
        yield "name", "an objective needs a name"
    if of not in (*HISTOGRAMS, AVAILABILITY):
        yield "of", f'"{of}" is no quantity that can have an objective (write {", ".join((*HISTOGRAMS, AVAILABILITY))})'
    elif of != AVAILABILITY and not custom:
        metric, buckets = HISTOGRAMS[of]
        if complaint := _no_bucket(edge, tuple(edges(buckets, NEWEST) or ())):
            yield "edge", f"{shown(edge)} s is no bucket of {metric}: {complaint}"


def values_problems(values: Section) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the objectives together, and with the windows over which they are watched."""
    slos, windows = getattr(values, "slos", ()), getattr(values, "slo_windows", ())
    twice = [name for name, count in Counter(slo.name for slo in slos).items() if count > 1]
    if twice:
        yield "slos", f"there are two objectives {', '.join(twice)}"
    pairs = Counter((window.long, window.short) for window in windows)
    for long, short in [pair for pair, count in pairs.items() if count > 1]:
        yield "slo_windows", f"there are two pairs of the windows {long} and {short}"
    for window in windows:
        yield from (("slo_windows", problem) for problem in _window_problems(window))
        for slo in slos:
            if window.burn * (1 - slo.objective_ratio) >= 1:
                never = f"a burn rate of {shown(window.burn)} can never be seen with {slo.name}, whose objective is"
                yield "slo_windows", f"{never} {shown(slo.objective_ratio)}: more than everything would have to fail"


def _window_problems(window: Section) -> Iterator[str]:
    long, short, burn = (getattr(window, key) for key in ("long", "short", "burn"))
    if short >= long:
        yield f"the short window {short} is not shorter than the long one {long}"
    if long < INCREASES:
        yield f"the long window {long} is shorter than {INCREASES}, over which requests are counted"
    if short < INTERVAL:
        yield f"the short window {short} is shorter than {INTERVAL}, in which nothing may be recorded"
    if burn == 0:
        yield "a burn rate of 0 is that of a server without errors (write more than 0)"


def _no_bucket(edge: Decimal, there: tuple[float, ...]) -> str:
    """Return the neighbours of an edge that is none of those `there`, "" where it is one."""
    if float(edge) in there:
        return ""
    if float(edge) < there[0]:
        return f"the smallest is {there[0]:g}"
    below, above = next((low, high) for low, high in pairwise(there) if low < float(edge) < high)
    beside = f"{below:g} is the largest" if above == float("inf") else f"those beside it are {below:g} and {above:g}"
    return f"{beside}; buckets of your own (--custom-histogram-buckets) want custom_edge: true"
