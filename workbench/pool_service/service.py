"""The service process: one loop over a Unix socket and its clients (spec 5, R1, R4, R5, R27, E18, E19, E21).

Requests are served one after the other. What they change is in the journal before any of them is answered. A client
whose connection ends, for whatever reason, has let go of everything; after the service was killed and started again, a
client has until its process ends to come back to what it holds. It is started with a board and policies, declared as
everywhere.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections import deque
from pathlib import Path

from workbench.engines.kit.engine import Setup
from workbench.engines.pool.options import PoolOptions, check_named_cards
from workbench.errors import InputError
from workbench.levers import Spec, lever
from workbench.machine import Board
from workbench.policies.placement.fit import ByteCounter
from workbench.policies.pool.cache import Cache
from workbench.policies.pool.caching_allocators import SplitAndCoalesce
from workbench.policies.pool.fit import BestFit, CacheFit
from workbench.policies.pool.idle import IdleRelease, KeepAll
from workbench.policies.pool.residency import Stay
from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.score import MaxBandwidth
from workbench.pool_service.arenas import addresses_for, detach_arena, free_pages, make_arena, unlink_arena
from workbench.pool_service.folder import ArenasLeft, Description, detach_all, whole_arenas
from workbench.pool_service.holdings import Holdings, Journal
from workbench.pool_service.ledger import Driver, Ledger
from workbench.pool_service.listener import Connection, Opening, started
from workbench.pool_service.protocol import (
    ALLOC,
    ALLOC_AGAIN,
    BAD_REQUEST,
    FINE,
    FREE,
    HELLO,
    MOST_OFFSET,
    OPEN,
    STATE,
    TOO_LARGE,
    Refusal,
    Reply,
    place_of,
)

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
        A service runs in the folder, the folder is not this user's alone, another board's regions are in it, or there
        is no space for the arenas.
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

    def _attached(self, cards: list[str], sizes: list[int]) -> ArenasLeft:
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


def _made(description: Description) -> ArenasLeft:
    if sum(description.sizes) > free_pages():
        raise InputError(
            f"the arenas need {sum(description.sizes)} bytes of shared memory; {free_pages()} are free. "
            "Take a smaller --card-bytes."
        )
    sizes = [addresses_for(size) for size in description.sizes]
    return [make_arena(name, size) if size else None for name, size in zip(description.arenas, sizes, strict=True)]


class Requests:
    """The requests that clients may make of a ledger and its holdings.

    Parameters
    ----------
    cards : int
        How many cards there are.
    largest : int
        Bytes of the largest card.
    """

    def __init__(self, ledger: Ledger, holdings: Holdings, cards: int, largest: int) -> None:
        self._ledger, self._holdings, self._cards, self._largest = ledger, holdings, cards, largest
        self.absent = set(holdings.clients)
        """Clients that have not come back since the service was killed."""
        self._handlers = {
            HELLO: self._hello,
            ALLOC: self._alloc,
            ALLOC_AGAIN: self._alloc_again,
            FREE: self._free,
            OPEN: self._open,
            STATE: self._state,
        }

    def reply(self, connection: Connection, wanted: int, card: int, one: int, two: int) -> Reply:
        """Do what a client asks for, and say what came of it."""
        handler = self._handlers.get(wanted)
        known = connection.client or wanted == HELLO
        if handler is None or not known or card >= self._cards:
            return BAD_REQUEST, 0, 0, 0
        try:
            return handler(connection, card, one, two)
        except Refusal as refusal:
            return refusal.status, 0, refusal.number, 0

    def ended(self) -> list[int]:
        """Return the absent clients whose processes are gone; they are absent no longer."""
        clients = self._holdings.clients
        gone = [it for it in sorted(self.absent) if not _still(clients[it].process, clients[it].started)]
        self.absent.difference_update(gone)
        return gone

    def _hello(self, connection: Connection, card: int, client: int, _: int) -> Reply:
        """Answer a new client, or one that comes back after the service was killed."""
        if connection.client or card < 0:
            raise Refusal(BAD_REQUEST)
        if client == 0:
            client = self._holdings.enter(connection.process, started(connection.process), card)
        else:
            self._come_back(connection, client)
        connection.client, connection.card = client, card
        return FINE, card, client, 0

    def _come_back(self, connection: Connection, client: int) -> None:
        record = self._holdings.clients.get(client)
        if client not in self.absent or record is None or record.process != connection.process:
            raise Refusal(BAD_REQUEST)
        if not _still(record.process, record.started):
            raise Refusal(BAD_REQUEST)
        self.absent.discard(client)

    def _alloc(self, connection: Connection, card: int, size: int, serial: int) -> Reply:
        if size < 1:
            raise Refusal(BAD_REQUEST)
        if size > self._largest:
            raise Refusal(TOO_LARGE, self._largest)
        own = connection.card if card < 0 else card
        region, block, _ = self._holdings.alloc(connection.client, own, size, serial)
        return FINE, place_of(region)[0], region, block

    def _alloc_again(self, connection: Connection, card: int, size: int, serial: int) -> Reply:
        before = self._holdings.granted(connection.client, serial)
        if before is None:
            return self._alloc(connection, card, size, serial)
        return FINE, place_of(before.region)[0], before.region, before.bytes

    def _free(self, connection: Connection, card: int, region: int, _: int) -> Reply:
        self._holdings.free(connection.client, region)
        return FINE, 0, region, 0

    def _open(self, connection: Connection, card: int, region: int, _: int) -> Reply:
        size = self._holdings.open(connection.client, region)
        return FINE, place_of(region)[0], region, size

    def _state(self, connection: Connection, card: int, one: int, two: int) -> Reply:
        return FINE, card, *self._ledger.state(max(card, 0))


def _still(process: int, begun: int) -> bool:
    """Return whether a process that began then is there still; one that this system cannot see is not."""
    return bool(begun) and started(process) == begun


MIB = 1 << 20


class ServiceSettings(Spec):
    """The board whose cards the arenas stand for, and the policies that the service works by.

    >>> ServiceSettings(card_bytes=1024).arenas().cards[1].memory_bytes
    1024
    >>> ServiceSettings.read({"target": "most_free"}).target.name
    'most_free'
    """

    board: Board = lever(Board.read({}), description="the cards and their links")
    card_bytes: int = lever(
        16 * MIB,
        least=0,
        most=1 << 40,
        unit="bytes",
        description="bytes of every card's arena; 0 = the memory of the card",
    )
    cache_fit: CacheFit = lever(BestFit(), description="which cached block serves a request")
    cache: Cache = lever(SplitAndCoalesce.read("split_and_coalesce"), description="how memory is cut and joined")
    target: Target = lever(MaxBandwidth.read("max_bandwidth"), description="which card lends")
    idle_release: IdleRelease = lever(KeepAll(), description="what goes back to the arena")
    zero_on_reuse: bool = lever(False, description="whether cached memory is filled with zeros before another gets it")

    def check(self) -> None:
        rules = self.cache.rules()
        if rules.stitches or rules.pages:
            raise InputError(
                f"the service does not serve with the cache {self.cache.name}: a region is one range of its arena, and "
                "nothing is mapped there page by page. Take any cache but stitching and expandable_segments."
            )
        check_named_cards(self.target, self.arenas())
        largest = max(card.free_bytes for card in self.arenas().cards)
        if addresses_for(largest) >= MOST_OFFSET:
            raise InputError(f"{self.name}: a card of {largest} bytes is larger than an arena can be. Use card_bytes.")

    def setup(self) -> Setup:
        """Return the rules by which the engine `pool` runs."""
        policies = {slot: getattr(self, slot) for slot in ("cache", "cache_fit", "target", "idle_release")}
        policies |= {"driver": ByteCounter(), "residency": Stay()}
        return Setup("pool", self.arenas(), None, policies, PoolOptions.read({}))

    def arenas(self) -> Board:
        """Return the board with cards as large as the arenas are."""
        if not self.card_bytes:
            return self.board
        small = (card.but(memory_bytes=self.card_bytes, used_bytes=0) for card in self.board.cards if card.memory_bytes)
        sizes = {card.id: card for card in small}
        return self.board.but(cards=tuple(sizes.get(card.id, card) for card in self.board.cards))
