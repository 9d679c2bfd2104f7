"""Who holds which region. A region that nobody holds any more goes back; so two may share one, and a dead one's return.

Everything that changes is noted in the journal first, in the order in which it can be read back. A damaged journal,
which tells what can never have been so, is refused before anything is built of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from workbench.engines.pool.state import POOLS
from workbench.pool_service.journal import CLIENT, DROP, GONE, HOLD, SEGMENT, ClientRecord, Journal, Told, take_up
from workbench.pool_service.ledger import Driver, Grant, Ledger, Segment
from workbench.pool_service.protocol import NO_JOURNAL, NOT_HELD, UNKNOWN_REGION, Refusal, region_id

AT_ONCE = 64
"""Regions of a client that has gone that are taken back before others are served."""


class Holdings:
    """The regions of all clients, over the ledger that they come from."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._told = Told({}, {}, {}, {})
        self._of: dict[int, dict[int, int]] = {}
        """What each client holds: region -> serial."""
        self._granted: dict[int, dict[int, int]] = {}
        """What clients held when the service was killed: serial -> region."""

    @property
    def clients(self) -> dict[int, ClientRecord]:
        """Return the clients, by number."""
        return self._told.clients

    def over(self, ledger: Ledger) -> None:
        """Take up what the journal tells, over a ledger that is new.

        Raises
        ------
        InputError
            It tells what cannot be.
        """
        self._ledger, self._told = ledger, self._journal.read()
        if not is_sound(self._told, ledger.drivers):
            raise self._journal.contradiction()
        segments = [Segment(card, pool, at, size) for (card, at), (pool, size) in self._told.segments.items()]
        try:
            ledger.restore(segments, self._told.regions)
        except ValueError:  # with buddies, a region is no half of a half
            raise self._journal.contradiction() from None
        self._of = {client: {} for client in self._told.clients}
        for region, holders in self._told.holders.items():
            for client, serial in holders.items():
                self._of[client][region] = serial
        self._granted = {client: {serial: at for at, serial in of.items() if serial} for client, of in self._of.items()}

    def enter(self, process: int, started: int, card: int) -> int:
        """Enter a new client; return its number.

        Raises
        ------
        Refusal
            The journal has no room.
        """
        self._check_journal()
        number = max(self._told.clients, default=0) + 1
        self._of[number] = {}
        self._note(CLIENT, number, process, started, card)
        return number

    def alloc(self, client: int, card: int, size: int, serial: int) -> Grant:
        """Allocate a new region for a client.

        Raises
        ------
        Refusal
            There is no memory, or the journal has no room.
        """
        self._check_journal()
        grant = self._ledger.alloc(card, size)
        self._of[client][grant.region] = serial
        self._note(HOLD, client, grant.region, grant.bytes, serial)
        return grant

    def granted(self, client: int, serial: int) -> Grant | None:
        """Return what a client had already got by a request of this serial when the service was killed."""
        region = self._granted.get(client, {}).get(serial)
        if region is None or self._of[client].get(region) != serial:
            return None
        return Grant(region, self._told.regions[region], True)

    def open(self, client: int, region: int) -> int:
        """Let a client hold a region of another's too; return the bytes of its block.

        Raises
        ------
        Refusal
            There is no such region, or the journal has no room.
        """
        if region not in self._told.regions:
            raise Refusal(UNKNOWN_REGION)
        size = self._told.regions[region]
        if client not in self._told.holders[region]:
            self._check_journal()
            self._of[client][region] = 0
            self._note(HOLD, client, region, size, 0)
        return size

    def free(self, client: int, region: int) -> None:
        """Let a client let go of a region.

        Raises
        ------
        Refusal
            It does not hold it; nothing changes (spec 5, E19).
        """
        if self._of[client].pop(region, None) is None:
            raise Refusal(NOT_HELD if region in self._told.regions else UNKNOWN_REGION)
        self._note(DROP, client, region)
        if region not in self._told.regions:
            self._ledger.give_back(region)

    def leave(self, client: int) -> bool:
        """Take back some of what a client that is gone held (spec 5, E18); True = that was all."""
        held = self._of[client]
        for region in list(islice(held, AT_ONCE)):
            self.free(client, region)
        if held:
            return False
        del self._of[client]
        self._granted.pop(client, None)
        self._note(GONE, client)
        return True

    def note(self, segment: Segment) -> None:
        """Write down what the driver did."""
        self._note(SEGMENT, *segment)

    def _note(self, kind: int, *numbers: int) -> None:
        """Let a record be so, now and in the journal."""
        take_up(self._told, kind, *numbers)
        self._journal.note(kind, *numbers)

    def write(self) -> None:
        """Write down what has changed; a journal that has grown long is written anew."""
        self._journal.write()
        if self._journal.is_long():
            self._journal.rewrite(self._told)

    def close(self) -> None:
        """Let go of the journal's file."""
        self._journal.close()

    def _check_journal(self) -> None:
        journal = self._journal
        if not journal.has_room() and not (journal.is_wasteful() and journal.rewrite(self._told)):
            raise Refusal(NO_JOURNAL)


_MOST_CLIENT = 1 << 62
"""Numbers of clients go on from the highest, in words of 64 bits."""


def is_sound(record: Told, drivers: Sequence[Driver]) -> bool:
    """Return whether clients, driver allocations and regions fit these cards and one another."""
    return _clients_are(record, len(drivers)) and _segments_are(record, drivers) and _regions_are(record)


def _clients_are(record: Told, cards: int) -> bool:
    known = all(
        0 < one.number < _MOST_CLIENT and one.process > 0 and 0 <= one.card < cards for one in record.clients.values()
    )
    return known and all(holders.keys() <= record.clients.keys() for holders in record.holders.values())


def _segments_are(record: Told, drivers: Sequence[Driver]) -> bool:
    """Return whether each driver allocation is one that its card's driver gives, and all of them fit the card."""
    taken: Counter[int] = Counter()
    for (card, offset), (pool, size) in record.segments.items():
        if not (0 <= card < len(drivers) and 0 <= pool < POOLS and drivers[card].gives(offset, size)):
            return False
        taken[card] += size
    return all(size <= drivers[card].bytes for card, size in taken.items())


def _regions_are(record: Told) -> bool:
    """Return whether each region lies in one driver allocation, and no two have a byte in common."""
    segments = sorted((region_id(*place), size) for place, (_, size) in record.segments.items())
    free = 0
    for region, size in sorted(record.regions.items()):
        place = bisect_right(segments, region, key=lambda segment: segment[0]) - 1
        if place < 0 or size < 1 or region < free or region + size > sum(segments[place]):
            return False
        free = region + size
    return True
