"""vllm-monitor: tells the on-call engineer in Slack that a vLLM server is in trouble, why, and what to do."""

__version__ = "0.1.0"
