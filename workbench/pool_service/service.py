"""The service process: one loop over a Unix socket and its clients (spec 5, R1, R5, E21).

Requests are served one after the other. What they change is in the journal before any of them is answered. A client
whose connection ends, for whatever reason, has let go of everything; after the service was killed and started again, a
client has until its process ends to come back to what it holds.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from contextlib import suppress
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import numpy as np

from workbench.errors import InputError
from workbench.pool_service import protocol
from workbench.pool_service.arenas import attach_arena, detach_arena, make_arena, memory_of, unlink_arena
from workbench.pool_service.folder import Description, ServiceFolder
from workbench.pool_service.holdings import Holdings
from workbench.pool_service.journal import Journal
from workbench.pool_service.ledger import Ledger
from workbench.pool_service.processes import peer_of, started
from workbench.pool_service.protocol import REPLY, REQUEST
from workbench.pool_service.settings import ServiceSettings

_RECEIVE = 1 << 16
_MOST_UNREAD = 1 << 22
"""A client that does not read its replies is let go of when so many bytes of them wait."""
_LOOK_AFTER_S = 0.25
"""How often the service looks whether clients that have not come back are still there."""
_SHARED = Path("/dev/shm")


class _Connection:
    """One client's end."""

    def __init__(self, opened: socket.socket, process: int) -> None:
        self.socket, self.process = opened, process
        self.client = 0
        self.card = 0
        self.received = b""
        self.replies: list[bytes] = []
        self.unsent = b""
        self.ended = False


