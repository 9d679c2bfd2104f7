"""The records of the journal, and what they tell together.

Each has 40 bytes, and its kind is its last word: one that was not written whole has none.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

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
        _READERS[kind](state, *numbers)
        count += 1
    return count * RECORD.size


def lets_go(kind: int, four: int) -> bool:
    """Return whether a record ends what another began."""
    return kind in (GONE, DROP) or (kind == SEGMENT and four < 0)


def records(state: Told) -> Iterator[bytes]:
    """Yield the fewest records that tell the same."""
    for (card, offset), (pool, size) in state.segments.items():
        yield packed(SEGMENT, card, pool, offset, size)
    for record in state.clients.values():
        yield packed(CLIENT, *record)
    for region, holders in state.holders.items():
        for client, serial in holders.items():
            yield packed(HOLD, client, region, state.regions[region], serial)


def _segment(state: Told, card: int, pool: int, offset: int, size: int) -> None:
    if size > 0:
        state.segments[card, offset] = (pool, size)
    else:
        del state.segments[card, offset]


def _client(state: Told, *numbers: int) -> None:
    state.clients[numbers[0]] = ClientRecord(*numbers)


def _gone(state: Told, client: int, *_: int) -> None:
    del state.clients[client]


def _hold(state: Told, client: int, region: int, size: int, serial: int) -> None:
    state.regions[region] = size
    state.holders.setdefault(region, {})[client] = serial


def _drop(state: Told, client: int, region: int, *_: int) -> None:
    holders = state.holders[region]
    del holders[client]
    if not holders:
        del state.holders[region], state.regions[region]


_READERS: dict[int, Callable[..., None]] = {SEGMENT: _segment, CLIENT: _client, GONE: _gone, HOLD: _hold, DROP: _drop}
