"""Who holds which region, and the journal: what a service must know to go on after it was killed.

A region goes back when its last holder lets go; so two may share one, and a dead one's return. Everything that changes
is noted in the journal first, in the order in which it can be read back. A damaged journal, which tells what can never
have been so, is refused before anything is built of it.

The journal's records of 40 bytes are in a file, written before the reply to what they tell of. What is killed is a
process, not the machine, so what was written is there: nothing waits for a disk. The kind of a record is its last word.
So one that was cut off by the kill has none, and neither has the space behind it; it was never acknowledged and is left
out. That space is reserved before anything is granted: on a disk that is full all can still be given back. When the
file is much longer than its content, it is written again to a neighboring file, which takes its place.
"""

from __future__ import annotations

import os
import struct
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from workbench.engines.pool.state import POOLS
from workbench.errors import InputError, WorkbenchError
from workbench.pool_service.ledger import Driver, Grant, Ledger, Segment
from workbench.pool_service.protocol import NO_JOURNAL, NOT_HELD, UNKNOWN_REGION, Refusal, region_id

AT_ONCE = 64
"""Regions of a client that has gone that are taken back before others are served."""

RECORD = struct.Struct("<qqqqq")
SEGMENT, CLIENT, GONE, HOLD, DROP = range(1, 6)
"""SEGMENT: card, pool, offset, bytes (negative = returned); CLIENT: number, process, start of the process, card;
GONE: client; HOLD: client, region, bytes of its block, serial of the request; DROP: client, region."""
NOTHING = 0


class Holdings:
    """The regions of all clients, over the ledger that they come from."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._state = JournalState({}, {}, {}, {})
        self._of: dict[int, dict[int, int]] = {}
        """What each client holds: region -> serial."""
        self._granted: dict[int, dict[int, int]] = {}
        """What clients held when the service was killed: serial -> region."""

    @property
    def clients(self) -> dict[int, ClientRecord]:
        """Return the clients, by number."""
        return self._state.clients

    def over(self, ledger: Ledger) -> None:
        """Take up what the journal tells, over a ledger that is new.

        Raises
        ------
        InputError
            It tells what cannot be.
        """
        self._ledger, self._state = ledger, self._journal.read()
        if not is_sound(self._state, ledger.drivers):
            raise self._journal.contradiction()
        segments = [Segment(card, pool, at, size) for (card, at), (pool, size) in self._state.segments.items()]
        try:
            ledger.restore(segments, self._state.regions)
        except ValueError:  # with buddies, a region is no half of a half
            raise self._journal.contradiction() from None
        self._of = {client: {} for client in self._state.clients}
        for region, holders in self._state.holders.items():
            for client, serial in holders.items():
                self._of[client][region] = serial
        self._granted = {client: {serial: at for at, serial in of.items() if serial} for client, of in self._of.items()}

    def enter(self, process: int, started: int, card: int) -> int:
        """Enter a new client; return its number.

        Raises
        ------
        Refusal
            The journal has no space.
        """
        self._check_journal()
        number = max(self._state.clients, default=0) + 1
        self._of[number] = {}
        self._note(CLIENT, number, process, started, card)
        return number

    def alloc(self, client: int, card: int, size: int, serial: int) -> Grant:
        """Allocate a new region for a client.

        Raises
        ------
        Refusal
            There is no memory, or the journal has no space.
        """
        self._check_journal()
        grant = self._ledger.alloc(card, size)
        self._of[client][grant.region] = serial
        self._note(HOLD, client, grant.region, grant.bytes, serial)
        return grant

    def granted(self, client: int, serial: int) -> Grant | None:
        """Return the reply that a client had already got to a request of this serial when the service was killed."""
        region = self._granted.get(client, {}).get(serial)
        if region is None or self._of[client].get(region) != serial:
            return None
        return Grant(region, self._state.regions[region], True)

    def open(self, client: int, region: int) -> int:
        """Let a client hold a region of another's too; return the bytes of its block.

        Raises
        ------
        Refusal
            There is no such region, or the journal has no space.
        """
        if region not in self._state.regions:
            raise Refusal(UNKNOWN_REGION)
        size = self._state.regions[region]
        if client not in self._state.holders[region]:
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
            raise Refusal(NOT_HELD if region in self._state.regions else UNKNOWN_REGION)
        self._note(DROP, client, region)
        if region not in self._state.regions:
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
        take_up(self._state, kind, *numbers)
        self._journal.note(kind, *numbers)

    def write(self) -> None:
        """Write down what has changed; a journal that has grown long is written again."""
        self._journal.write()
        if self._journal.is_long():
            self._journal.rewrite(self._state)

    def close(self) -> None:
        """Let go of the journal's file."""
        self._journal.close()

    def _check_journal(self) -> None:
        journal = self._journal
        if not journal.has_room() and not (journal.is_wasteful() and journal.rewrite(self._state)):
            raise Refusal(NO_JOURNAL)


