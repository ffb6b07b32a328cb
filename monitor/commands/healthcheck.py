"""`vllm-monitor healthcheck`: asks the daemon beside it, for a container's health check."""

import ssl

import requests

from monitor.commands.ask import Way, asked_way
from monitor.config.config import Config

TIMEOUT_SECONDS = 3
ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def problem(config: Config) -> str:
    """Return why the daemon of `config` is not healthy, or ""."""
    listen = config.web.listen
    address = listen._replace(host=ANYWHERE.get(listen.host, listen.host))
    scheme = "http" if config.web_file.tls_server_config is None else "https"
    way = asked_way() or Way(context=_trusting() if scheme == "https" else None)
    try:
        answer = way("GET", f"{scheme}://{address}/-/healthy", timeout=TIMEOUT_SECONDS)
    except requests.RequestException as err:
        return f"{address} does not answer: {type(err).__name__}"
    return "" if answer.ok else f"{address} answers {answer.status_code}"


def _trusting() -> ssl.SSLContext:
    """Return how the daemon on this machine is asked: its certificate is for others, and it is told nothing."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
