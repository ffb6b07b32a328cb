"""How many weights a model has, counted from the shapes in its `config.json`. Norms and biases are left out: 0.1 %."""

from monitor.capacity.fields import Fields

# Models whose feed-forward part has two matrices instead of three.
_UNGATED = frozenset(("opt", "falcon", "starcoder2"))


def parameters(fields: Fields) -> int:
    """Return the number of weights, of all experts; fields that are missing are noted in `fields`."""
    hidden = fields.count("hidden_size", "n_embd")
    layers = fields.count("num_hidden_layers", "n_layer")
    dense = min(layers, fields.maybe("first_k_dense_replace") or 0)
    experts = fields.maybe("num_local_experts", "num_experts", "n_routed_experts")
    tables = 1 if fields.get("tie_word_embeddings") or fields.kind in ("opt", "gemma2", "gemma3", "gemma3_text") else 2
    total = fields.count("vocab_size") * hidden * tables + layers * _attention(fields, hidden)
    if experts is None:
        return total + layers * _feed_forward(fields, hidden)
    return total + dense * _feed_forward(fields, hidden) + (layers - dense) * _experts(fields, hidden, experts)


def _attention(fields: Fields, hidden: int) -> int:
    heads = fields.count("num_attention_heads", "n_head")
    if fields.maybe("kv_lora_rank") is not None:
        return _latent_attention(fields, hidden, heads)
    size = fields.head_size()
    return 2 * hidden * heads * size + 2 * hidden * fields.kv_heads() * size


def _latent_attention(fields: Fields, hidden: int, heads: int) -> int:
    """Return the weights of a layer that keeps a latent vector: down to it, and up from it again."""
    latent, rope = fields.count("kv_lora_rank"), fields.count("qk_rope_head_dim")
    key, value = fields.count("qk_nope_head_dim"), fields.count("v_head_dim")
    query = heads * (key + rope)
    low = fields.maybe("q_lora_rank")
    queries = hidden * query if low is None else hidden * low + low * query
    return queries + hidden * (latent + rope) + latent * heads * (key + value) + heads * value * hidden


def _feed_forward(fields: Fields, hidden: int) -> int:
    width = fields.maybe("intermediate_size", "ffn_dim", "ffn_hidden_size") or 4 * hidden
    return (2 if fields.kind in _UNGATED else 3) * hidden * width


def _experts(fields: Fields, hidden: int, experts: int) -> int:
    width = fields.maybe("moe_intermediate_size") or fields.count("intermediate_size")
    shared = fields.maybe("n_shared_experts") or 0
    own = width if fields.kind.startswith("llama4") else fields.maybe("shared_expert_intermediate_size") or 0
    return 3 * hidden * (width * (experts + shared) + own) + hidden * experts
