"""
How much memory a GPU has, as CUDA reports it.

Some tenths less or more by driver, ECC, MIG and vGPU: `SLACK`. `doctor` reads the true number from a start-up log.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from monitor.capacity.failure import CapacityError

# GiB that two machines with the same GPU may differ by.
SLACK = 0.3
# Whatever is larger is a typing error, or bytes.
_MOST_GIB = 10_000


@dataclass(frozen=True, slots=True)
class Gpu:
    """`gib` is what CUDA reports in total; `source` says how it is known."""

    name: str
    gib: float
    source: str


_LOG = "a start-up log"
_PUBLIC = "common knowledge, not measured"
_TABLE = (
    Gpu("T4", 14.7, _PUBLIC),
    Gpu("V100-16GB", 15.8, _PUBLIC),
    Gpu("A10G", 22.1, _PUBLIC),
    Gpu("L4", 22.05, _LOG),
    Gpu("RTX-4090", 23.55, _PUBLIC),
    Gpu("RTX-3090", 23.58, "vLLM issue 10517"),
    Gpu("V100-32GB", 31.7, _PUBLIC),
    Gpu("A100-40GB", 39.5, _PUBLIC),
    Gpu("L40S", 44.5, _PUBLIC),
    Gpu("A100-80GB", 79.2, _PUBLIC),
    Gpu("H100", 79.3, _PUBLIC),
    Gpu("H200", 139.5, _PUBLIC),
    Gpu("B200", 178.0, _PUBLIC),
    Gpu("MI300X", 191.7, _PUBLIC),
)
GPUS: Mapping[str, Gpu] = {gpu.name.lower(): gpu for gpu in _TABLE}
_SAME = {"a100": "a100-80gb", "a10": "a10g", "4090": "rtx-4090", "3090": "rtx-3090", "v100": "v100-16gb", "l40": "l40s"}


def gpu(named: str) -> Gpu:
    """
    Return a GPU by its name (L4, A100-40GB) or by its memory in GiB (22.05, 22.05GiB).

    Raises CapacityError for a name that the table does not have.
    """
    key = named.strip().lower().replace("_", "-").replace(" ", "-")
    if found := GPUS.get(_SAME.get(key, key)):
        return found
    try:
        gib = float(key.removesuffix("gib"))
    except ValueError:
        gib = -1
    if 0 < gib < _MOST_GIB:
        return Gpu(f"{gib:g} GiB", gib, "given")
    names = ", ".join(each.name for each in _TABLE)
    raise CapacityError(f"--gpu {named!r} is not known: give its memory in GiB as CUDA reports it, or one of {names}")
