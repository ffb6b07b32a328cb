"""The arithmetic of vLLM's KV cache: bytes a token, blocks, requests at once. Pure numbers and text."""
