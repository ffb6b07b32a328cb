"""What /metrics does not say: /health, /version, /v1/models, /load, the KV pool, exposure and a canary, as series."""
