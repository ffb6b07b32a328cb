"""Who may ask the HTTP side: from the configuration to what judges each request, anew at a reload."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from monitor.config.config import Config
from monitor.config.webfile import WebFile
from monitor.dispatch.notification import NotifyError
from monitor.notify.secret import Secret
from monitor.web.access import Access, own_token
from monitor.web.application import Guarding
from monitor.web.origin import Guard, Refusal, is_loopback
from monitor.web.received import PATH as ALERTMANAGER
from monitor.web.slack_actions import PATH as SLACK_ACTIONS

if TYPE_CHECKING:
    from monitor.web.tls import TlsFiles


class Entrance:
    """What is judged by now. `token` lets the daemon's own children in, whatever else is asked for."""

    def __init__(self) -> None:
        self.token = own_token()
        self._guard = Guard()
        self._access = Access()

    def admit(self, config: Config) -> None:
        """Judge by this configuration from now on."""
        web = config.web
        self._guard = Guard.of(web.listen.host, web.external_url, web.allowed_hosts)
        # Slack signs what it posts, and has no password; an Alertmanager may have one of its own.
        elsewhere = {SLACK_ACTIONS, *((ALERTMANAGER,) if config.alerting.webhook.shown is not None else ())}
        self._access = access_of(config.web_file, self.token, elsewhere)

    def guarding(self, refused: Callable[[Refusal], None]) -> Guarding:
        return Guarding(lambda: self._guard, refused, lambda: self._access)


def access_of(web: WebFile, own: str, elsewhere: Iterable[str] = ()) -> Access:
    """Return who may come in; `own` is what the daemon's children show, `elsewhere` the paths that judge themselves."""
    file = web.bearer_token_file
    token = _shown(Secret(file=file)) if file is not None else None
    return Access(web.basic_auth_users, token, own, frozenset(elsewhere))


def tls_of(web: WebFile) -> "TlsFiles | None":
    """Return how TLS is spoken, None for plain HTTP."""
    given = web.tls_server_config
    if given is None:
        return None
    from monitor.web.tls import TlsFiles  # asyncio, which nobody else has in memory

    return TlsFiles(given.cert_file, given.key_file, given.client_ca_file, given.verify, given.minimum, given.maximum)


def is_wide_open(config: Config) -> bool:
    """Say whether anybody on the network may ask, and set silences."""
    return config.web_file.is_open and not is_loopback(config.web.listen.host)


def _shown(secret: Secret) -> Callable[[], str]:
    def token() -> str:
        try:
            return secret.get()
        except NotifyError as err:
            raise LookupError(str(err)) from err

    return token
