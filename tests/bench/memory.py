"""
What a sample costs in memory: the series of a hundred vLLM servers in the window, in a process of their own.

A series pays for its labels, its places in the indexes and its part of the times as well; all of it is divided by the
number of samples.
"""

import gc
import multiprocessing
import re
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from monitor.model.instant import SECOND
from monitor.storage.window import Window
from tests.bench.fleet import write_histograms

_SAMPLES = 240
_TARGETS = 100
_BUDGET = 12


def _resident() -> int:
    return int(re.findall(r"RssAnon:\s+(\d+)", Path("/proc/self/status").read_text())[0]) * 1024


def _filled() -> Window:
    window = Window()
    write_histograms(window, "fleet", targets=_TARGETS, samples=_SAMPLES, interval=15 * SECOND)
    return window


def _by_resident() -> float:
    gc.collect()
    before = _resident()
    window = _filled()
    gc.collect()
    return (_resident() - before) / window.size()[1]


def _by_allocations() -> float:
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    window = _filled()
    gc.collect()
    return (tracemalloc.get_traced_memory()[0] - before) / window.size()[1]


def rows() -> list[tuple[str, str, str]]:
    """Return what was measured, the figure and its budget."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, fresh, max_tasks_per_child=1) as processes:
        resident, allocated = processes.submit(_by_resident).result(), processes.submit(_by_allocations).result()
    what = f"window: memory of a sample with its share of everything, {_SAMPLES} a series"
    return [
        (f"{what}, resident", f"{resident:.1f} bytes", f"≤ {_BUDGET} bytes"),
        (f"{what}, allocated", f"{allocated:.1f} bytes", f"≤ {_BUDGET} bytes"),
    ]