_MOST_CLIENT = 1 << 62
"""Numbers of clients go on from the highest, in words of 64 bits."""


def is_sound(record: JournalState, drivers: Sequence[Driver]) -> bool:
    """Return whether clients, driver allocations and regions fit these cards and one another."""
    return _clients_are(record, len(drivers)) and _segments_are(record, drivers) and _regions_are(record)


def _clients_are(record: JournalState, cards: int) -> bool:
    known = all(
        0 < one.number < _MOST_CLIENT and one.process > 0 and 0 <= one.card < cards for one in record.clients.values()
    )
    return known and all(holders.keys() <= record.clients.keys() for holders in record.holders.values())


def _segments_are(record: JournalState, drivers: Sequence[Driver]) -> bool:
    """Return whether each driver allocation is one that its card's driver gives, and all of them fit the card."""
    taken: Counter[int] = Counter()
    for (card, offset), (pool, size) in record.segments.items():
        if not (0 <= card < len(drivers) and 0 <= pool < POOLS and drivers[card].gives(offset, size)):
            return False
        taken[card] += size
    return all(size <= drivers[card].bytes for card, size in taken.items())


def _regions_are(record: JournalState) -> bool:
    """Return whether each region lies in one driver allocation, and no two have a byte in common."""
    segments = sorted((region_id(*place), size) for place, (_, size) in record.segments.items())
    free = 0
    for region, size in sorted(record.regions.items()):
        place = bisect_right(segments, region, key=lambda segment: segment[0]) - 1
        if place < 0 or size < 1 or region < free or region + size > sum(segments[place]):
            return False
        free = region + size
    return True


_A_REQUEST = 8
"""Records that one request notes at most, apart from those of what goes back, and those that undo them."""
_STEP = 1 << 16
_LEAST_BYTES = 1 << 19
_MOST_WASTE = 8
_PAUSE_S = 0.25


