"""
How layers are put into groups, and what a block and a request take of the pool.

reference: vLLM 0.33, hybrid KV cache manager. Every group takes blocks of one size from one pool; a block holds
`block_size` tokens of each layer of its group.
"""

from collections import Counter
from dataclasses import dataclass, replace

from monitor.capacity.failure import CapacityError
from monitor.capacity.layers import Architecture, Kind, Layers

# Types of layers whose counts differ by less are put into one size of group, with empty places in the smaller.
_NEARLY_EQUAL = 1.5


@dataclass(frozen=True, slots=True)
class Sharding:
    """How a model is spread over GPUs: the KV heads over `tensor`, the layers over `pipeline`."""

    tensor: int = 1
    pipeline: int = 1


@dataclass(frozen=True, slots=True)
class Pool:
    """
    The blocks of one replica's KV cache.

    `block_bytes` is the size of a block on one GPU, `block_size` its length in tokens. `groups` are the layers of each
    group with the number of such groups. `padding` counts the layers that only fill a group up.
    """

    block_size: int
    block_bytes: int
    groups: tuple[tuple[Layers, int], ...]
    padding: int

    def blocks_in(self, available_bytes: float) -> int:
        """Return how many blocks the memory of one GPU holds."""
        return max(0, int(available_bytes // self.block_bytes))

    def blocks_for(self, tokens: int, in_flight: int) -> int:
        """Return the blocks that one request of so many tokens takes, of all groups together."""
        return sum(layers.blocks_for(tokens, self.block_size, in_flight) * count for layers, count in self.groups)


def pool(model: Architecture, bytes_a_number: float, sharding: Sharding, block_size: int, *, hybrid: bool) -> Pool:
    """
    Return the blocks of a model's cache.

    Without `hybrid` (`--disable-hybrid-kv-cache-manager`, or a vLLM that has none) every layer that attends keeps the
    whole request. Raises CapacityError where there is nothing to keep.
    """
    kept = [layers for layers in model.layers if layers.count]
    if not hybrid:
        kept = [_as_full(layers) for layers in kept]
    kept = _merged(kept)
    if not any(_page(layers, bytes_a_number, sharding.tensor, block_size) for layers in kept):
        raise CapacityError(f"{model.name} keeps nothing of a request: it has no KV cache to plan")
    # A block has one size. A state does not grow with its tokens: the block is made as long as the state needs.
    length = _block_size(kept, bytes_a_number, sharding.tensor, block_size)
    page = max(_page(layers, bytes_a_number, sharding.tensor, length) for layers in kept)
    counts = [-(-layers.count // sharding.pipeline) for layers in kept]
    size = _group_size(counts)
    groups = tuple((layers, -(-count // size)) for layers, count in zip(kept, counts, strict=True))
    padding = sum(number * size for _, number in groups) - sum(counts)
    return Pool(length, page * size, groups, padding)


def _as_full(layers: Layers) -> Layers:
    if layers.kind not in (Kind.SLIDING, Kind.CHUNKED):
        return layers
    return replace(layers, kind=Kind.FULL, window=0)


def _merged(kept: list[Layers]) -> list[Layers]:
    """Return the layers, those that are alike counted together."""
    counts: Counter[Layers] = Counter()
    for layers in kept:
        counts[replace(layers, count=0)] += layers.count
    return [replace(layers, count=count) for layers, count in counts.items()]


def _page(layers: Layers, bytes_a_number: float, tensor: int, block_size: int) -> int:
    """Return the bytes that one layer needs of a block."""
    if layers.kind is Kind.STATE:
        return layers.state_on(tensor)
    return int(layers.numbers_a_token(tensor) * bytes_a_number * block_size)


def _block_size(kept: list[Layers], bytes_a_number: float, tensor: int, block_size: int) -> int:
    """Return the tokens of a block: enlarged until a block of attention is as large as a state."""
    states = [layers.state_on(tensor) for layers in kept if layers.kind is Kind.STATE]
    token = max((int(layers.numbers_a_token(tensor) * bytes_a_number) for layers in kept), default=0)
    if not states or not token:
        return block_size
    needed = -(-max(states) // token)
    return max(block_size, -(-needed // block_size) * block_size)


def _group_size(counts: list[int]) -> int:
    """Return how many layers a group has."""
    least, most = min(counts), max(counts)
    return most if most < _NEARLY_EQUAL * least else least
