"""How receivers at a URL are told: one request, one answer, and what the answer means for the next attempt."""

import http.client
import ssl
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.error import URLError
from urllib.request import Request

from monitor import __version__
from monitor.dispatch.notification import NotifyError
from monitor.model.instant import SECOND, Duration
from monitor.notify.failure import Reason, cause, failure, wait
from monitor.notify.secret import Secret
from monitor.notify.transport import Answer, Transport, is_web_address

_OK, _REDIRECT, _TOO_MANY = 200, 300, 429
_BAD_REQUEST, _SERVER_ERROR = 400, 500
_BY_STATUS = {
    401: Reason.CREDENTIAL,
    402: Reason.CREDENTIAL,
    403: Reason.CREDENTIAL,
    404: Reason.DESTINATION,
    405: Reason.DESTINATION,
    407: Reason.DESTINATION,
    408: Reason.AMBIGUOUS,
    410: Reason.DESTINATION,
    421: Reason.DESTINATION,
    425: Reason.RATE_LIMITED,
}
# What urllib and http.client throw; RuntimeError when no thread can be started for the deadline.
_THROWN = (OSError, http.client.HTTPException, ValueError, RuntimeError)


@dataclass(frozen=True, slots=True)
class Authorization:
    """The header Authorization: a scheme and the secret behind it; with `username`, the scheme is Basic."""

    secret: Secret
    scheme: str = "Bearer"
    username: str | None = None

    def header(self) -> str:
        """Return the value; raises NotifyError when the secret cannot be read."""
        secret = self.secret.get()
        if self.username is None:
            return f"{self.scheme} {secret}"
        return "Basic " + b64encode(f"{self.username}:{secret}".encode()).decode()


@dataclass(frozen=True, slots=True)
class Tls:
    """Files in PEM; `server_name` is the name the certificate must have, where it is not that of the URL."""

    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    server_name: str = ""
    insecure_skip_verify: bool = False

    def context(self) -> ssl.SSLContext:
        """
        Return how TLS is spoken; raises NotifyError when a file cannot be used.

        The files are read anew, so that a renewed certificate counts at once.
        """
        try:
            return self._context()
        except (OSError, ValueError) as err:
            why = "not PEM" if isinstance(err, ssl.SSLError | ValueError) else type(err).__name__
            raise failure(Reason.CREDENTIAL, f"a file of tls_config cannot be used: {why}") from err

    def _context(self) -> ssl.SSLContext:
        context = _Named(ssl.PROTOCOL_TLS_CLIENT)
        context.server_name = self.server_name
        if self.insecure_skip_verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        elif self.ca_file:
            context.load_verify_locations(self.ca_file)
        else:
            context.load_default_certs()
        if self.cert_file:
            context.load_cert_chain(self.cert_file, self.key_file)
        return context


class _Named(ssl.SSLContext):
    """Expects another name than the URL's, where one is given."""

    server_name = ""

    def wrap_socket(self, *arguments: Any, **named: Any) -> ssl.SSLSocket:
        return super().wrap_socket(
            *arguments, **named | ({"server_hostname": self.server_name} if self.server_name else {})
        )


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """How an address is reached; `timeout` is for a whole exchange, in milliseconds."""

    authorization: Authorization | None = None
    tls: Tls = field(default_factory=Tls)
    timeout: Duration = 10 * SECOND


class Address:
    """
    One URL that is a secret. Whatever is raised here is a NotifyError that holds nothing of it.

    `meaning` says what an answer other than success is; without it, what its status says.
    """

    def __init__(
        self, url: Secret, options: HttpOptions | None = None, meaning: Callable[[Answer], NotifyError] | None = None
    ) -> None:
        self._url = url
        self._meaning = meaning or refused
        self._options = options or HttpOptions()
        context = self._options.tls.context if self._options.tls != Tls() else None
        self._transport = Transport(self._options.timeout, context=context)

    def post(self, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Return the answer with a status of success; raises NotifyError for every other."""
        return self._send("POST", body, headers)

    def get(self) -> Answer:
        """The same without a body."""
        return self._send("GET", None, {})

    def delete(self) -> Answer:
        """The same, to take away what is there."""
        return self._send("DELETE", None, {})

    def _send(self, method: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        url = self._url.get()
        if not is_web_address(url):
            raise failure(Reason.DESTINATION, "the address is not an http or https URL")
        own = {"User-Agent": f"vllm-monitor/{__version__}"}
        if self._options.authorization is not None:
            own["Authorization"] = self._options.authorization.header()
        # The scheme was looked at above.
        request = Request(url, body, {**headers, **own}, method=method)  # noqa: S310
        try:
            answer = self._transport.send(request)
        except _THROWN as err:
            # Not `from err`: the text of an error of urllib may hold the URL.
            raise thrown(err) from None
        if not _OK <= answer.status < _REDIRECT:
            raise self._meaning(answer)
        return answer


def thrown(error: Exception) -> NotifyError:
    """Return what an error of urllib or http.client means. Nothing of its text is kept: that may be a URL."""
    if isinstance(error, URLError):
        # Thrown while connecting and sending only: an incomplete request is never carried out.
        return failure(Reason.UNREACHABLE, f"the receiver cannot be reached: {cause(error.reason)}")
    if isinstance(error, http.client.InvalidURL | ValueError):
        return failure(Reason.DESTINATION, "the address is not a URL")
    if isinstance(error, TimeoutError):
        return failure(Reason.AMBIGUOUS, "the receiver did not answer in time")
    return failure(Reason.AMBIGUOUS, f"the connection broke before the answer: {type(error).__name__}")


def refused(answer: Answer) -> NotifyError:
    """
    Return what an answer other than success means: by its status alone, for its text is the receiver's.

    A receiver that is overloaded says when it wants to be asked again, with 429 or 503 as well.
    """
    status, retry_after = answer.status, wait(answer.headers.get("retry-after"))
    if status == _TOO_MANY:
        return failure(Reason.RATE_LIMITED, "the receiver asks for fewer messages (429)", retry_after)
    if _REDIRECT <= status < _BAD_REQUEST:
        return failure(Reason.REDIRECT, f"the address answers with a redirect ({status}), which is not followed")
    if status >= _SERVER_ERROR:
        return failure(Reason.AMBIGUOUS, f"the receiver failed (status {status})", retry_after)
    reason = _BY_STATUS.get(status, Reason.MESSAGE if status >= _BAD_REQUEST else Reason.AMBIGUOUS)
    return failure(reason, f"the receiver refused (status {status})", retry_after if reason.retryable else None)