class Service:
    """A service in a folder; `run` serves until it is told to stop.

    Parameters
    ----------
    folder : path
        Where its socket, journal and description are; made if it is not there.
    settings : ServiceSettings
    owner : int, optional
        The user who may connect; the one who runs it if not given.

    Raises
    ------
    InputError
        A service runs in the folder, the folder is not this user's alone, another board's regions are in it, or
        there is no room for the arenas.
    """

    def __init__(self, folder: Path | str, settings: ServiceSettings, owner: int | None = None) -> None:
        self._folder = ServiceFolder(folder)
        self._folder.make()
        self._held = self._folder.lock()
        try:
            self._start(settings, os.geteuid() if owner is None else owner)
        except BaseException:
            os.close(self._held)
            raise

    def _start(self, settings: ServiceSettings, owner: int) -> None:
        """All that may be refused once the folder is taken."""
        self._settings, self._board, self._owner = settings, settings.arenas(), owner
        self._arenas = self._attached()
        self._ledger = Ledger(self._board, settings.cache_fit, settings.cache, settings.target, settings.idle_release)
        self._holdings = Holdings(self._ledger, Journal(self._folder.journal))
        self._holdings.restore()
        self._absent = set(self._holdings.clients)
        """Clients that have not come back since the service was killed."""
        self._largest = max(card.free_bytes for card in self._board.cards)
        self._connections: dict[int, _Connection] = {}
        self._listener = self._listening()
        self._poll = select.epoll()
        self._poll.register(self._listener, select.EPOLLIN)
        self._stopping = False
        self._handlers = {
            protocol.ALLOC: self._alloc,
            protocol.ALLOC_AGAIN: self._alloc_again,
            protocol.FREE: self._free,
            protocol.OPEN: self._open,
            protocol.STATE: self._state,
        }

    def run(self) -> None:
        """Serve until `stop`; then the arenas, the journal and the socket are gone."""
        look = time.monotonic()
        try:
            while not self._stopping:
                self._turn()
                if self._absent and time.monotonic() - look > _LOOK_AFTER_S:
                    self._reclaim_absent()
                    look = time.monotonic()
        finally:
            self._end()

    def stop(self, *_: object) -> None:
        """End the loop after this turn; fit to be a signal's handler."""
        self._stopping = True

    def stop_at_signals(self) -> None:
        """Stop properly at SIGTERM and SIGINT."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)

    def _turn(self) -> None:
        """Everything that has arrived, then the journal, then the replies."""
        served = []
        for number, event in self._poll.poll(_LOOK_AFTER_S):
            if number == self._listener.fileno():
                self._accept()
                continue
            connection = self._connections[number]
            if event & ~select.EPOLLOUT:
                self._receive(connection)
            served.append(connection)
        self._holdings.write()
        for connection in served:
            self._answer(connection)

    def _accept(self) -> None:
        opened, _ = self._listener.accept()
        peer = peer_of(opened)
        if peer.user != self._owner:
            opened.close()
            return
        opened.setblocking(False)
        self._connections[opened.fileno()] = _Connection(opened, peer.process)
        self._poll.register(opened, select.EPOLLIN)

    def _receive(self, connection: _Connection) -> None:
        try:
            piece = connection.socket.recv(_RECEIVE)
        except BlockingIOError:
            return
        except ConnectionError:
            piece = b""
        if not piece:
            self._close(connection)
            return
        text = connection.received + piece
        whole = len(text) - len(text) % REQUEST.size
        connection.received = text[whole:]
        reply, replies = self._reply, connection.replies
        for wanted, card, one, two in REQUEST.iter_unpack(text[:whole]):
            replies.append(REPLY.pack(*reply(connection, wanted, card, one, two)))

    def _reply(self, connection: _Connection, wanted: int, card: int, one: int, two: int) -> tuple[int, int, int, int]:
        if wanted == protocol.HELLO:
            return self._hello(connection, card, one)
        handler = self._handlers.get(wanted)
        if handler is None or not connection.client or card >= len(self._ledger.cards):
            return protocol.BAD_REQUEST, 0, 0, 0
        return handler(connection, card, one, two)

    def _hello(self, connection: _Connection, card: int, client: int) -> tuple[int, int, int, int]:
        """A new client, or one that comes back after the service was killed."""
        begun, known = started(connection.process), self._holdings.clients.get(client)
        if connection.client or not 0 <= card < len(self._ledger.cards):
            return protocol.BAD_REQUEST, 0, 0, 0
        if client == 0:
            client = self._holdings.enter(connection.process, begun, card)
        elif client not in self._absent or known is None or known[1:3] != (connection.process, begun):
            return protocol.BAD_REQUEST, 0, 0, 0
        self._absent.discard(client)
        connection.client, connection.card = client, card
        return protocol.FINE, card, client, 0

    def _alloc(self, connection: _Connection, card: int, size: int, serial: int) -> tuple[int, int, int, int]:
        if size < 1:
            return protocol.BAD_REQUEST, 0, 0, 0
        if size > self._largest:
            return protocol.TOO_LARGE, 0, self._largest, 0
        found = self._holdings.alloc(connection.client, connection.card if card < 0 else card, size, serial)
        if found is None:
            return protocol.OUT_OF_MEMORY, 0, 0, 0
        region, block, grant = found
        if grant.cached and self._settings.zero_on_reuse:
            self._memory(grant.card)[grant.offset : grant.offset + block] = 0
        return protocol.FINE, grant.card, region, block

    def _alloc_again(self, connection: _Connection, card: int, size: int, serial: int) -> tuple[int, int, int, int]:
        before = self._holdings.granted(connection.client, serial)
        if before is None:
            return self._alloc(connection, card, size, serial)
        return protocol.FINE, protocol.place_of(before[0])[0], *before

    def _free(self, connection: _Connection, card: int, region: int, _: int) -> tuple[int, int, int, int]:
        if self._holdings.free(connection.client, region):
            return protocol.FINE, 0, region, 0
        known = self._holdings.exists(region)
        return (protocol.NOT_HELD if known else protocol.UNKNOWN_REGION), 0, region, 0

    def _open(self, connection: _Connection, card: int, region: int, _: int) -> tuple[int, int, int, int]:
        size = self._holdings.open(connection.client, region)
        if not size:
            return protocol.UNKNOWN_REGION, 0, region, 0
        return protocol.FINE, protocol.place_of(region)[0], region, size

    def _state(self, connection: _Connection, card: int, one: int, two: int) -> tuple[int, int, int, int]:
        asked = self._ledger.cards[max(card, 0)]
        return protocol.FINE, card, asked.in_use, asked.cached

    def _answer(self, connection: _Connection) -> None:
        """Send what is ready; what the client has no room for waits."""
        if connection.ended:
            return
        text = connection.unsent + b"".join(connection.replies)
        connection.replies.clear()
        try:
            sent = connection.socket.send(text) if text else 0
        except BlockingIOError:
            sent = 0
        except ConnectionError:
            self._close(connection)
            return
        waiting = bool(connection.unsent)
        connection.unsent = text[sent:]
        if len(connection.unsent) > _MOST_UNREAD:
            self._close(connection)
        elif waiting != bool(connection.unsent):
            more = select.EPOLLOUT if connection.unsent else 0
            self._poll.modify(connection.socket, select.EPOLLIN | more)

    def _close(self, connection: _Connection) -> None:
        """A client is gone; what it held comes back."""
        self._poll.unregister(connection.socket)
        del self._connections[connection.socket.fileno()]
        connection.socket.close()
        connection.ended = True
        if connection.client:
            self._holdings.leave(connection.client)

    def _reclaim_absent(self) -> None:
        """Take back what was held by clients that ended while there was no service."""
        for client in sorted(self._absent):
            record = self._holdings.clients[client]
            if started(record.process) != record.started:
                self._absent.discard(client)
                self._holdings.leave(client)

    def _memory(self, card: int) -> np.ndarray:
        arena = self._arenas[card]
        assert arena is not None
        return np.frombuffer(memory_of(arena), np.uint8)

    def _attached(self) -> list[SharedMemory | None]:
        """The arenas: those that a killed service has left, or new ones."""
        cards, sizes = [card.id for card in self._board.cards], [card.free_bytes for card in self._board.cards]
        left = self._folder.description()
        if left is not None:
            found = [attach_arena(name) if name else None for name in left.arenas]
            whole = all((arena is not None) == bool(name) for arena, name in zip(found, left.arenas, strict=True))
            if whole and (left.cards, left.sizes) == (cards, sizes):
                return found
            for arena in filter(None, found):
                detach_arena(arena)
            if whole:
                raise InputError(
                    f"{self._folder.path}: holds the regions of a service with other cards ({', '.join(left.cards)}); "
                    "start it with those, or clear the folder with --clear."
                )
        self._folder.clear()
        return self._made(self._folder.describe(cards, sizes))

    def _made(self, said: Description) -> list[SharedMemory | None]:
        room = os.statvfs(_SHARED)
        if sum(said.sizes) > room.f_bavail * room.f_frsize:
            raise InputError(
                f"the arenas need {sum(said.sizes)} bytes of shared memory; {room.f_bavail * room.f_frsize} are free. "
                "Take a smaller --card-bytes."
            )
        return [make_arena(name, size) if size else None for name, size in zip(said.arenas, said.sizes, strict=True)]

    def _listening(self) -> socket.socket:
        path = self._folder.socket
        with suppress(FileNotFoundError):
            path.unlink()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            listener.bind(str(path))
        finally:
            os.umask(before)
        listener.listen(128)
        return listener

    def _end(self) -> None:
        for connection in list(self._connections.values()):
            connection.socket.close()
        self._poll.close()
        self._listener.close()
        for arena in filter(None, self._arenas):
            unlink_arena(arena)
            detach_arena(arena)
        self._folder.clear()
        os.close(self._held)
