"""How somebody else's HTTP server is spoken to: `http_config`, in Alertmanager's words."""

from pathlib import Path
from typing import ClassVar

from monitor.config import not_yet
from monitor.config.clients import CredentialsConfig, TLSConfig
from monitor.config.secret import held
from monitor.model.instant import Duration
from monitor.notify import http


class HttpConfig(CredentialsConfig):
    """How somebody is posted to: no redirect is followed."""

    not_yet: ClassVar[dict[str, str]] = not_yet.HTTP_CONFIG

    def options(self, timeout: Duration) -> http.HttpOptions:
        """Return it as a sender takes it; `timeout` is for a whole exchange, in milliseconds."""
        return http.HttpOptions(self._shown(), _tls(self.tls_config), timeout)

    def _shown(self) -> http.Authorization | None:
        if self.basic_auth is not None:
            given = self.basic_auth
            return http.Authorization(held(given.password, given.password_file), username=given.username)
        if self.authorization is not None:
            shown = self.authorization
            return http.Authorization(held(shown.credentials, shown.credentials_file), shown.type)
        return None


def _tls(given: TLSConfig) -> http.Tls:
    return http.Tls(
        _path(given.ca_file),
        _path(given.cert_file),
        _path(given.key_file),
        given.server_name,
        given.insecure_skip_verify,
    )


def _path(path: Path | None) -> str:
    return str(path) if path is not None else ""
