"""
What a request's state takes in one recurrent layer, in bytes, whatever the length of the request.

The state is kept in 16 bits, as vLLM does by default, and in 32 with `--dtype float32`; `--mamba-ssm-cache-dtype` would
double the larger part alone, and is not known here.
reference: vLLM 0.33, shapes of Mamba 2 and gated delta net states.
"""

from monitor.capacity.fields import Fields

_BYTES = 2


def mamba2(fields: Fields) -> int:
    """Return the state of a Mamba 2 layer: what its convolution looks back on, and a matrix a head."""
    heads, size = fields.count("mamba_num_heads"), fields.count("mamba_head_dim")
    state, groups = fields.count("ssm_state_size"), fields.count("n_groups")
    convolved = heads * size + 2 * groups * state
    return _BYTES * (convolved * (fields.count("conv_kernel") - 1) + heads * size * state)


def gated_delta(fields: Fields) -> int:
    """Return the state of a gated delta net layer."""
    keys = fields.count("linear_num_key_heads") * fields.count("linear_key_head_dim")
    values = fields.count("linear_num_value_heads") * fields.count("linear_value_head_dim")
    window = fields.count("linear_conv_kernel_dim") - 1
    return _BYTES * ((2 * keys + values) * window + values * fields.count("linear_key_head_dim"))
