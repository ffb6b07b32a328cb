"""A model's `config.json` as what its cache depends on. A model that is not known is refused, never guessed."""

from collections.abc import Mapping
from typing import Any

from monitor.capacity.failure import CapacityError
from monitor.capacity.fields import Fields
from monitor.capacity.layers import Architecture, Kind, Layers
from monitor.capacity.parameters import parameters
from monitor.capacity.states import gated_delta, mamba2

# Models whose layers attend as Llama's do, with or without a window, with or without experts.
_ATTENTION = frozenset(
    (
        *("llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "phi3", "gemma", "gemma2", "opt"),
        *("gemma3", "gemma3_text", "gpt_oss", "granite", "starcoder2", "olmo2", "llama4", "llama4_text", "falcon"),
    )
)
_LATENT = frozenset(("deepseek_v2", "deepseek_v3", "kimi_k2"))
_STATEFUL = frozenset(("qwen3_next", "nemotron_h"))
# What `--dtype auto`, the default, makes of a checkpoint: 16 bits of 32.
_AUTO = {"float32": "float16"}
# No request of any model has more tokens.
_LONGEST = 10**9
KNOWN = _ATTENTION | _LATENT | _STATEFUL
_KINDS = {
    "full_attention": Kind.FULL,
    "sliding_attention": Kind.SLIDING,
    "chunked_attention": Kind.CHUNKED,
    "linear_attention": Kind.STATE,
}
# One layer in so many attends to everything, where the file does not list its layers.
_FULL_ONE_IN = {
    "gemma2": 2,
    "gemma3": 6,
    "gemma3_text": 6,
    "gpt_oss": 2,
    "llama4": 4,
    "llama4_text": 4,
    "qwen3_next": 4,
}


def architecture(
    config: Mapping[str, Any], name: str, source: str, given_parameters: int | None = None
) -> Architecture:
    """
    Return what a `config.json` says.

    `given_parameters` is the published number of weights, counted from the shapes where it is None.
    Raises CapacityError for a model type that is not known, and for a file in which something is missing.
    """
    kind = str(config.get("model_type") or "")
    if kind not in KNOWN:
        raise CapacityError(
            f"{name}: the model type {kind!r} is not known here: what its layers keep of a request has to be read from "
            f"its code, and a guess would be worse than nothing. Known are {', '.join(sorted(KNOWN))}"
        )
    # Models that see or hear keep the part that writes in a section of its own.
    text = config["text_config"] if isinstance(config.get("text_config"), Mapping) else config
    fields = Fields(text, name, kind)
    layers = _latent(fields) if kind in _LATENT else _by_kind(fields)
    if given_parameters is None and kind in _STATEFUL:
        raise CapacityError(f"{name}: the weights of a {kind} cannot be counted from its shapes: give --weights-gib")
    count = given_parameters or parameters(fields)
    heads, positions = fields.count("num_attention_heads", "n_head"), _positions(fields)
    fields.complain()
    dtype = str(config.get("torch_dtype") or config.get("dtype") or text.get("torch_dtype") or "bfloat16")
    loaded = _weights_dtype(config, _AUTO.get(dtype, dtype))
    return Architecture(name, layers, count, positions, loaded, attention_heads=heads, source=source)


def _weights_dtype(config: Mapping[str, Any], dtype: str) -> str:
    quantised = config.get("quantization_config")
    if not isinstance(quantised, Mapping):
        return dtype
    return str(quantised.get("quant_method") or dtype)


def _positions(fields: Fields) -> int:
    positions = fields.count("max_position_embeddings", "n_positions")
    scaling = fields.get("rope_scaling")
    # Llama's own scaling is in the number already; YaRN multiplies it.
    if isinstance(scaling, Mapping) and "yarn" in (scaling.get("type"), scaling.get("rope_type")):
        factor, original = scaling.get("factor", 1), scaling.get("original_max_position_embeddings") or positions
        if all(isinstance(size, int | float) and 0 < size < _LONGEST for size in (factor, original)):
            return max(positions, int(factor * original))
        fields.lacks("numbers in rope_scaling")
    return positions


def _latent(fields: Fields) -> tuple[Layers, ...]:
    size = fields.count("kv_lora_rank") + fields.count("qk_rope_head_dim")
    return (Layers(Kind.LATENT, fields.count("num_hidden_layers"), 1, size),)


def _by_kind(fields: Fields) -> tuple[Layers, ...]:
    heads, size = fields.kv_heads(), fields.head_size()
    built = []
    for kind, count in _counted(fields).items():
        match kind:
            case Kind.STATE:
                state = mamba2(fields) if fields.kind == "nemotron_h" else gated_delta(fields)
                built.append(Layers(kind, count, state_bytes=state))
            case Kind.SLIDING:
                built.append(Layers(kind, count, heads, size, size, fields.count("sliding_window")))
            case Kind.CHUNKED:
                built.append(Layers(kind, count, heads, size, size, fields.count("attention_chunk_size")))
            case _:
                built.append(Layers(kind, count, heads, size, size))
    return tuple(built)


def _counted(fields: Fields) -> dict[Kind, int]:
    """Return how many layers there are of each kind."""
    if isinstance(pattern := fields.get("hybrid_override_pattern"), str):
        # Nemotron-H: M a state, * attention, - neither.
        return {Kind.FULL: pattern.count("*"), Kind.STATE: pattern.count("M")}
    if isinstance(types := fields.get("layer_types"), list):
        return _listed(fields, types)
    total = fields.count("num_hidden_layers", "n_layer")
    if one_in := _one_in(fields):
        full = total // one_in
        return {Kind.FULL: full, _other(fields.kind): total - full}
    windowed = bool(fields.get("sliding_window")) and fields.get("use_sliding_window") is not False
    # Qwen writes a window into files of models that have none: there it counts when it is switched on.
    if fields.kind.startswith("qwen") and fields.get("use_sliding_window") is not True:
        windowed = False
    return {Kind.SLIDING if windowed else Kind.FULL: total}


def _listed(fields: Fields, types: list[Any]) -> dict[Kind, int]:
    counted: dict[Kind, int] = {}
    for each in types:
        kind = _KINDS.get(str(each))
        if kind is None:
            raise CapacityError(f"{fields.name}: layers of the type {str(each)!r} are not known here")
        counted[kind] = counted.get(kind, 0) + 1
    return counted


def _one_in(fields: Fields) -> int | None:
    if fields.kind not in _FULL_ONE_IN:
        return None
    written = fields.get("sliding_window_pattern") or fields.get("full_attention_interval")
    return int(written) if isinstance(written, int) and written > 0 else _FULL_ONE_IN[fields.kind]


def _other(kind: str) -> Kind:
    if kind == "qwen3_next":
        return Kind.STATE
    return Kind.CHUNKED if kind.startswith("llama4") else Kind.SLIDING
