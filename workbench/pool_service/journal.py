"""The journal: what a service must know to go on after it was killed, and the records that tell it.

Records of 40 bytes in a file, written before the reply to what they tell of. What is killed is a process, not the
machine, so what was written is there: nothing waits for a disk. The kind of a record is its last word, so one that was
cut off by the kill has none, as has the room behind it; it was never acknowledged and is left out. That room is
reserved before anything is granted: on a disk that is full all can still be given back. When the file is much longer
than what it tells, it is written anew beside itself and takes its own place.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from workbench.errors import InputError, WorkbenchError

_A_REQUEST = 8
"""Records that one request notes at most, apart from those of what goes back, and those that undo them."""
_STEP = 1 << 16
_LEAST_BYTES = 1 << 19
_MOST_WASTE = 8
_PAUSE_S = 0.25


class Journal:
    """The journal in a file, which always has room for the records that let go of what there is.

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
            The system does not write, although there is room.
        """
        if not self._pending:
            return
        text = b"".join(self._pending)
        if _written(self._file, text, self._bytes) < len(text):
            raise WorkbenchError(f"{self._path}: cannot be written; start the service again when it can.")
        self._bytes += len(text)
        self._pending.clear()

    def is_long(self) -> bool:
        """Return whether it is worth writing anew."""
        return self._bytes > _MOST_WASTE * max(self._owed * RECORD.size, _LEAST_BYTES)

    def is_wasteful(self) -> bool:
        """Return whether it would be much shorter if it were written anew."""
        return self._bytes > 2 * self._owed * RECORD.size + _STEP

    def read(self) -> Told:
        """Read what it tells, up to the first record that is not whole."""
        text = os.pread(self._file, os.fstat(self._file).st_size, 0)
        state = Told({}, {}, {}, {})
        try:
            self._bytes = read(text, state)
        except KeyError:
            raise self.contradiction() from None
        self._owed = len(state.segments) + len(state.clients) + sum(map(len, state.holders.values()))
        return state

    def contradiction(self) -> InputError:
        """Return the refusal of what it tells."""
        return InputError(f"{self._path}: contradicts itself; clear the folder with --clear.")

    def rewrite(self, state: Told) -> bool:
        """Begin anew with what is so now, what was noted included.

        Returns
        -------
        bool
            False = there is no room for that, and the journal is as it was; for a moment it is not tried again.
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
        """Keep room for what lets go alone: the new file may need the rest."""
        self._reserved = self._bytes + (len(self._pending) + self._owed) * RECORD.size
        os.ftruncate(self._file, self._reserved)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)


def _new_file(path: Path, text: bytes) -> int | None:
    """Make a file with this text; None = there is no room for it."""
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
    """Return how much of a text was written."""
    done = 0
    try:
        while done < len(text):
            done += os.pwrite(file, text[done:], at + done)
    except OSError:
        return done
    return done


RECORD = struct.Struct("<qqqqq")
SEGMENT, CLIENT, GONE, HOLD, DROP = range(1, 6)
"""SEGMENT: card, pool, offset, bytes (negative = returned); CLIENT: number, process, start of the process, card;
GONE: client; HOLD: client, region, bytes of its block, serial of the request; DROP: client, region."""
NOTHING = 0


class ClientRecord(NamedTuple):
    """A client as the journal knows it."""

    number: int
    process: int
    started: int
    """When the process started, in clock ticks since boot: tells a process from a later one of the same number."""
    card: int


class Told(NamedTuple):
    """What a journal tells."""

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


def read(text: bytes, state: Told) -> int:
    """Take up the records of a text up to the first that is none; the bytes of those that were.

    Raises
    ------
    KeyError
        A record lets go of what nobody has.

    >>> told = Told({}, {}, {}, {})
    >>> read(packed(CLIENT, 1, 2, 3, 4) + bytes(50), told), told.clients
    (40, {1: ClientRecord(number=1, process=2, started=3, card=4)})
    """
    count = 0
    for *numbers, kind in RECORD.iter_unpack(text[: len(text) - len(text) % RECORD.size]):
        if kind == NOTHING:
            break
        take_up(state, kind, *numbers)
        count += 1
    return count * RECORD.size


def take_up(state: Told, kind: int, one: int, two: int = 0, three: int = 0, four: int = 0) -> None:
    """Bring what a journal tells up to date with a record.

    Raises
    ------
    KeyError
        It lets go of what nobody has, or there is no such kind.
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


def records(state: Told) -> Iterator[bytes]:
    """Yield the fewest records that tell the same."""
    for (card, offset), (pool, size) in state.segments.items():
        yield packed(SEGMENT, card, pool, offset, size)
    for record in state.clients.values():
        yield packed(CLIENT, *record)
    for region, holders in state.holders.items():
        for client, serial in holders.items():
            yield packed(HOLD, client, region, state.regions[region], serial)
