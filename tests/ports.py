"""
Ports of the loopback for programs that are told one and cannot say which they took.

A port that was free a moment ago may be another's by the time that a program listens on it: the kernel gives it to
whoever asks for any. So these are below those that it gives away (32768 and above), and each is given out once: a
datagram socket on the same number, which no such program has, holds it for as long as this process runs.
"""

import atexit
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice

_FIRST, _LAST = 12_000, 32_000
# Two processes seldom begin at the same place; where they do, one finds the port held, and takes the next.
_BEGIN = os.getpid() * 61 % (_LAST - _FIRST)
_candidates = islice(cycle(range(_FIRST, _LAST)), _BEGIN, None)


def free_port() -> int:
    """Return a port that nobody listens on, and that nobody else is given while this process runs."""
    return next(port for port in islice(_candidates, _LAST - _FIRST) if _held(port))


@contextmanager
def silent_port() -> Iterator[int]:
    """Yield a port on which connections are refused until the block ends."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def _held(port: int) -> bool:
    holder = socket.socket(type=socket.SOCK_DGRAM)
    try:
        holder.bind(("127.0.0.1", port))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
    except OSError:
        holder.close()
        return False
    atexit.register(holder.close)
    return True
