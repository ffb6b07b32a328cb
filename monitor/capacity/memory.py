"""
What a GPU has left for the KV cache: total times utilisation, less weights, activations, and what CUDA itself takes.

reference: vLLM 0.33, memory profiling at the start.
"""

from dataclasses import dataclass

from monitor.capacity.gpus import SLACK, Gpu
from monitor.capacity.ranges import Range

GIB = 2**30
# Peak activation, what CUDA and NCCL hold, and CUDA graphs: 1.26 + 0.12 GiB were logged for Llama 3.1 8B on an L4; one
# to three is what people see, and more for multimodal models and large `--max-num-batched-tokens`.
RESERVE = Range(0.9, 1.4, 3.0)


@dataclass(frozen=True, slots=True)
class Memory:
    """
    The memory of one GPU, in GiB.

    `total` times `utilisation` is what vLLM takes at most. `weights` is this GPU's share of the weights, `reserve` all
    that is neither weights nor cache.
    """

    total: Range
    utilisation: float
    weights: Range
    reserve: Range

    @property
    def pool(self) -> Range:
        """Return what is left for the KV cache, in GiB; negative where the weights alone do not fit."""
        return self.total.each(lambda gib: gib * self.utilisation).minus(self.weights.plus(self.reserve))


@dataclass(frozen=True, slots=True)
class Measured:
    """
    What a start-up log says, in GiB; None where it says nothing.

    `other` is all that was neither weights nor cache: it turns the guess into a number.
    """

    total: float | None = None
    weights: float | None = None
    other: float | None = None


def memory(gpu: Gpu, utilisation: float, weights_gib: float, measured: Measured | None = None) -> Memory:
    """Return the memory of one GPU, with what was measured in the place of what is guessed."""
    known = measured or Measured()
    total = known.total if known.total is not None else gpu.gib
    exact = known.total is not None or gpu.source == "given"
    return Memory(
        Range.exactly(total) if exact else Range(total - SLACK, total, total + SLACK),
        utilisation,
        Range.exactly(known.weights if known.weights is not None else weights_gib),
        RESERVE if known.other is None else Range.exactly(known.other),
    )
