"""What each request of the protocol does (spec 5, R4, R5, R27, E18, E19)."""

from __future__ import annotations

from workbench.pool_service import protocol
from workbench.pool_service.connection import Connection
from workbench.pool_service.holdings import Holdings
from workbench.pool_service.ledger import Ledger
from workbench.pool_service.processes import started
from workbench.pool_service.protocol import BAD_REQUEST, FINE, Refusal, Reply, place_of


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
            protocol.HELLO: self._hello,
            protocol.ALLOC: self._alloc,
            protocol.ALLOC_AGAIN: self._alloc_again,
            protocol.FREE: self._free,
            protocol.OPEN: self._open,
            protocol.STATE: self._state,
        }

    def reply(self, connection: Connection, wanted: int, card: int, one: int, two: int) -> Reply:
        """Do what a client asks for, and say what came of it."""
        handler = self._handlers.get(wanted)
        known = connection.client or wanted == protocol.HELLO
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
            raise Refusal(protocol.TOO_LARGE, self._largest)
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
