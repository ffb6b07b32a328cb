"""
Who may come in: users by name and password, programs by a token, the daemon's own children by one of their own.

reference: Prometheus exporter-toolkit, web configuration: `basic_auth_users` with bcrypt hashes, one comparison cached.
"""

import atexit
import hmac
import threading
from base64 import b64decode
from binascii import Error as Base64Error
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from secrets import token_bytes, token_urlsafe

# Probes of a container have no password, and learn nothing by these.
OPEN = frozenset(("/-/healthy", "/-/ready", "/-/active"))
CHALLENGE = 'Basic realm="vllm-monitor", charset="UTF-8"'
# bcrypt looks at no more of a password.
_LONGEST_PASSWORD_BYTES = 72
# Whoever was let in is not asked the slow question again; so many are remembered.
_REMEMBERED = 100
# So many wait for the slow question, a tenth of a second each; the HTTP server has threads for them.
GUESSING = 8
_LONGEST_HEADER = 4096


def own_token() -> str:
    """Return a token that nobody outside this process knows."""
    return token_urlsafe(32)


# One at a time in the whole process, whatever is reloaded meanwhile.
_COMPARING = threading.Lock()
# The comparison is no Python: a thread in the midst of it would abort the process that ends.
atexit.register(_COMPARING.acquire, timeout=10.0)


class BusyError(Exception):
    """Too many passwords are being compared: whoever guesses must not take the threads of others."""


class _Passwords:
    """
    The slow comparison, one at a time so that guessing leaves threads and processors to others.

    Whoever was let in before waits for no other.
    """

    def __init__(self) -> None:
        self._key = token_bytes(32)
        self._lock = threading.Lock()
        self._inside = threading.BoundedSemaphore(GUESSING)
        self._fitted: OrderedDict[bytes, None] = OrderedDict()

    def fits(self, name: str, password: str, hashed: bytes) -> bool:
        """Say whether it is the password of the hash; raises BusyError."""
        given = password.encode()
        mark = self._mark(b"\0".join((name.encode(), hashed, given)))
        with self._lock:
            if mark in self._fitted:
                return True
        if not self._inside.acquire(blocking=False):
            raise BusyError
        try:
            right = self._compared(given, hashed)
        finally:
            self._inside.release()
        if right:
            self._remember(mark)
        return right

    def like(self, name: str, hashes: Sequence[bytes]) -> bytes:
        """Return the same one of the hashes for a name each time: its cost tells nobody whether the name is known."""
        return hashes[int.from_bytes(self._mark(name.encode())) % len(hashes)]

    def _mark(self, content: bytes) -> bytes:
        return blake2b(content, key=self._key).digest()

    def _compared(self, given: bytes, hashed: bytes) -> bool:
        import bcrypt  # only where somebody has a password

        with _COMPARING:
            try:
                return bcrypt.checkpw(given[:_LONGEST_PASSWORD_BYTES], hashed)
            except ValueError:
                # A NUL in the password, which no hash was made of.
                return False

    def _remember(self, mark: bytes) -> None:
        with self._lock:
            self._fitted[mark] = None
            if len(self._fitted) > _REMEMBERED:
                self._fitted.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Access:
    """
    Judges the Authorization header; without users and token anybody may come in.

    `users` are names and the bcrypt hashes of their passwords; `token` returns the one that programs show, and raises
    LookupError while there is none to be had. `own` lets the daemon's children in. `elsewhere` are the paths that
    judge for themselves, with all below them.
    """

    users: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    token: Callable[[], str] | None = field(default=None, repr=False)
    own: str = field(default="", repr=False)
    elsewhere: frozenset[str] = frozenset()
    _passwords: _Passwords = field(default_factory=_Passwords, repr=False, compare=False)

    @property
    def is_open(self) -> bool:
        return not self.users and self.token is None

    def lets_in(self, path: str, authorization: str | None) -> bool:
        """Say whether a request for `path` with this header is answered; raises BusyError."""
        if self.is_open or path in OPEN or any(path == one or path.startswith(f"{one}/") for one in self.elsewhere):
            return True
        if not authorization or len(authorization) > _LONGEST_HEADER:
            return False
        scheme, _, proof = authorization.partition(" ")
        if scheme.lower() == "bearer":
            return self._knows(proof.strip())
        return scheme.lower() == "basic" and self._is_user(proof.strip())

    def _knows(self, shown: str) -> bool:
        if self.own and _same(shown, self.own):
            return True
        if self.token is None:
            return False
        try:
            return _same(shown, self.token())
        except LookupError:
            return False

    def _is_user(self, proof: str) -> bool:
        try:
            name, colon, password = b64decode(proof, validate=True).decode().partition(":")
        except (Base64Error, UnicodeDecodeError):
            return False
        if not colon or not self.users:
            return False
        known = self.users.get(name)
        # Who is not known waits as long as who is: the time must not tell which names there are.
        right = self._passwords.fits(name, password, known or self._passwords.like(name, [*self.users.values()]))
        return right and known is not None


def _same(shown: str, expected: str) -> bool:
    return bool(expected) and hmac.compare_digest(shown.encode(), expected.encode())
