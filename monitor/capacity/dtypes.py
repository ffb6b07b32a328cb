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
_SHORT = {"bf16": "bfloat16", "fp16": "float16", "half": "float16", "fp32": "float32", "float": "float32"}


def kv_bytes(dtype: str, weights_dtype: str) -> float:
    """
    Return the bytes of a number in the KV cache; `auto` is the type of the model.

    Raises CapacityError for a type whose size the attention backend chooses.
    """
    return _looked_up(KV_BYTES, _model_type(weights_dtype) if dtype == "auto" else dtype, "--kv-cache-dtype")


def weight_bytes(dtype: str) -> float:
    """Return the bytes of a parameter. Raises CapacityError for a type that is not known."""
    return _looked_up(WEIGHT_BYTES, dtype, "the type of the weights")


def _looked_up(table: Mapping[str, float], dtype: str, what: str) -> float:
    found = table.get(_SHORT.get(dtype, dtype))
    if found is None:
        raise CapacityError(f"{what} {dtype!r} is not one of {', '.join(table)}: its size is not known here")
    return found


def _model_type(weights_dtype: str) -> str:
    """Return the type a model computes in: quantised weights are unpacked to 16 bits, and so is what is cached."""
    dtype = _SHORT.get(weights_dtype, weights_dtype)
    return dtype if dtype in ("float32", "float16") else "bfloat16"
