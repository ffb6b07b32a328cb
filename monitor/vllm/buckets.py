"""
The upper edges of vLLM's histograms by version.

source: the releases 0.4.3 to 0.33.0 of vLLM. From 0.32.0 on `--custom-histogram-buckets` may replace any of them.
"""

from math import inf

from monitor.vllm.version import Version

_MORE_EDGES = Version(0, 8, 4)
_POWERS = Version(0, 8, 5)
_TTFT = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
_TTFT_MORE = (20.0, 40.0, 80.0, 160.0, 640.0, 2560.0)
_ITL = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5)
_ITL_MORE = (5.0, 7.5, 10.0, 20.0, 40.0, 80.0)
_LATENCY = (0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0)
_LATENCY_MORE = (120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0)
_BY_VERSION = {"ttft": (_TTFT, _TTFT_MORE), "itl": (_ITL, _ITL_MORE), "latency": (_LATENCY, _LATENCY_MORE)}
_HIGHR = (0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 7.5, 10, 30, 60)
_ALWAYS: dict[str, tuple[float, ...]] = {
    "preemptions": (1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 20.0),
    "n": (1.0, 2.0, 5.0, 10.0, 20.0),
    "http": (0.1, 0.5, 1.0),
    "highr": tuple(float(edge) for edge in _HIGHR),
}


def edges(buckets: str, version: Version, max_model_len: int | None = None) -> tuple[float, ...] | None:
    """
    Return the edges of a set that the table names, `+Inf` last; None where they are not known.

    Those of token counts end at `max_model_len`; without one they are not known.
    """
    found = _ALWAYS.get(buckets)
    if buckets in _BY_VERSION:
        few, more = _BY_VERSION[buckets]
        found = few + more if version >= _MORE_EDGES else few
    elif buckets == "iteration" and version >= _POWERS:
        found = (1.0, *(float(2**power) for power in range(3, 15)))
    elif buckets == "tokens" and max_model_len is not None:
        found = one_two_five(max_model_len)
    return None if found is None else (*found, inf)


def one_two_five(limit: int) -> tuple[float, ...]:
    """Return 1, 2, 5, 10, 20, 50 … up to `limit`."""
    found, decade = [], 1
    while decade <= limit:
        found += [float(digit * decade) for digit in (1, 2, 5) if digit * decade <= limit]
        decade *= 10
    return tuple(found)
