"""How the daemon's own HTTP side is protected: a file in the words of Prometheus' `--web.config.file`."""

import re
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, PlainValidator

from monitor.config import not_yet
from monitor.config.fields import FilePath, one_of
from monitor.yamldoc.compose import read_document
from monitor.yamldoc.kinds import text
from monitor.yamldoc.mistake import shown
from monitor.yamldoc.report import Report
from monitor.yamldoc.section import Section
from monitor.yamldoc.source import is_file, read_bytes

_HASH = re.compile(r"\$2[abxy]?\$(?P<cost>[0-9]{2})\$[./A-Za-z0-9]{53}")
# Each further one doubles the time; this one takes seconds.
_HIGHEST_COST = 15
# What is asked of a client, and whether a certificate is verified where one is shown.
_VERIFY = {
    "NoClientCert": ssl.CERT_NONE,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}
# Go takes a certificate without looking at it, which proves nothing of who shows it.
_UNVERIFIED = ("RequestClientCert", "RequireAnyClientCert")
_VERSIONS = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}


def _client_auth(value: Any) -> str:
    written = text(value)
    if written in _UNVERIFIED:
        raise ValueError(f"{written} takes any certificate without a look at it: use RequireAndVerifyClientCert")
    return one_of(*_VERIFY)(written)


def _hash(value: Any) -> bytes:
    written = text(value)
    found = _HASH.fullmatch(written)
    if found is None:
        # Somebody may have written the password itself.
        raise ValueError("is no bcrypt hash (htpasswd -nBC 10 NAME makes one)")
    if not 4 <= int(found["cost"]) <= _HIGHEST_COST:  # noqa: PLR2004 - bcrypt's own least
        raise ValueError(f"a cost of {int(found['cost'])} takes too long each time: use 10 to {_HIGHEST_COST}")
    return written.encode()


def _user(value: Any) -> str:
    written = text(value)
    if not written or ":" in written:
        raise ValueError(f"{shown(written)} is no name of a user: it is empty or has a colon")
    return written


_Version = Annotated[str, PlainValidator(one_of(*_VERSIONS))]
_Hash = Annotated[bytes, PlainValidator(_hash)]
_User = Annotated[str, PlainValidator(_user)]


class TlsServerConfig(Section):
    """The certificate of the daemon, and what it asks of those that come."""

    not_yet: ClassVar[dict[str, str]] = not_yet.TLS_SERVER_CONFIG

    cert_file: FilePath
    key_file: FilePath
    client_auth_type: Annotated[str, PlainValidator(_client_auth)] = "NoClientCert"
    client_ca_file: FilePath | None = None
    min_version: _Version = "TLS12"
    max_version: _Version = "TLS13"

    def problems(self) -> Iterator[tuple[str, str]]:
        asks = self.client_auth_type != "NoClientCert"
        if asks and self.client_ca_file is None:
            yield "client_ca_file", f"must be set: {self.client_auth_type} verifies by it"
        if not asks and self.client_ca_file is not None:
            yield "client_ca_file", "has no effect: set client_auth_type to RequireAndVerifyClientCert"
        if (self.min_version, self.max_version) == ("TLS13", "TLS12"):
            yield "max_version", "is lower than min_version"
        for name in ("cert_file", "key_file", "client_ca_file"):
            path: Path | None = getattr(self, name)
            if path is not None and not is_file(path):
                yield name, f"{shown(str(path))} does not exist"

    @property
    def verify(self) -> ssl.VerifyMode:
        return _VERIFY[self.client_auth_type]

    @property
    def minimum(self) -> ssl.TLSVersion:
        return _VERSIONS[self.min_version]

    @property
    def maximum(self) -> ssl.TLSVersion:
        return _VERSIONS[self.max_version]


class WebFile(Section):
    """
    Who may come in, and how it is spoken; with nothing of it anybody may, in plain HTTP.

    `basic_auth_users` are names and bcrypt hashes. `bearer_token_file` is ours: what programs show.
    """

    not_yet: ClassVar[dict[str, str]] = not_yet.WEB_FILE

    tls_server_config: TlsServerConfig | None = None
    basic_auth_users: dict[_User, _Hash] = Field(default_factory=dict, repr=False)
    bearer_token_file: FilePath | None = None

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.bearer_token_file is not None and not is_file(self.bearer_token_file):
            yield "bearer_token_file", f"{shown(str(self.bearer_token_file))} does not exist"

    @property
    def is_open(self) -> bool:
        """Whether anybody who reaches the port may do anything."""
        return (
            not self.basic_auth_users
            and self.bearer_token_file is None
            and (self.tls_server_config is None or self.tls_server_config.verify is not ssl.CERT_REQUIRED)
        )


def read_web_file(path: Path) -> WebFile:
    """Return what stands in a file; raises DocumentError with all its mistakes."""
    report = Report(read_document(read_bytes(path), str(path)), lambda _root, _loc: "")
    found = report.read(WebFile)
    report.raise_if_wrong()
    return found or WebFile()
