"""What is known of vLLM's metrics: which family which version has, under which name, with which labels and buckets."""
