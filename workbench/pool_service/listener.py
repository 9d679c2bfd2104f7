"""The service's socket: taken before anything that loads slowly, who may connect, whole requests out, replies in.

Policies and their compiler take seconds to import on a busy machine, and a client's patience ends after five. What lets
a client connect is therefore opened first: the clients of a killed service wait in the backlog meanwhile (spec 5, R5).
The listener waits for no client: a client's connection gives whole requests as they come, and says whose process is at
the other end and whether it is still there.
"""

from __future__ import annotations

import os
import resource
import select
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

from workbench.errors import InputError
from workbench.pool_service.folder import ServiceFolder, detach_all, whole_arenas
from workbench.pool_service.protocol import BUSY, REPLY, REQUEST

_OTHER_FILES = 64
"""Files that the service has open apart from its clients' ends."""


class Listener:
    """A socket at a path, for the processes of one user.

    Raises
    ------
    InputError
        It cannot be made.
    """

    def __init__(self, path: Path, owner: int) -> None:
        self._owner = owner
        self.most = max(resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _OTHER_FILES, 1)
        """Clients that can be served at a time."""
        with suppress(FileNotFoundError):
            path.unlink()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.setblocking(False)
        before = os.umask(0o177)
        try:
            self.socket.bind(str(path))
        except OSError as problem:
            self.socket.close()
            raise InputError(f"{path}: no socket can be made there ({problem.strerror}).") from None
        finally:
            os.umask(before)
        self.socket.listen(128)

    def accept(self, served: int) -> Connection | None:
        """Accept the next client, when there are so many already; None = it may not be served, or it is gone."""
        try:
            opened, _ = self.socket.accept()
        except OSError:
            return None
        peer = peer_of(opened)
        if peer.user == self._owner and served < self.most:
            return Connection(opened, peer)
        if peer.user == self._owner:
            with suppress(OSError):
                opened.send(REPLY.pack(BUSY, 0, self.most, 0))
        opened.close()
        return None


_AT_ONCE = 128
"""Requests of one client that are served before others have their turn."""


class Connection:
    """A connected client.

    While it does not read its replies, nothing more is read from it: what waits for it is bounded, and who floods the
    service waits alone.
    """

    def __init__(self, opened: socket.socket, peer: Peer) -> None:
        opened.setblocking(False)
        self.socket, self.process = opened, peer.process
        self.client = 0
        """Its number; 0 = it has not said who it is."""
        self.card = 0
        self.ended = False
        self._part = b""
        self._replies: list[bytes] = []
        self._unsent = b""

    def requests(self) -> list[tuple[int, int, int, int]]:
        """Return the requests that have arrived whole; that the client is gone shows in `ended`."""
        try:
            piece = self.socket.recv(_AT_ONCE * REQUEST.size)
        except BlockingIOError:
            return []
        except OSError:
            piece = b""
        self.ended = not piece
        text = self._part + piece
        whole = len(text) - len(text) % REQUEST.size
        self._part = text[whole:]
        return list(REQUEST.iter_unpack(text[:whole]))

    def reply(self, status: int, card: int, one: int, two: int) -> None:
        """Send this when the turn is over."""
        self._replies.append(REPLY.pack(status, card, one, two))

    def send(self) -> int | None:
        """Send what the client has space for.

        Returns
        -------
        int or None
            What is now waited for, as `select.epoll` has it; None = the same as before.
        """
        waited = bool(self._unsent)
        text = b"".join((self._unsent, *self._replies))
        self._replies.clear()
        try:
            sent = self.socket.send(text) if text else 0
        except BlockingIOError:
            sent = 0
        except OSError:
            self.ended = True
            return None
        self._unsent = text[sent:]
        if waited == bool(self._unsent):
            return None
        return select.EPOLLOUT if self._unsent else select.EPOLLIN


_CREDENTIALS = struct.Struct("3i")


class Peer(NamedTuple):
    """The process at the other end, as the kernel tells it."""

    process: int
    user: int


def peer_of(connection: socket.socket) -> Peer:
    """Return the process and the user at the other end of a Unix socket.

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


class Opening(NamedTuple):
    """A folder that is taken, in which clients may wait already."""

    folder: ServiceFolder
    lock: int
    """The file that holds the folder until it is closed."""
    owner: int
    """The user who may connect."""
    listener: Listener | None
    """None where a client would find nothing to read yet: no client was served here, or what was is gone."""

    @classmethod
    def of(cls, path: Path | str, owner: int | None = None) -> Self:
        """Take a folder, and listen at once where a killed service left clients.

        Raises
        ------
        InputError
            A service runs in the folder, it is not this user's alone, or it holds somebody's own files.
        """
        folder = ServiceFolder(path)
        folder.make()
        lock, owner = folder.lock(), os.geteuid() if owner is None else owner
        try:
            return cls(folder, lock, owner, Listener(folder.socket, owner) if _was_left(folder) else None)
        except BaseException:
            folder.unmake()
            os.close(lock)
            raise

    def listening(self) -> Listener:
        """Return the socket at which clients wait, made now if it was not before."""
        return self.listener or Listener(self.folder.socket, self.owner)

    def close(self) -> None:
        """Give the folder up: nothing came of it."""
        if self.listener is not None:
            self.listener.socket.close()
        self.folder.unmake()
        os.close(self.lock)


def _was_left(folder: ServiceFolder) -> bool:
    """Return whether a killed service's description is there with all of its arenas: clients go on with those."""
    try:
        left = folder.description()
    except InputError:
        return False
    arenas = whole_arenas(left) if left else None
    detach_all(arenas or [])
    return arenas is not None


def started(process: int) -> int:
    """Return the start of a process, in clock ticks since boot; 0 = there is no such process, or it has ended.

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
