"""
What the layers of a model keep in the KV cache, and how much of it one GPU holds.

reference: vLLM 0.33, the KV cache specifications of its layers (formulas, no code).
"""

from dataclasses import dataclass, replace
from enum import StrEnum

# Bytes of a number of a state, as the tables of models have it.
_GIVEN_IN = 2


class Kind(StrEnum):
    """How what a layer keeps grows with the length of a request."""

    FULL = "full attention"
    SLIDING = "sliding window"
    CHUNKED = "chunked local attention"
    # One latent vector a token instead of keys and values: DeepSeek, Kimi.
    LATENT = "multi-head latent attention"
    # A state of constant size: Mamba, gated delta nets, linear attention.
    STATE = "recurrent state"


@dataclass(frozen=True, slots=True)
class Layers:
    """
    Layers of one kind: `count` of them, alike in everything the cache depends on.

    `kv_heads` heads of `head_size` (keys) and `value_size` (values) numbers a token. `window` is the window or chunk in
    tokens. LATENT: `head_size` is the length of the latent vector, and there is one. STATE: `state_bytes` is what one
    request takes in one layer, whatever its length.
    """

    kind: Kind
    count: int
    kv_heads: int = 0
    head_size: int = 0
    value_size: int = 0
    window: int = 0
    state_bytes: int = 0

    def heads_on(self, tensor_parallel: int) -> int:
        """Return the KV heads that one GPU holds: more GPUs than heads hold copies."""
        if self.kind is Kind.LATENT:
            return 1
        return max(1, self.kv_heads // tensor_parallel)

    def numbers_a_token(self, tensor_parallel: int = 1) -> int:
        """Return how many numbers a token leaves in one of these layers on one GPU; 0 for a state."""
        match self.kind:
            case Kind.STATE:
                return 0
            case Kind.LATENT:
                return self.head_size
            case _:
                return self.heads_on(tensor_parallel) * (self.head_size + self.value_size)

    def state_on(self, tensor_parallel: int) -> int:
        """Return the bytes that one request's state takes in one of these layers on one GPU."""
        return -(-self.state_bytes // tensor_parallel)

    def blocks_for(self, tokens: int, block_size: int, in_flight: int) -> int:
        """
        Return the blocks that a request of so many tokens takes in one group of these layers.

        `in_flight` is how many tokens may be computed before what leaves the window is given back: the batch of a step,
        times the batches that are under way at once.
        """
        match self.kind:
            case Kind.STATE:
                return 1
            case Kind.SLIDING:
                held = min(self.window - 1 + in_flight, tokens)
                # One more: the window seldom begins at the edge of a block.
                return -(-held // block_size) + 1
            case Kind.CHUNKED:
                return -(-min(self.window + in_flight, tokens) // block_size)
            case _:
                return -(-tokens // block_size)


@dataclass(frozen=True, slots=True)
class Architecture:
    """
    What of a model its KV cache and its memory depend on.

    `parameters` counts all weights, of all experts. `max_positions` is the longest context the model was made for.
    `weights_dtype` is the type the weights are loaded in, `weights_bytes` their size where the checkpoint mixes types.
    `source` says where the facts are from.
    """

    name: str
    layers: tuple[Layers, ...]
    parameters: int
    max_positions: int
    weights_dtype: str = "bfloat16"
    weights_bytes: int | None = None
    attention_heads: int = 0
    source: str = ""

    @property
    def layer_count(self) -> int:
        return sum(layers.count for layers in self.layers)

    def computed_in(self, bytes_a_number: float) -> "Architecture":
        """Return it with states of numbers of this size: they are given in 16 bits."""
        if bytes_a_number == _GIVEN_IN:
            return self
        scaled = (replace(each, state_bytes=int(each.state_bytes * bytes_a_number / _GIVEN_IN)) for each in self.layers)
        return replace(self, layers=tuple(scaled))

    @property
    def is_hybrid(self) -> bool:
        """Tell whether its layers keep different things, so that they are put into groups."""
        return len({(layers.kind, layers.window) for layers in self.layers}) > 1
