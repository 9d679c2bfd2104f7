"""The journal: what a service must know to go on after it was killed.

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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from workbench.errors import InputError, WorkbenchError

_RECORD = struct.Struct("<qqqqq")
SEGMENT, CLIENT, GONE, HOLD, DROP = range(1, 6)
"""SEGMENT: card, pool, offset, bytes (negative = returned); CLIENT: number, process, start of the process, card;
GONE: client; HOLD: client, region, bytes of its block, serial of the request; DROP: client, region."""
_NOTHING = 0
_A_REQUEST = 8
"""Records that one request notes at most, apart from those of what goes back, and those that undo them."""
_STEP = 1 << 16
_LEAST_BYTES = 1 << 19
_MOST_WASTE = 8
_PAUSE_S = 0.25


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
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as problem:
            raise InputError(f"{path}: cannot be opened ({problem.strerror}).") from None
        self._pending: list[bytes] = []
        self._bytes, self._reserved = 0, os.fstat(self._file).st_size
        self._owed = 0
        """Records to come that let go of what the journal tells now."""
        self._not_before = 0.0

    def note(self, kind: int, one: int, two: int = 0, three: int = 0, four: int = 0) -> None:
        """Remember a record until the next `write`."""
        self._pending.append(_RECORD.pack(one, two, three, four, kind))
        lets_go = kind in (GONE, DROP) or (kind == SEGMENT and four < 0)
        self._owed += -1 if lets_go else 1

    def has_room(self) -> bool:
        """Whether a request that takes something may be served: for its records, and for those that undo it."""
        needed = self._bytes + (len(self._pending) + self._owed + _A_REQUEST) * _RECORD.size
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
        """Whether it is worth writing anew."""
        return self._bytes > _MOST_WASTE * max(self._owed * _RECORD.size, _LEAST_BYTES)

    def is_wasteful(self) -> bool:
        """Whether it would be much shorter if it were written anew."""
        return self._bytes > 2 * self._owed * _RECORD.size + _STEP

    def read(self) -> Told:
        """What it tells, up to the first record that is not whole."""
        text = os.pread(self._file, os.fstat(self._file).st_size, 0)
        told, records = Told({}, {}, {}, {}), 0
        try:
            for *numbers, kind in _RECORD.iter_unpack(text[: len(text) - len(text) % _RECORD.size]):
                if kind == _NOTHING:
                    break
                _READERS[kind](told, *numbers)
                records += 1
        except KeyError:
            raise InputError(f"{self._path}: contradicts itself; clear the folder with --clear.") from None
        self._bytes = records * _RECORD.size
        _written(self._file, bytes(min(len(text) - self._bytes, _RECORD.size)), self._bytes)
        self._owed = len(told.segments) + len(told.clients) + sum(map(len, told.holders.values()))
        return told

    def rewrite(self, told: Told) -> bool:
        """Begin anew with what is so now, what was noted included.

        Returns
        -------
        bool
            False = there is no room for that, and the journal is as it was; for a moment it is not tried again.
        """
        if time.monotonic() < self._not_before:
            return False
        beside, text = self._path.with_name(f"{self._path.name}.new"), b"".join(_records(told))
        file = _new_file(beside, text)
        if file is None:
            self._not_before = time.monotonic() + _PAUSE_S
            return False
        os.replace(beside, self._path)
        os.close(self._file)
        self._file, self._bytes, self._reserved = file, len(text), len(text)
        self._pending.clear()
        return self.has_room()

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)


def _new_file(path: Path, text: bytes) -> int | None:
    """A file with this text; None = there is no room for it."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    if _written(file, text, 0) == len(text):
        return file
    os.close(file)
    path.unlink()
    return None


def _written(file: int, text: bytes, at: int) -> int:
    """How much of a text was written."""
    done = 0
    try:
        while done < len(text):
            done += os.pwrite(file, text[done:], at + done)
    except OSError:
        return done
    return done


def _segment(told: Told, card: int, pool: int, offset: int, size: int) -> None:
    if size > 0:
        told.segments[card, offset] = (pool, size)
    else:
        del told.segments[card, offset]


def _client(told: Told, *numbers: int) -> None:
    told.clients[numbers[0]] = ClientRecord(*numbers)


def _gone(told: Told, client: int, *_: int) -> None:
    del told.clients[client]


def _hold(told: Told, client: int, region: int, size: int, serial: int) -> None:
    told.regions[region] = size
    told.holders.setdefault(region, {})[client] = serial


def _drop(told: Told, client: int, region: int, *_: int) -> None:
    holders = told.holders[region]
    del holders[client]
    if not holders:
        del told.holders[region], told.regions[region]


_READERS: dict[int, Callable[..., None]] = {SEGMENT: _segment, CLIENT: _client, GONE: _gone, HOLD: _hold, DROP: _drop}


def _records(told: Told) -> Iterator[bytes]:
    for (card, offset), (pool, size) in told.segments.items():
        yield _RECORD.pack(card, pool, offset, size, SEGMENT)
    for record in told.clients.values():
        yield _RECORD.pack(*record, CLIENT)
    for region, holders in told.holders.items():
        for client, serial in holders.items():
            yield _RECORD.pack(client, region, told.regions[region], serial, HOLD)
