"""What a server is shown of who asks, and whom TLS trusts, in Prometheus' words."""

from collections.abc import Iterator
from typing import ClassVar

from monitor.config import not_yet
from monitor.config.fields import FilePath, SecretText
from monitor.yamldoc.kinds import Boolean, Text
from monitor.yamldoc.section import Section


class Authorization(Section):
    """The Authorization header: a scheme and what proves it."""

    not_yet: ClassVar[dict[str, str]] = not_yet.AUTHORIZATION

    type: Text = "Bearer"
    credentials: SecretText | None = None
    credentials_file: FilePath | None = None

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.type.lower() == "basic":
            yield "type", 'the type cannot be "Basic": use basic_auth'
        if self.credentials and self.credentials_file:
            yield "credentials_file", "at most one of credentials and credentials_file can be set"


class BasicAuth(Section):
    not_yet: ClassVar[dict[str, str]] = not_yet.BASIC_AUTH

    username: Text = ""
    password: SecretText | None = None
    password_file: FilePath | None = None

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.password and self.password_file:
            yield "password_file", "at most one of password and password_file can be set"


class TLSConfig(Section):
    not_yet: ClassVar[dict[str, str]] = not_yet.TLS_CONFIG

    ca_file: FilePath | None = None
    cert_file: FilePath | None = None
    key_file: FilePath | None = None
    server_name: Text = ""
    insecure_skip_verify: Boolean = False

    def problems(self) -> Iterator[tuple[str, str]]:
        if (self.cert_file is None) != (self.key_file is None):
            missing = "key_file" if self.key_file is None else "cert_file"
            yield missing, f"a client certificate needs cert_file and key_file: {missing} is not set"


class CredentialsConfig(Section):
    """What a server is shown of who asks or posts, and whom TLS trusts."""

    authorization: Authorization | None = None
    basic_auth: BasicAuth | None = None
    tls_config: TLSConfig = TLSConfig()

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.authorization and self.basic_auth:
            yield "basic_auth", "at most one of basic_auth and authorization can be set"


class HttpClientConfig(CredentialsConfig):
    """How a server is asked: the keys that a scrape and a discovery over HTTP share."""

    follow_redirects: Boolean = True
