"""`vllm-monitor healthcheck`: asks the daemon beside it, for a container's health check."""

import requests

from monitor.config.config import Config

TIMEOUT_SECONDS = 3
ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def problem(config: Config) -> str:
    """Return why the daemon of `config` is not healthy, or ""."""
    listen = config.web.listen
    address = listen._replace(host=ANYWHERE.get(listen.host, listen.host))
    try:
        answer = requests.get(f"http://{address}/-/healthy", timeout=TIMEOUT_SECONDS, allow_redirects=False)
    except requests.RequestException as err:
        return f"{address} does not answer: {type(err).__name__}"
    return "" if answer.ok else f"{address} answers {answer.status_code}"
