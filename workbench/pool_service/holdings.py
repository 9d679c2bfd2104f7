"""Who holds which region. A region that nobody holds any more goes back; so two may share one, and a dead one's return.

Everything that changes is noted in the journal first, in the order in which it can be read back.
"""

from __future__ import annotations

from workbench.pool_service.journal import CLIENT, DROP, GONE, HOLD, SEGMENT, ClientRecord, Journal, Told
from workbench.pool_service.ledger import Grant, Ledger
from workbench.pool_service.protocol import place_of, region_id


class Holdings:
    """The regions of all clients, over the ledger that they come from."""

    def __init__(self, ledger: Ledger, journal: Journal) -> None:
        self._ledger, self._journal = ledger, journal
        self._told = Told({}, {}, {}, {})
        self._of: dict[int, dict[int, int]] = {}
        """What each client holds: region -> serial."""

    @property
    def clients(self) -> dict[int, ClientRecord]:
        """The clients, by number."""
        return self._told.clients

    def restore(self) -> None:
        """Take up what the journal tells."""
        self._told = self._journal.read()
        for number, card in enumerate(self._ledger.cards):
            segments = [(pool, at, size) for (its, at), (pool, size) in self._told.segments.items() if its == number]
            places = {place_of(region): size for region, size in self._told.regions.items()}
            card.restore(segments, {at: size for (its, at), size in places.items() if its == number})
        self._ledger.calls.clear()
        self._of = {client: {} for client in self._told.clients}
        for region, holders in self._told.holders.items():
            for client, serial in holders.items():
                self._of[client][region] = serial

    def enter(self, process: int, started: int, card: int) -> int:
        """A new client; its number."""
        number = max(self._told.clients, default=0) + 1
        record = ClientRecord(number, process, started, card)
        self._told.clients[number], self._of[number] = record, {}
        self._journal.note(CLIENT, *record)
        return number

    def alloc(self, client: int, card: int, size: int, serial: int) -> tuple[int, int, Grant] | None:
        """A new region for a client: its identifier, the bytes of its block, and where it is; None = no memory."""
        grant = self._ledger.alloc(card, size)
        if self._ledger.calls:
            self._note_driver_calls()
        if grant is None:
            return None
        region, block = region_id(grant.card, grant.offset), self._ledger.size_at(grant.card, grant.offset)
        self._told.regions[region], self._told.holders[region] = block, {client: serial}
        self._of[client][region] = serial
        self._journal.note(HOLD, client, region, block, serial)
        return region, block, grant

    def granted(self, client: int, serial: int) -> tuple[int, int] | None:
        """What a client already got by a request of this serial: region and bytes."""
        for region, its in self._of[client].items():
            if its == serial:
                return region, self._told.regions[region]
        return None

    def open(self, client: int, region: int) -> int:
        """A client holds a region of another's too; the bytes of its block, 0 = there is no such region."""
        size = self._told.regions.get(region, 0)
        if size and client not in self._told.holders[region]:
            self._told.holders[region][client] = self._of[client][region] = 0
            self._journal.note(HOLD, client, region, size, 0)
        return size

    def exists(self, region: int) -> bool:
        """Whether anybody holds it."""
        return region in self._told.regions

    def free(self, client: int, region: int) -> bool:
        """A client lets go of a region; False = it does not hold it, and nothing changes (spec 5, E19)."""
        if self._of[client].pop(region, None) is None:
            return False
        self._journal.note(DROP, client, region)
        holders = self._told.holders[region]
        del holders[client]
        if not holders:
            del self._told.holders[region], self._told.regions[region]
            self._ledger.give_back(*place_of(region))
            if self._ledger.calls:
                self._note_driver_calls()
        return True

    def leave(self, client: int) -> None:
        """A client is gone: what it held comes back (spec 5, E18)."""
        for region in list(self._of[client]):
            self.free(client, region)
        del self._of[client], self._told.clients[client]
        self._journal.note(GONE, client)

    def write(self) -> None:
        """Write down what has changed; a journal that has grown long is written anew."""
        self._journal.write()
        if self._journal.is_long():
            self._journal.rewrite(self._told)

    def _note_driver_calls(self) -> None:
        for call in self._ledger.calls:
            self._journal.note(SEGMENT, *call)
            if call.bytes > 0:
                self._told.segments[call.card, call.offset] = (call.pool, call.bytes)
            else:
                del self._told.segments[call.card, call.offset]
        self._ledger.calls.clear()
