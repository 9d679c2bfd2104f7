"""A client's connection: requests go, replies come in their order, and a service that was killed is waited for."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from workbench.pool_service import protocol
from workbench.pool_service.folder import ServiceFolder
from workbench.pool_service.protocol import REPLY, REQUEST, Reply, Request
from workbench.pool_service.refusals import Refused, refusal

_PAUSE_S = 0.02
_CREDENTIALS = struct.Struct("3i")
"""What Linux tells of the process at the other end: its number, user and group."""
_AT_ONCE = 512
"""Requests that are sent before their replies are read: the socket has room for these, so neither end waits for the
other to read."""
_FREED_BEFORE = (protocol.UNKNOWN_REGION, protocol.NOT_HELD)
"""What a release that is asked again may be told: the service was killed after it had written the release down."""


class _Dropped(Refused):
    """The service closed the connection instead of answering the first request."""


class Channel:
    """A connection to the service of a folder; one thread uses it at a time.

    Parameters
    ----------
    folder : ServiceFolder
    patience_s : float
        How long to wait for a service that is not there.

    Raises
    ------
    Refused
        There is no service, or it does not serve this user.
    """

    def __init__(self, folder: ServiceFolder, patience_s: float) -> None:
        self._folder, self._patience_s = folder, patience_s
        self._card = self._client = 0
        self._process = os.getpid()
        self._later: list[Request] = []
        """Releases that go with the next request."""
        self._unread: deque[int] = deque()
        """What was wanted by each request that was sent and of which the reply was not read."""
        self._received = b""
        self._closed = self._half_sent = False
        self._turn = threading.Lock()
        self._socket = self._opened()

    def greet(self, card: int) -> None:
        """Say who is there, and on which card."""
        self._card = card
        self._hello()

    def later(self, request: Request) -> None:
        """Let a release go with the next request, before it."""
        self._later.append(request)

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """Ask for the replies to some requests, again where the service was killed before it answered.

        Raises
        ------
        Refused
            The connection is closed, or no service came within the client's patience.
        """
        with self._turn:
            self._check()
            self._read_rest()
            waiting = len(self._later)
            replies = self._exchanged([*self._later, *requests])
            del self._later[:waiting]
            return replies[waiting:]

    def close(self) -> None:
        """End the connection; the service takes back what is still held."""
        self._closed = True
        self._socket.close()

    def _check(self) -> None:
        where = f"{self._folder.path}: this connection"
        if self._closed:
            raise Refused(f"{where} was closed.")
        if self._process != os.getpid():
            raise Refused(f"{where} belongs to another process; connect anew after a fork.")
        if self._half_sent:
            raise Refused(f"{where} was interrupted in the middle of a request; connect anew.")

    def _read_rest(self) -> None:
        """Read the replies that an interrupted `ask` did not, and let go of what they grant."""
        try:
            while self._unread:
                wanted = self._unread[0]
                self._forgotten(wanted, self._receive())
        except OSError:
            self._connect_again()

    def _forgotten(self, wanted: int, reply: Reply) -> None:
        if wanted in (protocol.ALLOC, protocol.ALLOC_AGAIN) and reply[0] == protocol.FINE:
            self._later.append((protocol.FREE, 0, reply[2], 0))

    def _exchanged(self, requests: list[Request]) -> list[Reply]:
        replies: list[Reply] = []
        again = False
        try:
            while len(replies) < len(requests):
                try:
                    self._exchange(requests[len(replies) : len(replies) + _AT_ONCE], replies, again)
                except OSError:
                    self._connect_again()
                    again = True
        except BaseException:  # an interrupt among them: who asked will never see these
            for request, reply in zip(requests, replies):
                self._forgotten(request[0], reply)
            raise
        return replies

    def _exchange(self, requests: list[Request], replies: list[Reply], again: bool) -> None:
        if again:
            requests = [(protocol.ALLOC_AGAIN if it[0] == protocol.ALLOC else it[0], *it[1:]) for it in requests]
        self._send(requests)
        for wanted, *_ in requests:
            reply = self._receive()
            gone = again and wanted == protocol.FREE and reply[0] in _FREED_BEFORE
            replies.append((protocol.FINE, *reply[1:]) if gone else reply)

    def _send(self, requests: Sequence[Request]) -> None:
        self._half_sent = True
        self._socket.sendall(b"".join([REQUEST.pack(*request) for request in requests]))
        self._unread.extend([request[0] for request in requests])
        self._half_sent = False

    def _receive(self) -> Reply:
        reply = self._reply()
        self._unread.popleft()
        return reply

    def _reply(self) -> Reply:
        while len(self._received) < REPLY.size:
            piece = self._socket.recv(1 << 16)
            if not piece:
                raise ConnectionResetError
            self._received += piece
        reply = REPLY.unpack_from(self._received)
        self._received = self._received[REPLY.size :]
        return reply

    def _connect_again(self) -> None:
        """Come back to a service that was started again; one that is just ending may take a connection and drop it."""
        self._half_sent = False
        until = time.monotonic() + self._patience_s
        while True:
            self._socket.close()
            self._socket = self._opened()
            try:
                return self._hello()
            except _Dropped:
                if time.monotonic() > until:
                    raise
                time.sleep(_PAUSE_S)

    def _opened(self) -> socket.socket:
        """Open a connection, waited for as long as patience lasts."""
        until = time.monotonic() + self._patience_s
        self._received = b""
        self._unread.clear()
        while True:
            opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                opened.connect(str(self._folder.socket))
                self._check_peer(opened)
                return opened
            except (FileNotFoundError, ConnectionRefusedError):
                opened.close()
                if time.monotonic() > until:
                    raise Refused(f"{self._folder.path}: no service runs in this folder.") from None
                time.sleep(_PAUSE_S)
            except PermissionError:
                opened.close()
                raise Refused(f"{self._folder.path}: the service belongs to another user.") from None
            except OSError as problem:
                opened.close()
                raise Refused(f"{self._folder.path}: there is no service ({problem.strerror}).") from None

    def _check_peer(self, opened: socket.socket) -> None:
        """Refuse a service that another user runs."""
        credentials = opened.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        if _CREDENTIALS.unpack(credentials)[1] != os.geteuid():
            opened.close()
            raise Refused(f"{self._folder.path}: the service belongs to another user.")

    def _hello(self) -> None:
        """Say who is there; a service that closes the connection serves another user."""
        try:
            with suppress(OSError):  # the connection is closed already; what was said before that can be read
                self._socket.sendall(REQUEST.pack(protocol.HELLO, self._card, self._client, 0))
            status, _, client, _ = reply_status = self._reply()
        except OSError:
            raise _Dropped(f"{self._folder.path}: the service does not serve this user, or ended.") from None
        if status == protocol.BAD_REQUEST:
            raise Refused(f"{self._folder.path}: the service does not know this client any more; what it held is gone.")
        if status != protocol.FINE:
            raise refusal(reply_status, 0)
        self._client = client
