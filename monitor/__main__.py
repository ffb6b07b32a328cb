"""`python -m monitor` is `vllm-monitor`."""

from monitor.cli import main

main()
