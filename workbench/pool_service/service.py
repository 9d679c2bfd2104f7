"""The service process: one loop over a Unix socket and its clients (spec 5, R1, R5, E21).

Requests are served one after the other. What they change is in the journal before any of them is answered. A client
whose connection ends, for whatever reason, has let go of everything; after the service was killed and started again, a
client has until its process ends to come back to what it holds.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections import deque
from pathlib import Path

from workbench.errors import InputError
from workbench.pool_service.arenas import detach_arena, free_pages, make_arena, unlink_arena
from workbench.pool_service.connection import Connection
from workbench.pool_service.driver import Driver
from workbench.pool_service.folder import Description
from workbench.pool_service.holdings import Holdings
from workbench.pool_service.journal import Journal
from workbench.pool_service.ledger import Ledger
from workbench.pool_service.left import Arenas, detach_all, whole_arenas
from workbench.pool_service.opening import Opening
from workbench.pool_service.requests import Requests
from workbench.pool_service.settings import ServiceSettings
from workbench.pool_service.slots import addresses_for

_LOOK_AFTER_S = 0.25
"""How often the service looks whether clients that have not come back are still there."""


class Service:
    """A service in a folder; `run` serves until it is told to stop.

    Parameters
    ----------
    folder : path
        Where its socket, journal and description are; made if it is not there.
    settings : ServiceSettings
    owner : int, optional
        The user who may connect; the one who runs it if not given.
    opening : Opening, optional
        The folder, where it was taken before.

    Raises
    ------
    InputError
        A service runs in the folder, the folder is not this user's alone, another board's regions are in it, or
        there is no room for the arenas.
    """

    def __init__(
        self, folder: Path | str, settings: ServiceSettings, owner: int | None = None, opening: Opening | None = None
    ) -> None:
        opening = opening or Opening.of(folder, owner)
        self._folder, self._held = opening.folder, opening.lock
        try:
            self._start(settings, opening)
        except BaseException:
            opening.close()
            raise

    def _start(self, settings: ServiceSettings, opening: Opening) -> None:
        """Start all that may be refused once the folder is taken."""
        cards = settings.arenas().cards
        sizes = [card.free_bytes for card in cards]
        self._arenas = self._attached([card.id for card in cards], sizes)
        self._holdings = Holdings(Journal(self._folder.journal))
        drivers = [Driver(size, arena) for size, arena in zip(sizes, self._arenas, strict=True)]
        ledger = Ledger(settings.setup(), drivers, settings.zero_on_reuse, self._holdings.note)
        self._holdings.over(ledger)
        self._requests = Requests(ledger, self._holdings, len(cards), max(sizes))
        self._connections: dict[int, Connection] = {}
        self._leaving: deque[int] = deque()
        """Clients that are gone and of which some regions are not yet taken back."""
        self._listener = opening.listening()
        self._poll = select.epoll()
        self._poll.register(self._listener.socket, select.EPOLLIN)
        self._stopping = False

    def run(self) -> None:
        """Serve until `stop`; then the arenas, the journal and the socket are gone.

        Where the service breaks they stay, as after a kill: one that is started again goes on with them.
        """
        look = time.monotonic()
        try:
            while not self._stopping:
                self._turn()
                if self._requests.absent and time.monotonic() - look > _LOOK_AFTER_S:
                    self._leaving += self._requests.ended()
                    look = time.monotonic()
        except BaseException:
            self._let_go()
            os.close(self._held)
            raise
        self._let_go()
        self._clear()

    def stop(self, *_: object) -> None:
        """End the loop after this turn; fit to be a signal's handler."""
        self._stopping = True

    def stop_at_signals(self) -> None:
        """Stop properly at SIGTERM and SIGINT."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)

    def _turn(self) -> None:
        """Take something of what has arrived from everyone, then write the journal, then send the replies."""
        served = []
        for number, event in self._poll.poll(0 if self._leaving else _LOOK_AFTER_S):
            if number == self._listener.socket.fileno():
                self._accept()
                continue
            connection = self._connections[number]
            if event & ~select.EPOLLOUT:
                self._serve(connection)
            served.append(connection)
        if self._leaving and self._holdings.leave(self._leaving[0]):
            self._leaving.popleft()
        self._holdings.write()
        for connection in served:
            self._answer(connection)

    def _accept(self) -> None:
        connection = self._listener.accept(len(self._connections))
        if connection is not None:
            self._connections[connection.socket.fileno()] = connection
            self._poll.register(connection.socket, select.EPOLLIN)

    def _serve(self, connection: Connection) -> None:
        reply = self._requests.reply
        for request in connection.requests():
            connection.reply(*reply(connection, *request))

    def _answer(self, connection: Connection) -> None:
        wanted = connection.send() if not connection.ended else None
        if connection.ended:
            self._close(connection)
        elif wanted is not None:
            self._poll.modify(connection.socket, wanted)

    def _close(self, connection: Connection) -> None:
        """Close the connection of a client that is gone; what it held comes back."""
        self._poll.unregister(connection.socket)
        del self._connections[connection.socket.fileno()]
        connection.socket.close()
        if connection.client and not self._holdings.leave(connection.client):
            self._leaving.append(connection.client)

    def _attached(self, cards: list[str], sizes: list[int]) -> Arenas:
        """Return the arenas: those that a killed service has left, or new ones."""
        left = self._folder.description()
        if left is not None:
            arenas = whole_arenas(left)
            if arenas is not None and (left.cards, left.sizes) == (cards, sizes):
                return arenas
            if arenas is not None:
                detach_all(arenas)
                raise InputError(
                    f"{self._folder.path}: holds the regions of a service with other cards ({', '.join(left.cards)}); "
                    "start it with those, or clear the folder with --clear."
                )
        self._folder.clear()
        return _made(self._folder.describe(cards, sizes))

    def _let_go(self) -> None:
        """Close what is open, the listener first: who sees the end of its connection finds no service, not this one."""
        self._listener.socket.close()
        for connection in self._connections.values():
            connection.socket.close()
        self._poll.close()
        self._holdings.close()

    def _clear(self) -> None:
        """Clear what is left of this service."""
        for arena in filter(None, self._arenas):
            unlink_arena(arena)
            detach_arena(arena)
        self._folder.clear()
        os.close(self._held)


def _made(description: Description) -> Arenas:
    if sum(description.sizes) > free_pages():
        raise InputError(
            f"the arenas need {sum(description.sizes)} bytes of shared memory; {free_pages()} are free. "
            "Take a smaller --card-bytes."
        )
    sizes = [addresses_for(size) for size in description.sizes]
    return [make_arena(name, size) if size else None for name, size in zip(description.arenas, sizes, strict=True)]
