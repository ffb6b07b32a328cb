"""The kinds of values that only the configuration has."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import PlainValidator, ValidationInfo

from monitor.config.secret import Hidden
from monitor.dispatch.matchers import parse_matchers
from monitor.model.instant import Duration
from monitor.model.matcher import Matcher
from monitor.yamldoc.kinds import duration, text
from monitor.yamldoc.mistake import shown
from monitor.yamldoc.section import Reading

_HOST_PORT = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+(?:%[\w.]+)?\]|[\w.-]*)(?::(?P<port>[0-9]{1,5}))?")
_HIGHEST_PORT = 65535


class Address(NamedTuple):
    """Where to listen; port 0 is any that is free."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def _host_port(written: str) -> tuple[str, int | None]:
    """Return both halves; raises ValueError."""
    found = _HOST_PORT.fullmatch(written)
    port = int(found["port"]) if found and found["port"] else None
    if found is None or (port or 0) > _HIGHEST_PORT:
        raise ValueError(f"{shown(written)} is not host:port")
    return found["host"], port


def target(value: Any) -> str:
    """Return `host:port` (or `host`), the address of a target."""
    written = text(value)
    if "://" in written:
        parts = urlsplit(written)
        hint = f"write {shown(parts.netloc)}" if parts.netloc else "write host:port"
        raise ValueError(f"{shown(written)} is a URL; {hint}, and put the rest in scheme and metrics_path")
    if "/" in written:
        raise ValueError(f"{shown(written)} has a path; write host:port, and put the path in metrics_path")
    if not _host_port(written)[0]:
        raise ValueError(f"{shown(written)} is not host:port")
    return written


def address(value: Any) -> Address:
    """Return where to listen; `:9109` is every interface."""
    if isinstance(value, Address):
        return value
    host, port = _host_port(text(value))
    if port is None:
        raise ValueError(f"{shown(text(value))} is not host:port")
    return Address(host.strip("[]") or "0.0.0.0", port)


def host_name(value: Any) -> str:
    """Return a name or an address in small letters; `*` is any."""
    written = text(value)
    if written == "*":
        return written
    host, port = ("", None) if "://" in written else _host_port(written)
    if not host or port is not None:
        raise ValueError(f'{shown(written)} is not the name of a host (without scheme and port, or "*")')
    return host.strip("[]").lower()


def _is_url(written: str) -> bool:
    try:
        parts = urlsplit(written)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 0) >= 0
    except ValueError:
        return False


def url(value: Any) -> str:
    written = text(value)
    if not _is_url(written):
        raise ValueError(f"{shown(written)} is not a URL (write http://… or https://…)")
    return written


def base_url(value: Any) -> str:
    """Return a URL that ends in a slash, so that a path can be put behind it."""
    return url(value).rstrip("/") + "/"


def url_path(value: Any) -> str:
    written = text(value)
    if not written.startswith("/"):
        raise ValueError(f'{shown(written)} does not begin with "/"')
    return written


def secret(value: Any) -> Hidden:
    if isinstance(value, Hidden):
        return value
    written = text(value).strip()
    if not written:
        raise ValueError("is empty")
    return Hidden(written)


def secret_url(value: Any) -> Hidden:
    """Return a URL that nobody may see; so the message does not show a wrong one either."""
    hidden = secret(value)
    if not _is_url(hidden.reveal()):
        raise ValueError("is not a URL (write https://…)")
    return hidden


def file_path(value: Any, info: ValidationInfo) -> Path:
    """Return a path; a relative one is meant from the folder of the document."""
    if isinstance(value, Path):
        return value
    written = text(value)
    if not written or "\0" in written:
        raise ValueError(f"{shown(written)} is not a path")
    reading = info.context
    return reading.folder / written if isinstance(reading, Reading) else Path(written)


def positive_duration(value: Any) -> Duration:
    found = duration(value)
    if found == 0:
        raise ValueError("must be longer than 0")
    return found


def matchers(value: Any) -> tuple[Matcher, ...]:
    """Return the matchers of one text."""
    return value if isinstance(value, tuple) else parse_matchers(text(value))


def one_of(*allowed: str) -> Callable[[Any], str]:
    def choose(value: Any) -> str:
        written = text(value)
        if written not in allowed:
            raise ValueError(f"{shown(written)} is not one of {', '.join(allowed)}")
        return written

    return choose


TargetAddress = Annotated[str, PlainValidator(target)]
ListenAddress = Annotated[Address, PlainValidator(address)]
HostName = Annotated[str, PlainValidator(host_name)]
Url = Annotated[str, PlainValidator(url)]
BaseUrl = Annotated[str, PlainValidator(base_url)]
UrlPath = Annotated[str, PlainValidator(url_path)]
SecretText = Annotated[Hidden, PlainValidator(secret)]
SecretUrl = Annotated[Hidden, PlainValidator(secret_url)]
FilePath = Annotated[Path, PlainValidator(file_path)]
PositiveDuration = Annotated[Duration, PlainValidator(positive_duration)]
Matchers = Annotated[tuple[Matcher, ...], PlainValidator(matchers)]