class Journal:
    """The journal in a file, which always has space for the records that let go of what there is.

    Raises
    ------
    InputError
        The file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as problem:
            raise InputError(f"{path}: cannot be opened ({problem.strerror}).") from None
        self._pending: list[bytes] = []
        self._bytes, self._reserved = 0, os.fstat(self._file).st_size
        self._owed = 0
        """Records to come that let go of what the journal tells now."""
        self._not_before = 0.0

    def note(self, kind: int, one: int, two: int = 0, three: int = 0, four: int = 0) -> None:
        """Remember a record until the next `write`."""
        self._pending.append(packed(kind, one, two, three, four))
        lets_go = kind in (GONE, DROP) or (kind == SEGMENT and four < 0)
        self._owed += -1 if lets_go else 1

    def has_room(self) -> bool:
        """Return whether a request that takes something may be served: for its records, and for those that undo it."""
        needed = self._bytes + (len(self._pending) + self._owed + _A_REQUEST) * RECORD.size
        if needed <= self._reserved:
            return True
        try:
            os.posix_fallocate(self._file, self._reserved, needed + _STEP - self._reserved)
        except OSError:
            return False
        self._reserved = needed + _STEP
        return True

    def write(self) -> None:
        """Write what was noted.

        Raises
        ------
        WorkbenchError
            The system does not write, although there is space.
        """
        if not self._pending:
            return
        text = b"".join(self._pending)
        if _written(self._file, text, self._bytes) < len(text):
            raise WorkbenchError(f"{self._path}: cannot be written; start the service again when it can.")
        self._bytes += len(text)
        self._pending.clear()

    def is_long(self) -> bool:
        """Return whether it is worth writing again."""
        return self._bytes > _MOST_WASTE * max(self._owed * RECORD.size, _LEAST_BYTES)

    def is_wasteful(self) -> bool:
        """Return whether it would be much shorter if it were written again."""
        return self._bytes > 2 * self._owed * RECORD.size + _STEP

    def read(self) -> JournalState:
        """Read what it tells, up to the first record that is not whole."""
        text = os.pread(self._file, os.fstat(self._file).st_size, 0)
        state = JournalState({}, {}, {}, {})
        try:
            self._bytes = read(text, state)
        except KeyError:
            raise self.contradiction() from None
        self._owed = len(state.segments) + len(state.clients) + sum(map(len, state.holders.values()))
        return state

    def contradiction(self) -> InputError:
        """Return the refusal of what it tells."""
        return InputError(f"{self._path}: contradicts itself; clear the folder with --clear.")

    def rewrite(self, state: JournalState) -> bool:
        """Begin again with what is so now, what was noted included.

        Returns
        -------
        bool
            False = there is no space for that, and the journal is as it was; for a moment it is not tried again.
        """
        if time.monotonic() < self._not_before:
            return False
        self._give_up_surplus()
        beside, text = self._path.with_name(f"{self._path.name}.new"), b"".join(records(state))
        file = _new_file(beside, text)
        if file is None:
            self._not_before = time.monotonic() + _PAUSE_S
            return False
        os.replace(beside, self._path)
        os.close(self._file)
        self._file, self._bytes, self._reserved = file, len(text), len(text)
        self._pending.clear()
        return self.has_room()

    def _give_up_surplus(self) -> None:
        """Keep space for what lets go alone: the new file may need the rest."""
        self._reserved = self._bytes + (len(self._pending) + self._owed) * RECORD.size
        os.ftruncate(self._file, self._reserved)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)


def _new_file(path: Path, text: bytes) -> int | None:
    """Make a file with this text; None = there is no space for it."""
    try:
        path.unlink(missing_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    if _written(file, text, 0) == len(text):
        return file
    os.close(file)
    path.unlink()
    return None


def _written(file: int, text: bytes, at: int) -> int:
    """Return the length of the text that was written."""
    done = 0
    try:
        while done < len(text):
            done += os.pwrite(file, text[done:], at + done)
    except OSError:
        return done
    return done


class ClientRecord(NamedTuple):
    """A client as the journal knows it."""

    number: int
    process: int
    started: int
    """When the process started, in clock ticks since boot: tells a process from a later one of the same number."""
    card: int


class JournalState(NamedTuple):
    """The clients, regions and driver allocations that a journal records."""

    segments: dict[tuple[int, int], tuple[int, int]]
    """(card, offset) -> (pool, bytes) of each driver allocation."""
    clients: dict[int, ClientRecord]
    regions: dict[int, int]
    """Bytes of the block of each region."""
    holders: dict[int, dict[int, int]]
    """The clients that hold each region, each with the serial of the request by which it got it."""


def packed(kind: int, one: int, two: int = 0, three: int = 0, four: int = 0) -> bytes:
    """Pack a record."""
    return RECORD.pack(one, two, three, four, kind)


def read(text: bytes, state: JournalState) -> int:
    """Take up the records of a text up to the first that is none; the bytes of those that were.

    Raises
    ------
    KeyError
        A record lets go of what no client has.

    >>> state = JournalState({}, {}, {}, {})
    >>> read(packed(CLIENT, 1, 2, 3, 4) + bytes(50), state), state.clients
    (40, {1: ClientRecord(number=1, process=2, started=3, card=4)})
    """
    count = 0
    for *numbers, kind in RECORD.iter_unpack(text[: len(text) - len(text) % RECORD.size]):
        if kind == NOTHING:
            break
        take_up(state, kind, *numbers)
        count += 1
    return count * RECORD.size


def take_up(state: JournalState, kind: int, one: int, two: int = 0, three: int = 0, four: int = 0) -> None:
    """Bring what a journal tells up to date with a record.

    Raises
    ------
    KeyError
        It lets go of what no client has, or there is no such kind.
    """
    if kind == SEGMENT and four > 0:
        state.segments[one, three] = (two, four)
    elif kind == SEGMENT:
        del state.segments[one, three]
    elif kind == CLIENT:
        state.clients[one] = ClientRecord(one, two, three, four)
    elif kind == GONE:
        del state.clients[one]
    elif kind == HOLD:
        state.regions[two] = three
        state.holders.setdefault(two, {})[one] = four
    elif kind == DROP:
        del state.holders[two][one]
        if not state.holders[two]:
            del state.holders[two], state.regions[two]
    else:
        raise KeyError(kind)


def records(state: JournalState) -> Iterator[bytes]:
    """Yield the fewest records that tell the same."""
    for (card, offset), (pool, size) in state.segments.items():
        yield packed(SEGMENT, card, pool, offset, size)
    for record in state.clients.values():
        yield packed(CLIENT, *record)
    for region, holders in state.holders.items():
        for client, serial in holders.items():
            yield packed(HOLD, client, region, state.regions[region], serial)
