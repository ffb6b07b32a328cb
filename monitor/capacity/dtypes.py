"""
How many bytes a number takes: in the KV cache, and in the weights.

reference: vLLM 0.33, `--kv-cache-dtype` and `--quantization`.
"""

from collections.abc import Mapping

from monitor.capacity.failure import CapacityError

# What `--kv-cache-dtype` may be, as bytes a number. Sizes of the newer ones are set by the attention backend.
KV_BYTES: Mapping[str, float] = {
    "bfloat16": 2,
    "float16": 2,
    "float32": 4,
    "fp8": 1,
    "fp8_e4m3": 1,
    "fp8_e5m2": 1,
    "int8": 1,
}
# Weights, as bytes a parameter. Four bits carry a scale and a zero point for each 128 weights, and leave the embeddings
# in 16 bits; what that comes to differs from model to model by some percent.
WEIGHT_BYTES: Mapping[str, float] = {
    "float32": 4,
    "bfloat16": 2,
    "float16": 2,
    "fp8": 1,
    "int8": 1,
    "awq": 0.56,
    "gptq": 0.56,
    "int4": 0.56,
    "mxfp4": 0.54,
    "nvfp4": 0.57,
}
_COMPUTED = ("bfloat16", "float16", "float32")
# What `--dtype` may be beside `auto`.
_DTYPES = {"half": "float16", "float": "float32"} | {name: name for name in _COMPUTED}
_SHORT = {"bf16": "bfloat16", "fp16": "float16", "half": "float16", "fp32": "float32", "float": "float32"}


def computed_in(dtype: str, weights_dtype: str) -> str:
    """
    Return the type that a model computes in with `--dtype`: `auto` is that of its weights.

    Quantised weights are unpacked to 16 bits. Raises CapacityError for a type that vLLM does not have.
    """
    if dtype == "auto":
        weights = _SHORT.get(weights_dtype, weights_dtype)
        return weights if weights in _COMPUTED else "bfloat16"
    found = _DTYPES.get(dtype)
    if found is None:
        raise CapacityError(f"--dtype {dtype!r} is not one of auto, {', '.join(_DTYPES)}")
    return found


def loaded_in(dtype: str, weights_dtype: str) -> str:
    """Return the type that weights are loaded in: as `--dtype` says, but for those that are quantised."""
    plain = _SHORT.get(weights_dtype, weights_dtype) in _COMPUTED
    return computed_in(dtype, weights_dtype) if plain else weights_dtype


def kv_bytes(dtype: str, model_dtype: str) -> float:
    """
    Return the bytes of a number in the KV cache; `auto` is the type that the model computes in.

    Raises CapacityError for a type whose size the attention backend chooses.
    """
    return _looked_up(KV_BYTES, model_dtype if dtype == "auto" else dtype, "--kv-cache-dtype")


def weight_bytes(dtype: str) -> float:
    """Return the bytes of a parameter. Raises CapacityError for a type that is not known."""
    return _looked_up(WEIGHT_BYTES, dtype, "the type of the weights")


def _looked_up(table: Mapping[str, float], dtype: str, what: str) -> float:
    found = table.get(_SHORT.get(dtype, dtype))
    if found is None:
        raise CapacityError(f"{what} {dtype!r} is not one of {', '.join(table)}: its size is not known here")
    return found
