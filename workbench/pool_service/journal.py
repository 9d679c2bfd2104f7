"""The journal: what a service must know to go on after it was killed.

Records of 40 bytes in a file, written before the reply to what they tell of. What is killed is a process, not the
machine, so what was written is there: nothing waits for a disk. A record that was cut off by the kill was never
acknowledged and is left out. When the file is much longer than what it tells, it is written anew beside itself and
takes its own place.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from workbench.errors import InputError

_RECORD = struct.Struct("<qqqqq")
SEGMENT, CLIENT, GONE, HOLD, DROP = range(1, 6)
"""SEGMENT: card, pool, offset, bytes (negative = returned); CLIENT: number, process, start of the process, card;
GONE: client; HOLD: client, region, bytes of its block, serial of the request; DROP: client, region."""
_LEAST_BYTES = 1 << 22
_MOST_WASTE = 8


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
    """The journal in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._pending: list[bytes] = []
        self._bytes = os.fstat(self._file).st_size
        self._bytes_of_state = _LEAST_BYTES

    def note(self, kind: int, one: int, two: int = 0, three: int = 0, four: int = 0) -> None:
        """Remember a record until the next `write`."""
        self._pending.append(_RECORD.pack(kind, one, two, three, four))

    def write(self) -> None:
        """Write what was noted."""
        if self._pending:
            self._bytes += os.write(self._file, b"".join(self._pending))
            self._pending.clear()

    def is_long(self) -> bool:
        """Whether it is worth writing anew."""
        return self._bytes > _MOST_WASTE * self._bytes_of_state

    def read(self) -> Told:
        """What it tells; a record that was cut off is taken out."""
        size = os.fstat(self._file).st_size
        whole = size - size % _RECORD.size
        os.ftruncate(self._file, whole)
        self._bytes = whole
        text = b"".join(self._pieces(whole))
        told = Told({}, {}, {}, {})
        try:
            for kind, *numbers in _RECORD.iter_unpack(text):
                _READERS[kind](told, *numbers)
        except KeyError:
            raise InputError(f"{self._path}: contradicts itself; clear the folder with --clear.") from None
        return told

    def rewrite(self, told: Told) -> None:
        """Begin anew with what is so now."""
        beside = self._path.with_name(f"{self._path.name}.new")
        text = b"".join(_records(told))
        beside.write_bytes(text)
        os.replace(beside, self._path)
        os.close(self._file)
        self._file = os.open(self._path, os.O_RDWR | os.O_APPEND)
        self._bytes = len(text)
        self._bytes_of_state = max(len(text), _LEAST_BYTES)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _pieces(self, size: int) -> Iterator[bytes]:
        at = 0
        while at < size:
            piece = os.pread(self._file, min(size - at, 1 << 24), at)
            at += len(piece)
            yield piece


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
        yield _RECORD.pack(SEGMENT, card, pool, offset, size)
    for record in told.clients.values():
        yield _RECORD.pack(CLIENT, *record)
    for region, holders in told.holders.items():
        for client, serial in holders.items():
            yield _RECORD.pack(HOLD, client, region, told.regions[region], serial)
