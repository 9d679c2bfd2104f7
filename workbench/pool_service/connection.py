"""One client's end of a socket: whole requests come out, replies go in, and nobody waits for it."""

from __future__ import annotations

import select
import socket

from workbench.pool_service.processes import Peer
from workbench.pool_service.protocol import REPLY, REQUEST

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
        """Return what has arrived whole; that the client is gone shows in `ended`."""
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
        """Send what the client has room for.

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
