"""Who is at the other end of a socket, and is that process still there?"""

from __future__ import annotations

import socket
import struct
from pathlib import Path
from typing import NamedTuple

_CREDENTIALS = struct.Struct("3i")


class Peer(NamedTuple):
    """The process at the other end, as the kernel tells it."""

    process: int
    user: int


def peer_of(connection: socket.socket) -> Peer:
    """Return who opened the other end of a Unix socket.

    >>> one, other = socket.socketpair()
    >>> import os
    >>> peer_of(one) == Peer(os.getpid(), os.getuid())
    True
    >>> one.close(), other.close()
    (None, None)
    """
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    process, user, _ = _CREDENTIALS.unpack(credentials)
    return Peer(process, user)


def started(process: int) -> int:
    """Return when a process started, in clock ticks since boot; 0 = there is no such process, or it has ended.

    >>> import os
    >>> started(os.getpid()) > 0, started(1 << 30)
    (True, 0)
    """
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    state, *fields = stat.rpartition(")")[2].split()
    return 0 if state in ("Z", "X") else int(fields[18])
